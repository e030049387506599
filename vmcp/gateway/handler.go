package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// handler answers what the endpoint gets.
type handler struct{ *Gateway }

// methods are all requests that a client may send but ping, which says nothing
// about a session.
var methods = map[mcp.MCPMethod]func(*call) (any, error){
	mcp.MethodInitialize:             (*call).initialize,
	mcp.MethodServerDiscover:         (*call).discover,
	mcp.MethodToolsList:              (*call).listTools,
	mcp.MethodToolsCall:              (*call).callTool,
	mcp.MethodPromptsList:            (*call).listPrompts,
	mcp.MethodPromptsGet:             (*call).getPrompt,
	mcp.MethodResourcesList:          (*call).listResources,
	mcp.MethodResourcesTemplatesList: (*call).listTemplates,
	mcp.MethodResourcesRead:          (*call).readResource,
	mcp.MethodResourcesSubscribe:     (*call).subscribe,
	mcp.MethodResourcesUnsubscribe:   (*call).unsubscribe,
	mcp.MethodCompletionComplete:     (*call).complete,
	mcp.MethodSetLogLevel:            (*call).setLevel,
	mcp.MethodSubscriptionsListen:    (*call).listen,
}

// Serve answers a request.
func (h handler) Serve(ctx context.Context, request *endpoint.Request) (any, error) {
	ctx, end := h.incoming.Begin(ctx, incoming(request))
	result, err := h.serve(ctx, request)
	end(result, err)
	if request.Method == mcp.MethodInitialize && err == nil {
		h.measure(request.Client, h.incoming.Session(context.WithoutCancel(ctx), request.Client.Version(), transportOf(request)))
	}
	return result, err
}

func (h handler) serve(ctx context.Context, request *endpoint.Request) (any, error) {
	answer, ok := methods[request.Method]
	if row, known := capability.Of(request.Method); !ok || known && !row.On(request.Client.Version()) {
		return nil, unknownMethod(request)
	}
	c, err := h.caller(ctx, keyOf(request.Client))
	if err != nil {
		return nil, noSession(err)
	}
	defer c.release()
	if !request.Client.Modern() {
		h.connect(request, c)
	}
	defer c.wantsLogs(ctx, request)()
	return answer(&call{Request: request, ctx: ctx, gateway: h.Gateway, caller: c, session: c.session})
}

// connect takes down whose a client is. One over stdio may connect once more,
// and be able to do other things then: it has another session.
func (h handler) connect(request *endpoint.Request, c *caller) {
	c.connect(request.Client)
	if request.Method != mcp.MethodInitialize {
		return
	}
	for _, other := range h.all() {
		if other != c {
			other.disconnect(request.Client)
		}
	}
}

// measure begins to measure a connection; the one that it had before has ended.
func (h handler) measure(client *endpoint.Client, end func(error)) {
	if before, ok := h.ends.Swap(client, end); ok {
		before.(func(error))(nil)
	}
}

// noSession says why there is no session, with all that is known of the backends.
func noSession(err error) error {
	failed, ok := errors.AsType[*vmcp.BuildError](err)
	if !ok {
		return err
	}
	return &endpoint.Failure{Code: mcp.INTERNAL_ERROR, Message: err.Error(), Data: map[string]any{MissingKey: missingFrom(failed.Report, "")}}
}

// HandleNotification hands on what a client says without being asked. It does not wait for the
// backends: the client's next message does for it.
func (h handler) HandleNotification(_ context.Context, client *endpoint.Client, method string, _ json.RawMessage) {
	if method != string(mcp.MethodNotificationRootsListChanged) || client.Modern() {
		return // notifications/initialized and progress concern nobody further in
	}
	if c, ok := h.known(client); ok {
		h.running.Go(func() { c.tellRoots(h.life) })
	}
}

func (c *caller) tellRoots(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	if err := c.session.RootsChanged(ctx); err != nil {
		c.gateway.Logger.WarnContext(ctx, "a backend does not know that the caller's roots have changed", events.KeyEvent, events.RootsNotTold, events.KeyError, err.Error())
	}
}

// rootsTimeout is how long backends may take to hear that roots have changed.
const rootsTimeout = 30 * time.Second

// Disconnected forgets a client.
func (h handler) Disconnected(client *endpoint.Client) {
	if end, ok := h.ends.LoadAndDelete(client); ok {
		end.(func(error))(nil)
	}
	for _, c := range h.all() {
		c.disconnect(client)
	}
}

// known returns the caller that a client has a session of, if it is built.
func (h handler) known(client *endpoint.Client) (*caller, bool) {
	h.mu.Lock()
	c, ok := h.callers[keyOf(client)]
	h.mu.Unlock()
	if !ok {
		return nil, false
	}
	select {
	case <-c.built:
		return c, c.session != nil
	default:
		return nil, false
	}
}
