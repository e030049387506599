package config

import (
	"net/http"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/tailscale/hujson"
)

func forwardable(name string) fault {
	switch {
	case !headerName.MatchString(name):
		return fault{"not a name that a header can have", `Write the name of a header only, such as "X-Request-Id".`}
	case vmcp.ValidForwardHeader(name) != nil:
		return fault{"a header that belongs to one connection and cannot travel on", "Remove it."}
	}
	return fault{}
}

// checkForwarded finds headers that could be sent twice, and those that nobody could send.
func (r *reader) checkForwarded(e entry, s *Server) {
	var headers map[string]string
	switch target := s.Target.(type) {
	case connect.HTTP:
		headers = target.Headers
	case connect.SSE:
		headers = target.Headers
	default:
		r.problem(e, `only a server with a "url" has "forwardHeaders"`, "Remove it.")
		return
	}
	taken := map[string]bool{}
	for name := range headers {
		taken[http.CanonicalHeaderKey(name)] = true
	}
	array, _ := e.value.Value.(*hujson.Array)
	for i := 0; array != nil && i < len(array.Elements); i++ {
		at := e.element(i, array.Elements[i])
		name := http.CanonicalHeaderKey(at.text())
		if taken[name] {
			r.problem(at, `the same header as another here or in "headers"`, "Keep one of the two.")
		}
		taken[name] = true
	}
}
