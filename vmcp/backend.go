package vmcp

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"

	"github.com/mcp-candor/candor/mcpclient/connect"
	"go.opentelemetry.io/otel/attribute"
)

// A Backend is one MCP server of a session.
type Backend struct {
	// ID is the prefix of the backend's tools and prompts and its name in
	// logs, metrics and reports: letters, digits, "-" and "_", at most 32,
	// beginning with a letter or digit.
	ID string
	// Connector reaches the server. It may serve several sessions.
	Connector *connect.Connector
	// Required makes the build fail when this backend fails.
	Required bool
}

// ErrBackends says that a list of backends cannot be built: it is empty, or a
// backend has no connector, or an ID that is invalid or not its own.
var ErrBackends = errors.New("vmcp: invalid backends")

// ValidID says whether a backend may have this ID.
func ValidID(id string) bool { return validID.MatchString(id) }

var validID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

func validate(backends []Backend) error {
	if len(backends) == 0 {
		return fmt.Errorf("%w: there is none; name at least one", ErrBackends)
	}
	seen := map[string]bool{}
	for _, backend := range backends {
		switch {
		case !ValidID(backend.ID):
			return fmt.Errorf("%w: the ID %q cannot be a prefix; use letters, digits, - and _, at most 32", ErrBackends, backend.ID)
		case seen[backend.ID]:
			return fmt.Errorf("%w: the ID %q stands twice; give each backend its own", ErrBackends, backend.ID)
		case backend.Connector == nil || backend.Connector.Target() == nil:
			return fmt.Errorf("%w: %q has no connector; make one with connect.To", ErrBackends, backend.ID)
		}
		seen[backend.ID] = true
	}
	return nil
}

// attributes say on every measurement which backend it was about. The names
// are those of the OpenTelemetry semantic conventions for MCP and our own.
func (b Backend) attributes() []attribute.KeyValue {
	which := []attribute.KeyValue{attribute.String("candor.backend.id", b.ID)}
	switch target := b.Connector.Target().(type) {
	case connect.HTTP:
		return append(which, httpAttributes(target.URL)...)
	case connect.SSE:
		return append(which, httpAttributes(target.URL)...)
	case connect.Stdio:
		return append(which, attribute.String("network.transport", "pipe"))
	default:
		return which
	}
}

func httpAttributes(raw string) []attribute.KeyValue {
	found := []attribute.KeyValue{attribute.String("network.transport", "tcp")}
	address, err := url.Parse(raw)
	if err != nil {
		return found
	}
	found = append(found, attribute.String("server.address", address.Hostname()))
	if port, err := strconv.Atoi(address.Port()); err == nil {
		found = append(found, attribute.Int("server.port", port))
	}
	return found
}
