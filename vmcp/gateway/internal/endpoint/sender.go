package endpoint

import (
	"cmp"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// senderOf returns who sent a message.
func (e *Endpoint) senderOf(m *message, r *http.Request) (sender, error) {
	meta, err := metaOf(m.Params)
	if err != nil {
		return sender{}, err
	}
	identity, said, declared := identityOf(r.Context()), r.Header.Get(mcp.HeaderProtocolVersion), meta.ProtocolVersion()
	switch {
	case mcp.IsModernProtocol(said) || mcp.IsModernProtocol(declared):
		client, err := modernOverHTTP(identity, m, meta, r.Header)
		return sender{client: client, meta: meta}, err
	case m.Method == string(mcp.MethodInitialize) && m.shape() == request:
		return sender{e.open(identity), meta, true}, nil
	case isUnsupported(said) || isUnsupported(declared):
		return sender{}, unsupported(cmp.Or(said, declared))
	default:
		client, err := e.sessionOf(r)
		return sender{client: client, meta: meta}, err
	}
}

// modernOverHTTP returns the client of one message of protocol 2026-07-28.
// Which headers a notification has it does not say.
func modernOverHTTP(identity string, m *message, meta *mcp.Meta, header http.Header) (*Client, error) {
	switch m.shape() {
	case request:
		if err := agrees(m, meta.ProtocolVersion(), header); err != nil {
			return nil, err
		}
		return modern(identity, meta)
	case notification:
		version := cmp.Or(meta.ProtocolVersion(), header.Get(mcp.HeaderProtocolVersion))
		if isUnsupported(version) {
			return nil, unsupported(version)
		}
		client := newClient("", identity, nil)
		client.introduce(version, mcp.Implementation{}, mcp.ClientCapabilities{})
		return client, nil
	default:
		return nil, &Failure{Code: mcp.INVALID_REQUEST, Message: "on this protocol a client is asked nothing that it could answer so"}
	}
}

// sessionOf returns the session that a message belongs to.
func (e *Endpoint) sessionOf(r *http.Request) (*Client, error) {
	id := r.Header.Get(SessionHeader)
	if id == "" {
		return nil, &Failure{Code: mcp.INVALID_REQUEST, Message: "the header " + SessionHeader + " is missing; connect with initialize first"}
	}
	client, ok := e.find(id, identityOf(r.Context()))
	if !ok {
		return nil, errGone
	}
	return client, nil
}
