package middleware_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/require"
)

// legacy and modern are a protocol version of each era.
const (
	legacy = "2025-06-18"
	modern = "2026-07-28"
)

// server is a transport.Interface that answers from a script. It is safe for
// concurrent use.
type server struct {
	capabilities string // the JSON object of the handshake
	// answers are found by method, or by method and cursor ("tools/list 2"):
	// a string is the result in JSON, a fault a JSON-RPC error, an error the
	// transport's, hang waits for the end of the context.
	answers map[string]any

	mu   sync.Mutex
	sent []string
	note func(string) // told of each request, if there is one
}

type (
	fault struct {
		code    int
		message string
	}
	hang struct{}
)

var unknownMethod = fault{-32601, "Unknown method"}

func (s *server) Start(context.Context) error                                               { return nil }
func (s *server) SendNotification(context.Context, mcp.JSONRPCNotification) error           { return nil }
func (s *server) SetNotificationHandler(handler func(notification mcp.JSONRPCNotification)) {}
func (s *server) Close() error                                                              { return nil }
func (s *server) GetSessionId() string                                                      { return "" }

func (s *server) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	key := request.Method
	if cursor := cursorOf(request.Params); cursor != "" {
		key += " " + cursor
	}
	s.mu.Lock()
	s.sent = append(s.sent, key)
	s.mu.Unlock()
	if s.note != nil {
		s.note(key)
	}
	response := &transport.JSONRPCResponse{JSONRPC: "2.0", ID: request.ID}
	switch answer := s.answer(key).(type) {
	case string:
		response.Result = json.RawMessage(answer)
	case fault:
		response.Error = &mcp.JSONRPCErrorDetails{Code: answer.code, Message: answer.message}
	case hang:
		<-ctx.Done()
		return nil, ctx.Err()
	case error:
		return nil, answer
	default:
		return nil, fmt.Errorf("the script has no %q", key)
	}
	return response, nil
}

func (s *server) answer(key string) any {
	switch key {
	case "initialize":
		return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"acme","version":"1.2.3"}}`, legacy, s.capabilities)
	case "server/discover":
		return fmt.Sprintf(`{"supportedVersions":[%q],"capabilities":%s,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"acme","version":"1.2.3"}}}`, modern, s.capabilities)
	default:
		return s.answers[key]
	}
}

func cursorOf(params any) string {
	encoded, err := json.Marshal(params)
	if err != nil {
		return ""
	}
	var page struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(encoded, &page)
	return page.Cursor
}

// requests are the requests since the last time that somebody looked.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := slices.Clone(s.sent)
	s.sent = nil
	return sent
}

// direct is mcp-go's own client of the server, initialised.
func (s *server) direct(t testing.TB, era string) *client.Client {
	t.Helper()
	c := client.NewClient(s, client.WithProtocolVersion(era))
	require.NoError(t, c.Start(t.Context()))
	said, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	require.Equal(t, era, said.ProtocolVersion)
	s.requests()
	return c
}

// connect is a client of the server, initialised through the middlewares.
func (s *server) connect(t testing.TB, era string, middlewares ...mcpclient.Middleware) *mcpclient.Client {
	t.Helper()
	inner := client.NewClient(s, client.WithProtocolVersion(era))
	require.NoError(t, inner.Start(t.Context()))
	c := mcpclient.Wrap(inner, middlewares...)
	_, err := c.Initialize(t.Context(), mcp.InitializeRequest{})
	require.NoError(t, err)
	s.requests()
	return c
}

// list is one of the protocol's lists: how to ask for it and who answers.
type list struct {
	method, capability, member string

	whole, page func(ctx context.Context, c client.MCPClient) (names, error)
}

// names are those of a list's entries; nil means that there is no list.
type names []string

func namesOf[Item any](items []Item, name func(Item) string) names {
	if items == nil {
		return nil
	}
	all := names{}
	for _, item := range items {
		all = append(all, name(item))
	}
	return all
}

// entries turns a list method into one that returns names.
func entries[Req, Res any](ask func(client.MCPClient, context.Context, Req) (*Res, error), of func(*Res) names) func(context.Context, client.MCPClient) (names, error) {
	return func(ctx context.Context, c client.MCPClient) (names, error) {
		var request Req
		result, err := ask(c, ctx, request)
		if err != nil {
			return nil, err
		}
		return of(result), nil
	}
}

func ofTools(r *mcp.ListToolsResult) names {
	return namesOf(r.Tools, func(item mcp.Tool) string { return item.Name })
}

func ofResources(r *mcp.ListResourcesResult) names {
	return namesOf(r.Resources, func(item mcp.Resource) string { return item.Name })
}

func ofTemplates(r *mcp.ListResourceTemplatesResult) names {
	return namesOf(r.ResourceTemplates, func(item mcp.ResourceTemplate) string { return item.Name })
}

func ofPrompts(r *mcp.ListPromptsResult) names {
	return namesOf(r.Prompts, func(item mcp.Prompt) string { return item.Name })
}

var (
	tools = list{
		"tools/list", "tools", "tools",
		entries(client.MCPClient.ListTools, ofTools), entries(client.MCPClient.ListToolsByPage, ofTools),
	}
	resources = list{
		"resources/list", "resources", "resources",
		entries(client.MCPClient.ListResources, ofResources), entries(client.MCPClient.ListResourcesByPage, ofResources),
	}
	templates = list{
		"resources/templates/list", "resources", "resourceTemplates",
		entries(client.MCPClient.ListResourceTemplates, ofTemplates), entries(client.MCPClient.ListResourceTemplatesByPage, ofTemplates),
	}
	prompts = list{
		"prompts/list", "prompts", "prompts",
		entries(client.MCPClient.ListPrompts, ofPrompts), entries(client.MCPClient.ListPromptsByPage, ofPrompts),
	}
	lists = []list{tools, resources, templates, prompts}
)

// of writes a page of the list in JSON.
func (l list) of(next string, entries ...string) string {
	items := make([]map[string]any, 0, len(entries))
	for _, name := range entries {
		items = append(items, map[string]any{"name": name, "uri": "file:///" + name, "uriTemplate": "file:///{" + name + "}", "inputSchema": map[string]any{"type": "object"}})
	}
	page := map[string]any{l.member: items}
	if next != "" {
		page["nextCursor"] = next
	}
	encoded, err := json.Marshal(page)
	if err != nil {
		panic(err) // a page of strings
	}
	return string(encoded)
}

// both are the two ways to ask for a list.
func (l list) both() map[string]func(context.Context, client.MCPClient) (names, error) {
	return map[string]func(context.Context, client.MCPClient) (names, error){"whole": l.whole, "page": l.page}
}

// promising is a server that advertises everything and answers this list so.
func (l list) promising(answer any) *server {
	return &server{
		capabilities: `{"tools":{},"resources":{},"prompts":{},"completions":{},"logging":{}}`,
		answers:      map[string]any{l.method: answer, "tools/call": `{"content":[]}`},
	}
}

var errBroken = errors.New("the pipe is broken")

// inEachEra runs a test with a protocol version of each era.
func inEachEra(t *testing.T, test func(t *testing.T, era string)) {
	t.Helper()
	for _, era := range []string{legacy, modern} {
		t.Run(strings.ReplaceAll(era, "-", ""), func(t *testing.T) {
			t.Parallel()
			test(t, era)
		})
	}
}
