package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/failure"
)

// coded makes an error of a handler the answer with its code: mcp-go v1.2.1
// answers -32603 whatever it is.
func coded(handler transport.RequestHandler) transport.RequestHandler {
	return func(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		if !known(request.Method) {
			return transport.NewJSONRPCErrorResponse(request.ID, mcp.METHOD_NOT_FOUND, "the client has no method "+request.Method, nil), nil
		}
		response, err := handler(ctx, request)
		if err != nil {
			return transport.NewJSONRPCErrorResponse(request.ID, failure.AnswerCode(err), err.Error(), nil), nil
		}
		return response, nil
	}
}

// known says whether a server may ask a client for it.
func known(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodPing, mcp.MethodSamplingCreateMessage, mcp.MethodElicitationCreate, mcp.MethodListRoots:
		return true
	default:
		return false
	}
}

// sending is how long the answer to a server's request may take to be sent.
const sending = 30 * time.Second

// SetRequestHandler lets the handler take its time: mcp-go v1.2.1 gives it 30
// seconds, and people who are asked need longer. So the answer is sent here. The
// handler's context ends with the request in whose answer the server asked, for
// as long as mcp-go can tell, and with the connection.
func (t *httpTransport) SetRequestHandler(handler transport.RequestHandler) {
	answer := coded(handler)
	t.StreamableHTTP.SetRequestHandler(func(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(t.life, cancel)()
		defer context.AfterFunc(ctx, func() {
			if ctx.Err() == context.Canceled {
				cancel()
			}
		})()
		response, err := answer(asking, request)
		if err == nil && response != nil {
			t.reply(response)
		}
		return nil, nil
	})
}

// reply sends the answer as mcp-go would. Whether the server takes it is not
// for the one who gave it to mend.
func (t *httpTransport) reply(response *transport.JSONRPCResponse) {
	body, err := json.Marshal(response)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.life, sending)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.address, bytes.NewReader(body))
	if err != nil {
		return
	}
	t.dress(req)
	if resp, err := t.client.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

// dress gives a request the headers that mcp-go gives its own.
func (t *httpTransport) dress(req *http.Request) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session := t.GetSessionId(); session != "" {
		req.Header.Set(transport.HeaderKeySessionID, session)
	}
	if version, _ := t.version.Load().(string); version != "" {
		req.Header.Set(transport.HeaderKeyProtocolVersion, version)
	}
	for name, value := range t.headers {
		req.Header.Set(name, value)
	}
}

// SetRequestHandler answers with the codes of the handler's errors.
func (t *stdioTransport) SetRequestHandler(handler transport.RequestHandler) {
	t.Stdio.SetRequestHandler(coded(handler))
}
