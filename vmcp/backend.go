package vmcp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"go.opentelemetry.io/otel/attribute"
)

// A Backend is one MCP server of a session.
type Backend struct {
	// ID is the prefix of the backend's tools and prompts, unless Prefix is
	// set, and its name in logs, metrics and reports: letters, digits, "-" and "_", at most 32,
	// beginning with a letter or digit.
	ID string
	// Connector reaches the server. It may serve several sessions.
	Connector *connect.Connector
	// Required makes the build fail when this backend fails, and wait for it
	// past the soft deadline.
	Required bool
	// Prefix stands in names where ID would, and is made of the same
	// characters; "" means ID. Two backends may have the same one.
	Prefix string
	// Tools selects and renames tools.
	Tools ToolSelection
	// Tolerance says what is not forgiven of this server.
	Tolerance Tolerance
	// ForwardHeaders name the HTTP headers of a call's [Peer] that travel on
	// to this backend, whatever the case of their letters; none by default.
	// The headers that its connector sets win.
	ForwardHeaders []string
	// Timeout is how long the handshake and the lists together may take;
	// [Builder.Timeout] if it is zero.
	Timeout time.Duration
	// CallTimeout bounds a call whose context has no deadline;
	// [Builder.CallTimeout] if it is zero.
	CallTimeout time.Duration
	// Retry says when the backend is tried again after it failed.
	Retry Retry
	// Breaker says when a backend that does not answer counts as failed.
	Breaker Breaker
}

// ErrBackends says that a list of backends cannot be built: it is empty, or a
// backend has no connector, or an ID that is invalid or not its own, or a
// setting that cannot be used.
var ErrBackends = errors.New("vmcp: invalid backends")

// ValidID says whether a backend may have this ID.
func ValidID(id string) bool { return validID.MatchString(id) }

var validID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

// Validate says whether a session can be built of these backends: the error is
// that of [Builder.Build], [ErrBackends].
func Validate(backends []Backend) error { return validate(backends) }

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
		if err := backend.validSettings(); err != nil {
			return fmt.Errorf("%w: %q: %w", ErrBackends, backend.ID, err)
		}
		seen[backend.ID] = true
	}
	return nil
}

func (b Backend) validSettings() error {
	if b.Prefix != "" && !ValidID(b.Prefix) {
		return fmt.Errorf("the prefix %q cannot be one; use letters, digits, - and _, at most 32", b.Prefix)
	}
	if err := b.Tools.Validate(); err != nil {
		return err
	}
	for _, name := range b.ForwardHeaders {
		if err := ValidForwardHeader(name); err != nil {
			return err
		}
	}
	return nil
}

// clone returns a backend that does not change with what the caller still has.
func (b Backend) clone() Backend {
	b.Tools.Include, b.Tools.Exclude, b.Tools.Rename = slices.Clone(b.Tools.Include), slices.Clone(b.Tools.Exclude), maps.Clone(b.Tools.Rename)
	b.ForwardHeaders = slices.Clone(b.ForwardHeaders)
	return b
}

// prefix is what the backend's names begin with.
func (b Backend) prefix() string { return cmp.Or(b.Prefix, b.ID) }

// attributes say on every measurement which backend it was about. The names
// are those of the OpenTelemetry semantic conventions for MCP and our own.
func (b Backend) attributes() []attribute.KeyValue {
	which := []attribute.KeyValue{attribute.String(instrument.AttributeBackendID, b.ID)}
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
