package connect_test

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
)

const (
	modern = mcp.ProtocolVersion20260728
	legacy = mcp.ProtocolVersion20251125
)

var onlyTools = json.RawMessage(`{"tools":{}}`)

// honest is a server with one tool.
func honest(protocol string) badserver.Script {
	return badserver.Script{
		Protocol:     protocol,
		Session:      true,
		Capabilities: onlyTools,
		Answers:      map[string][]badserver.Answer{"tools/list": {badserver.Tools("search")}},
	}
}

// with returns a copy of the script in which a method has other answers.
func with(script badserver.Script, method string, answers ...badserver.Answer) badserver.Script {
	changed := map[string][]badserver.Answer{method: answers}
	for other, kept := range script.Answers {
		if other != method {
			changed[other] = kept
		}
	}
	script.Answers = changed
	return script
}

// impatient exits on a first message that is not initialize.
func impatient() badserver.Script {
	return with(honest(legacy), "server/discover", badserver.Answer{Exit: true})
}

// mute never answers a method that it does not know.
func mute() badserver.Script {
	return with(honest(legacy), "server/discover", badserver.Answer{Hang: true})
}

// muddled never answers anything on a connection that began with a method it
// does not know; that is its first one.
func muddled() badserver.Script {
	return with(mute(), "initialize", badserver.Answer{Hang: true}.Once(), badserver.Answer{})
}

// fickle agrees to protocol 2026-07-28 and then refuses every request in it.
func fickle() badserver.Script {
	refusal := badserver.Unsupported()
	refusal.Protocol = modern
	script := with(honest(legacy), "server/discover", badserver.Result(map[string]any{
		"resultType":        "complete",
		"supportedVersions": []string{modern},
		"capabilities":      onlyTools,
		"ttlMs":             0,
		"cacheScope":        "private",
	}))
	script.Session = false // a request of 2026-07-28 has none
	return with(script, "tools/list", refusal, badserver.Tools("search"))
}

// asked returns the methods of the messages that the server received.
func asked(s *badserver.Server) []string {
	var methods []string
	for _, request := range s.Requests() {
		methods = append(methods, request.Method)
	}
	return methods
}

func callOf(tool string) mcp.CallToolRequest {
	return mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool}}
}
