package vmcp

import (
	"fmt"
	"net/textproto"
	"regexp"
)

// ValidForwardHeader says why a header cannot travel from a caller to a
// backend, and nil if it can: it is no header's name, or it belongs to the
// connection between the two that it comes over, as Host, Content-Length and
// Mcp-Session-Id do.
func ValidForwardHeader(name string) error {
	key := textproto.CanonicalMIMEHeaderKey(name)
	switch {
	case !headerName.MatchString(name):
		return fmt.Errorf("%q is not the name of a header; use one such as X-Tenant", name)
	case hopHeaders[key] || hopPrefix.MatchString(key):
		return fmt.Errorf("the header %s belongs to one connection and cannot be forwarded; leave it out", key)
	default:
		return nil
	}
}

// HeaderNamePattern matches what can be the name of a header: a token as RFC 9110
// has it.
const HeaderNamePattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

var headerName = regexp.MustCompile(HeaderNamePattern)

// hopHeaders are about one connection, or one message on it.
var hopHeaders = map[string]bool{
	"Connection": true, "Host": true, "Keep-Alive": true, "Last-Event-Id": true, "Origin": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

var hopPrefix = regexp.MustCompile(`^(Accept|Content-|Mcp-|Proxy-|Sec-)`)
