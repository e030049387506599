package badserver

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// Result answers with v as the JSON-RPC result. It panics when v cannot be
// marshaled, which is an error in the program that writes the script.
func Result(v any) Answer {
	return Answer{Result: marshal(v)}
}

// Fail answers with a JSON-RPC error, over HTTP with status 200 unless
// [Answer.WithStatus] says otherwise.
func Fail(code int, message string) Answer {
	return Answer{Error: &Error{Code: code, Message: message}}
}

// Plain answers as a proxy or a login wall does: an HTTP status and a text
// that is no JSON-RPC message. Transports without a status only get the text.
func Plain(status int, text string) Answer {
	return Answer{Status: status, Body: &text, ContentType: "text/plain; charset=utf-8"}
}

// Unsupported refuses protocol version 2026-07-28 as a server of an older one
// does: error -32022 with the older versions as data, HTTP status 400.
func Unsupported() Answer {
	refusal := mcp.UnsupportedProtocolVersionError{
		Version:   mcp.ProtocolVersion20260728,
		Supported: mcp.LegacyProtocolVersions(),
	}.JSONRPCError().Error
	answer := Fail(refusal.Code, refusal.Message).WithStatus(400)
	answer.Error.Data = marshal(refusal.Data)
	return answer
}

// Tools answers tools/list with one complete page of tools that take any
// object. Calling one of them needs an answer to tools/call.
func Tools(names ...string) Answer {
	return list("tools", names, func(name string) any {
		return map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}}
	})
}

// Resources answers resources/list with one complete page; the name of each
// resource is its URI.
func Resources(uris ...string) Answer {
	return list("resources", uris, func(uri string) any {
		return map[string]any{"uri": uri, "name": uri}
	})
}

// ResourceTemplates answers resources/templates/list with one complete page;
// the name of each template is its URI template.
func ResourceTemplates(uriTemplates ...string) Answer {
	return list("resourceTemplates", uriTemplates, func(uriTemplate string) any {
		return map[string]any{"uriTemplate": uriTemplate, "name": uriTemplate}
	})
}

// Prompts answers prompts/list with one complete page of prompts without
// arguments.
func Prompts(names ...string) Answer {
	return list("prompts", names, func(name string) any {
		return map[string]any{"name": name}
	})
}

// Once returns a copy of the answer that is given a single time.
func (a Answer) Once() Answer {
	a.Times = 1
	return a
}

// AtCursor returns a copy of the answer for one page only, "" being the first.
func (a Answer) AtCursor(cursor string) Answer {
	a.Cursor = &cursor
	return a
}

// WithNext returns a copy of the answer whose result promises another page at
// cursor. It panics when the result is no object, which is an error in the
// program that writes the script.
func (a Answer) WithNext(cursor string) Answer {
	var result map[string]json.RawMessage
	if err := json.Unmarshal(a.Result, &result); err != nil || result == nil {
		panic(fmt.Sprintf("badserver: nextCursor needs an object as result, not %q", a.Result))
	}
	result["nextCursor"] = marshal(cursor)
	a.Result = marshal(result)
	return a
}

// WithStatus returns a copy of the answer with this HTTP status.
func (a Answer) WithStatus(status int) Answer {
	a.Status = status
	return a
}

func list(member string, names []string, entry func(string) any) Answer {
	entries := make([]any, 0, len(names)) // never nil: that would be null on the wire
	for _, name := range names {
		entries = append(entries, entry(name))
	}
	return Result(map[string]any{member: entries})
}

func marshal(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("badserver: %v", err))
	}
	return data
}
