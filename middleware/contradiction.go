package middleware

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// ErrMalformedList is [mcpclient.ErrMalformedList].
var ErrMalformedList = mcpclient.ErrMalformedList

// A Contradiction is one promise of a server's handshake that it broke.
type Contradiction struct {
	Event      string        `json:"event"`          // events.Contradiction or events.MalformedList
	Capability string        `json:"capability"`     // "tools", "resources", "prompts", "completions" or "logging"
	Method     mcp.MCPMethod `json:"method"`         // such as "resources/list"
	Code       int           `json:"code,omitempty"` // JSON-RPC, -32601; 0 for a malformed list
	Message    string        `json:"message"`        // the server's own words

	ServerName      string `json:"serverName,omitempty"` // empty if not known, as the rest
	ServerVersion   string `json:"serverVersion,omitempty"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}

func contradictionOf(call mcpclient.Call, err error, mask func(string) string) Contradiction {
	method, _ := capability.Of(call.Method)
	code, _ := failure.Code(err)
	c := Contradiction{Event: events.Contradiction, Capability: method.Of.Name, Method: call.Method, Code: code, Message: mask(failure.Of(err).ServerWords())}
	if errors.Is(err, ErrMalformedList) {
		c.Event, c.Code, c.Message = events.MalformedList, 0, ErrMalformedList.Error()
	}
	if server, ok := call.Server(); ok {
		c.ServerName, c.ServerVersion, c.ProtocolVersion = server.ServerInfo.Name, server.ServerInfo.Version, server.ProtocolVersion
	}
	return c
}

func (c Contradiction) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String(events.KeyEvent, c.Event),
		slog.String(events.KeyCapability, c.Capability),
		slog.String(events.KeyMethod, string(c.Method)),
		slog.Int(events.KeyCode, c.Code),
		slog.String(events.KeyServerMessage, c.Message),
		slog.String(events.KeyServerName, c.ServerName),
		slog.String(events.KeyServerVersion, c.ServerVersion),
		slog.String(events.KeyProtocolVersion, c.ProtocolVersion),
	}
}

// Answer is what came back, in words.
func (c Contradiction) Answer() string {
	if c.Event == events.MalformedList {
		return "a result without a list"
	}
	return fmt.Sprintf("%d %q", c.Code, c.Message)
}

// String says what the server promised and what it did, in one clause. What it
// promised is known of a missing method only.
func (c Contradiction) String() string {
	if c.Event == events.MalformedList {
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
