package mcpclient_test

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// received is one call as it reached the end of the chain.
type received struct {
	Op      string
	Request any // by value, nil where the method takes none
}

// fake is a client.MCPClient that records each call and answers it with a new
// empty result, or with what answer returns. It is safe for concurrent use if
// answer is.
type fake struct {
	answer func(ctx context.Context, op string, request any) (any, error)

	mu       sync.Mutex
	received []received
}

var _ client.MCPClient = (*fake)(nil)

func (f *fake) calls() []received {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]received(nil), f.received...)
}

func (f *fake) take(ctx context.Context, op string, request any) (any, error) {
	f.mu.Lock()
	f.received = append(f.received, received{op, request})
	f.mu.Unlock()
	if f.answer == nil {
		return nil, nil
	}
	return f.answer(ctx, op, request)
}

// query gives the answer as the fake got it: a nil one stays nil.
func query[Res any](ctx context.Context, f *fake, op string, request any) (*Res, error) {
	result, err := f.take(ctx, op, request)
	if f.answer == nil {
		return new(Res), nil
	}
	typed, _ := result.(*Res)
	return typed, err
}

func command(ctx context.Context, f *fake, op string, request any) error {
	_, err := f.take(ctx, op, request)
	return err
}

func (f *fake) Initialize(ctx context.Context, r mcp.InitializeRequest) (*mcp.InitializeResult, error) {
	return query[mcp.InitializeResult](ctx, f, "Initialize", r)
}

func (f *fake) Ping(ctx context.Context) error { return command(ctx, f, "Ping", nil) }

func (f *fake) ListResourcesByPage(ctx context.Context, r mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	return query[mcp.ListResourcesResult](ctx, f, "ListResourcesByPage", r)
}

func (f *fake) ListResources(ctx context.Context, r mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	return query[mcp.ListResourcesResult](ctx, f, "ListResources", r)
}

func (f *fake) ListResourceTemplatesByPage(ctx context.Context, r mcp.ListResourceTemplatesRequest) (*mcp.ListResourceTemplatesResult, error) {
	return query[mcp.ListResourceTemplatesResult](ctx, f, "ListResourceTemplatesByPage", r)
}

func (f *fake) ListResourceTemplates(ctx context.Context, r mcp.ListResourceTemplatesRequest) (*mcp.ListResourceTemplatesResult, error) {
	return query[mcp.ListResourceTemplatesResult](ctx, f, "ListResourceTemplates", r)
}

func (f *fake) ReadResource(ctx context.Context, r mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return query[mcp.ReadResourceResult](ctx, f, "ReadResource", r)
}

func (f *fake) Subscribe(ctx context.Context, r mcp.SubscribeRequest) error {
	return command(ctx, f, "Subscribe", r)
}

func (f *fake) Unsubscribe(ctx context.Context, r mcp.UnsubscribeRequest) error {
	return command(ctx, f, "Unsubscribe", r)
}

func (f *fake) ListPromptsByPage(ctx context.Context, r mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	return query[mcp.ListPromptsResult](ctx, f, "ListPromptsByPage", r)
}

func (f *fake) ListPrompts(ctx context.Context, r mcp.ListPromptsRequest) (*mcp.ListPromptsResult, error) {
	return query[mcp.ListPromptsResult](ctx, f, "ListPrompts", r)
}

func (f *fake) GetPrompt(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return query[mcp.GetPromptResult](ctx, f, "GetPrompt", r)
}

func (f *fake) ListToolsByPage(ctx context.Context, r mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	return query[mcp.ListToolsResult](ctx, f, "ListToolsByPage", r)
}

func (f *fake) ListTools(ctx context.Context, r mcp.ListToolsRequest) (*mcp.ListToolsResult, error) {
	return query[mcp.ListToolsResult](ctx, f, "ListTools", r)
}

func (f *fake) CallTool(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return query[mcp.CallToolResult](ctx, f, "CallTool", r)
}

func (f *fake) SetLevel(ctx context.Context, r mcp.SetLevelRequest) error {
	return command(ctx, f, "SetLevel", r)
}

func (f *fake) Complete(ctx context.Context, r mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	return query[mcp.CompleteResult](ctx, f, "Complete", r)
}

func (f *fake) Close() error { return command(context.Background(), f, "Close", nil) }

func (f *fake) OnNotification(handler func(mcp.JSONRPCNotification)) {
	handler(mcp.JSONRPCNotification{JSONRPC: "registered"})
}

// method is one method of client.MCPClient, found by reflection.
type method struct {
	name            string
	request, result reflect.Type // nil where there is none
}

// methods are all methods of client.MCPClient that pass the chain.
func methods(t testing.TB) []method {
	t.Helper()
	var all []method
	for m := range reflect.TypeFor[client.MCPClient]().Methods() {
		if m.Name == "OnNotification" {
			continue
		}
		found := method{name: m.Name}
		if last := m.Type.NumIn() - 1; last >= 0 && m.Type.In(last).Kind() == reflect.Struct {
			found.request = m.Type.In(last)
		}
		if m.Type.NumOut() == 2 {
			found.result = m.Type.Out(0)
		}
		all = append(all, found)
	}
	require.NotEmpty(t, all)
	return all
}

// newRequest returns a request by value that is not the zero one, or nil.
func (m method) newRequest() any {
	if m.request == nil {
		return nil
	}
	request := reflect.New(m.request).Elem()
	request.FieldByName("Header").Set(reflect.ValueOf(http.Header{"X-Method": {m.name}}))
	return request.Interface()
}

// newResult returns a pointer to a new result, or nil.
func (m method) newResult() any {
	if m.result == nil {
		return nil
	}
	return reflect.New(m.result.Elem()).Interface()
}

// call calls the method on c and checks what holds for every call: a method
// with a result returns one if and only if it returns no error.
func (m method) call(ctx context.Context, t testing.TB, c client.MCPClient, request any) (any, error) {
	t.Helper()
	f := reflect.ValueOf(c).MethodByName(m.name)
	var in []reflect.Value
	if f.Type().NumIn() > 0 {
		in = append(in, reflect.ValueOf(ctx))
	}
	if m.request != nil {
		in = append(in, reflect.ValueOf(request))
	}
	out := f.Call(in)
	err, _ := reflect.TypeAssert[error](out[len(out)-1])
	if m.result == nil {
		return nil, err
	}
	assert.Equal(t, err == nil, !out[0].IsNil(), "%s must return a result if and only if it returns no error", m.name)
	return out[0].Interface(), err
}

// recorder is a middleware that keeps the calls that pass it.
type recorder struct {
	mu   sync.Mutex
	seen []mcpclient.Call
}

func (r *recorder) middleware(next mcpclient.Handler) mcpclient.Handler {
	return func(ctx context.Context, call mcpclient.Call) (any, error) {
		r.mu.Lock()
		r.seen = append(r.seen, call)
		r.mu.Unlock()
		return next(ctx, call)
	}
}

func (r *recorder) calls() []mcpclient.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]mcpclient.Call(nil), r.seen...)
}

// pass is a middleware that does nothing.
func pass(next mcpclient.Handler) mcpclient.Handler {
	return func(ctx context.Context, call mcpclient.Call) (any, error) { return next(ctx, call) }
}

// answering is a middleware that never asks the next handler.
func answering(result any, err error) mcpclient.Middleware {
	return func(mcpclient.Handler) mcpclient.Handler {
		return func(context.Context, mcpclient.Call) (any, error) { return result, err }
	}
}

// changing is a middleware that passes on another call.
func changing(change func(*mcpclient.Call)) mcpclient.Middleware {
	return func(next mcpclient.Handler) mcpclient.Handler {
		return func(ctx context.Context, call mcpclient.Call) (any, error) {
			change(&call)
			return next(ctx, call)
		}
	}
}
