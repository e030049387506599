package middleware

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// ErrMalformedList is [mcpclient.ErrMalformedList].
var ErrMalformedList = mcpclient.ErrMalformedList

// A Contradiction is one promise of a server's handshake that it broke.
type Contradiction struct {
	Event      string        `json:"event"`          // EventContradiction or EventMalformedList
	Capability string        `json:"capability"`     // "tools", "resources", "prompts", "completions" or "logging"
	Method     mcp.MCPMethod `json:"method"`         // such as "resources/list"
	Code       int           `json:"code,omitempty"` // JSON-RPC, -32601; 0 for a malformed list
	Message    string        `json:"message"`        // the server's own words

	ServerName      string `json:"serverName,omitempty"` // empty if not known, as the rest
	ServerVersion   string `json:"serverVersion,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}

func (o *options) contradiction(call mcpclient.Call, capability string, err error) Contradiction {
	c := Contradiction{Event: EventContradiction, Capability: capability, Method: call.Method, Code: mcp.METHOD_NOT_FOUND, Message: o.mask(serverMessage(err))}
	if errors.Is(err, ErrMalformedList) {
		c.Event, c.Code, c.Message = EventMalformedList, 0, ErrMalformedList.Error()
	}
	if server, ok := call.Server(); ok {
		c.ServerName, c.ServerVersion, c.ProtocolVersion = server.ServerInfo.Name, server.ServerInfo.Version, server.ProtocolVersion
	}
	return c
}

// serverMessage takes away what mcp-go puts before the server's own words.
func serverMessage(err error) string {
	return strings.TrimPrefix(err.Error(), mcp.ErrMethodNotFound.Error()+": ")
}

func (c Contradiction) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String(KeyEvent, c.Event),
		slog.String(KeyCapability, c.Capability),
		slog.String(KeyMethod, string(c.Method)),
		slog.Int(KeyCode, c.Code),
		slog.String(KeyServerMessage, c.Message),
		slog.String(KeyServerName, c.ServerName),
		slog.String(KeyServerVersion, c.ServerVersion),
		slog.String(KeyProtocolVersion, c.ProtocolVersion),
	}
}

// Answer is what came back, in words.
func (c Contradiction) Answer() string {
	if c.Event == EventMalformedList {
		return "a result without a list"
	}
	return fmt.Sprintf("%d %q", c.Code, c.Message)
}

// String says what the server promised and what it did, in one clause. What it
// promised is known of a missing method only.
func (c Contradiction) String() string {
	if c.Event == EventMalformedList {
		return fmt.Sprintf("answers %s with %s", c.Method, c.Answer())
	}
	return fmt.Sprintf("advertises %s, but answers %s with %s", c.Capability, c.Method, c.Answer())
}

// A ContradictionError is a contradiction that is not forgiven. Test for it
// with [errors.As]; it wraps what the server answered, so that
// errors.Is(err, [mcp.ErrMethodNotFound]) or errors.Is(err,
// [ErrMalformedList]) holds as well.
type ContradictionError struct {
	Contradiction
	Err error
}

// Error says what the server promised and what it did.
func (e *ContradictionError) Error() string {
	return "the server " + e.String()
}

// Unwrap returns the server's answer.
func (e *ContradictionError) Unwrap() error { return e.Err }
