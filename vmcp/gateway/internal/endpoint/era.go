package endpoint

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// metaOf returns the _meta of parameters; nil if there is none.
func metaOf(params json.RawMessage) (*mcp.Meta, error) {
	var wrapper struct {
		Meta *mcp.Meta `json:"_meta"`
	}
	if err := decode(params, &wrapper); err != nil {
		return nil, err
	}
	return wrapper.Meta, nil
}

// introduce takes down from an initialize who the client is, and settles the
// protocol version.
func (r *Request) introduce() error {
	var params mcp.InitializeParams
	if err := r.Decode(&params); err != nil {
		return err
	}
	r.Client.introduce(mcp.NegotiateLegacyVersion(params.ProtocolVersion), params.ClientInfo, params.Capabilities)
	return nil
}

// modern returns the client that a request of protocol 2026-07-28 introduces,
// or why it must be refused: on that protocol each request says its version,
// who asks and what it can be asked
// (https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta).
func modern(identity string, meta *mcp.Meta) (*Client, error) {
	version := meta.ProtocolVersion()
	if isUnsupported(version) {
		return nil, unsupported(version)
	}
	capabilities := meta.ClientCapabilities()
	if capabilities == nil {
		return nil, fmt.Errorf("%w: missing or invalid _meta field %s", mcp.ErrInvalidParams, mcp.MetaKeyClientCapabilities)
	}
	client := newClient("", identity, nil)
	info := mcp.Implementation{}
	if said := meta.ClientInfo(); said != nil {
		info = *said
	}
	client.introduce(version, info, *capabilities)
	client.level = meta.LogLevel()
	return client, nil
}

// isUnsupported says whether a version was said that nobody here speaks.
func isUnsupported(version string) bool { return version != "" && !mcp.IsValidProtocolVersion(version) }

func unsupported(version string) error {
	return mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}
}

// agrees compares the headers of a request with what it says itself: on protocol
// 2026-07-28 it says some of it twice
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation).
func agrees(m *message, version string, header http.Header) error {
	said := header.Get(mcp.HeaderProtocolVersion)
	switch {
	case said == "":
		return mcp.HeaderMismatchError{Header: mcp.HeaderProtocolVersion, Reason: "it is required beside " + mcp.MetaKeyProtocolVersion}
	case version == "":
		return fmt.Errorf("%w: missing or invalid _meta field %s", mcp.ErrInvalidParams, mcp.MetaKeyProtocolVersion)
	case said != version:
		return mcp.HeaderMismatchError{Header: mcp.HeaderProtocolVersion, Reason: fmt.Sprintf("%q does not match %s %q", said, mcp.MetaKeyProtocolVersion, version)}
	case isUnsupported(version):
		return unsupported(version)
	}
	return mcp.ValidateStandardHeaders(header.Get, version, mcp.MCPMethod(m.Method), m.Params)
}

// InEra gives an error the code of the client's protocol: on 2026-07-28 there is
// none of its own for a resource that is not found. The endpoint does so with
// what a handler returns; one that measures its errors does so before.
func (c *Client) InEra(err error) error {
	if err == nil || !c.Modern() {
		return err
	}
	details := detailsOf(err)
	if details.Code != mcp.RESOURCE_NOT_FOUND {
		return err
	}
	return &Failure{Code: mcp.INVALID_PARAMS, Message: err.Error(), Data: details.Data}
}

// decorate adds what protocol 2026-07-28 demands of each result, and who the
// server is.
func decorate(result any, method mcp.MCPMethod, server mcp.Implementation) {
	described, ok := result.(mcp.ResultMetadata)
	if !ok {
		return
	}
	if described.GetResultType() == "" {
		described.SetResultType(mcp.ResultTypeComplete)
	}
	if meta := described.EnsureResultMeta(); meta != nil && meta.ServerInfo() == nil {
		meta.SetServerInfo(server)
	}
	cached, ok := result.(interface {
		mcp.CacheHintSetter
		TTL() (int64, bool)
	})
	if !ok || !isCacheable(method) {
		return
	}
	if _, set := cached.TTL(); !set {
		cached.SetCacheHints(0, mcp.CacheScopePrivate)
	}
}

func isCacheable(method mcp.MCPMethod) bool {
	switch method {
	case mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList,
		mcp.MethodResourcesRead, mcp.MethodServerDiscover:
		return true
	default:
		return false
	}
}

// statusOf is the HTTP status that an answer has: on protocol 2026-07-28 it tells
// of errors.
func statusOf(code int, client *Client) int {
	if !client.Modern() {
		return http.StatusOK
	}
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}
