package badserver

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// builtin holds the results that the server gives unasked: the handshake of
// its era, and ping in the legacy one.
func (s Script) builtin() map[string]json.RawMessage {
	if mcp.IsModernProtocol(s.Protocol) {
		return map[string]json.RawMessage{string(mcp.MethodServerDiscover): s.discoverResult()}
	}
	return map[string]json.RawMessage{
		string(mcp.MethodInitialize): s.initializeResult(),
		string(mcp.MethodPing):       json.RawMessage("{}"),
	}
}

func (s Script) initializeResult() json.RawMessage {
	return object(
		member{"protocolVersion", marshal(s.Protocol)},
		member{"capabilities", s.Capabilities},
		member{"serverInfo", s.info()},
		member{"instructions", s.instructions()},
	)
}

// discoverResult has the cache hints too, which 2026-07-28 requires.
func (s Script) discoverResult() json.RawMessage {
	return object(
		member{"resultType", marshal(mcp.ResultTypeComplete)},
		member{"supportedVersions", marshal([]string{s.Protocol})},
		member{"capabilities", s.Capabilities},
		member{"instructions", s.instructions()},
		member{"ttlMs", json.RawMessage("0")},
		member{"cacheScope", marshal(mcp.CacheScopePrivate)},
		member{"_meta", object(member{mcp.MetaKeyServerInfo, s.info()})},
	)
}

func (s Script) info() json.RawMessage {
	return object(member{"name", marshal(s.Name)}, member{"version", marshal(s.Version)})
}

func (s Script) instructions() json.RawMessage {
	if s.Instructions == "" {
		return nil
	}
	return marshal(s.Instructions)
}

// withDefaults fills in what the script leaves open.
func (s Script) withDefaults() Script {
	if s.Protocol == "" {
		s.Protocol = mcp.ProtocolVersion20250618
	}
	if s.Name == "" {
		s.Name = "badserver"
	}
	if s.Version == "" {
		s.Version = "0"
	}
	if len(s.Capabilities) == 0 {
		s.Capabilities = json.RawMessage("{}")
	}
	return s
}
