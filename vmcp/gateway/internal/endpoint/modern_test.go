package endpoint_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func itoa(i int) string { return strconv.Itoa(i) }

func TestAModernRequestSaysWhoAsks(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{Info: mcp.Implementation{Name: "gate", Version: "3"}})
	body, h := the("tools/call", `"name":"t"`)
	h["Mcp-Name"] = "t"
	h[endpoint.SessionHeader] = "ignored"
	h["Last-Event-ID"] = "ignored"
	response := s.post(body, h)
	require.Equal(t, http.StatusOK, response.StatusCode)
	assert.Empty(t, response.Header.Get(endpoint.SessionHeader))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"resultType":"complete",
		"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"gate","version":"3"}}}}`, text(t, response))
	client := s.client("tools/call")
	assert.True(t, client.Modern())
	assert.Equal(t, "me", client.Info().Name)
	assert.ErrorIs(t, client.Ask(t.Context(), "ping", nil, nil), endpoint.ErrCannotAsk)
}

func TestModernHeadersMustAgree(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	for name, c := range map[string]struct {
		change       headers
		params       string
		status, code int
	}{
		"no version header":         {headers{"Mcp-Protocol-Version": ""}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"an older version header":   {headers{"Mcp-Protocol-Version": legacy}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"another version header":    {headers{"Mcp-Protocol-Version": "2027-01-01"}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"no version in _meta":       {nil, `{"io.modelcontextprotocol/clientCapabilities":{}}`, 400, mcp.INVALID_PARAMS},
		"no _meta":                  {nil, `null`, 400, mcp.INVALID_PARAMS},
		"no capabilities":           {nil, `{"io.modelcontextprotocol/protocolVersion":"` + modern + `"}`, 400, mcp.INVALID_PARAMS},
		"capabilities of a kind":    {nil, `{"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":7}`, 400, mcp.INVALID_PARAMS},
		"no method header":          {headers{"Mcp-Method": ""}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"another method header":     {headers{"Mcp-Method": "tools/list"}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"no name header":            {headers{"Mcp-Name": ""}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"another name header":       {headers{"Mcp-Name": "u"}, meta(modern), 400, mcp.HEADER_MISMATCH},
		"a name in Base64":          {headers{"Mcp-Name": "=?base64?dA==?="}, meta(modern), 200, 0},
		"a version of the future":   {headers{"Mcp-Protocol-Version": "2027-01-01", "Mcp-Method": ""}, meta("2027-01-01"), 400, mcp.UNSUPPORTED_PROTOCOL_VERSION},
		"everything as it ought be": {nil, meta(modern), 200, 0},
	} {
		h := headers{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": "t"}
		for name, value := range c.change {
			h[name] = value
		}
		response := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":`+c.params+`}}`, h)
		assert.Equal(t, c.status, response.StatusCode, name)
		assert.Equal(t, c.code, code(t, response), name)
	}
}

func TestModernStatusTellsOfErrors(t *testing.T) {
	t.Parallel()
	var next error
	s := serve(t, map[string]answer{"x": func(context.Context, *endpoint.Request) (any, error) { return nil, next }}, endpoint.Options{})
	for _, c := range []struct {
		err          error
		status, code int
	}{
		{mcp.ErrMethodNotFound, 404, mcp.METHOD_NOT_FOUND},
		{mcp.ErrInvalidParams, 400, mcp.INVALID_PARAMS},
		{mcp.ErrResourceNotFound, 400, mcp.INVALID_PARAMS},
		{mcp.MissingRequiredClientCapabilityError{}, 400, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY},
		{&endpoint.Failure{Code: mcp.INVALID_REQUEST}, 400, mcp.INVALID_REQUEST},
		{&endpoint.Failure{Code: 5}, 200, 5},
		{context.DeadlineExceeded, 200, mcp.INTERNAL_ERROR},
	} {
		next = c.err
		body, h := the("x", "")
		response := s.post(body, h)
		assert.Equal(t, c.status, response.StatusCode, "%v", c.err)
		assert.Equal(t, c.code, code(t, response), "%v", c.err)
	}
}

func TestModernHasNeitherGetNorDeleteNorInitialize(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"initialize": func(_ context.Context, r *endpoint.Request) (any, error) {
		assert.True(t, r.Client.Modern())
		return nil, mcp.ErrMethodNotFound
	}}, endpoint.Options{})
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		response := s.do(t.Context(), method, "", headers{"Mcp-Protocol-Version": modern})
		assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
		assert.Equal(t, "POST", response.Header.Get("Allow"))
	}
	body, h := the("initialize", `"protocolVersion":"`+legacy+`"`)
	response := s.post(body, h)
	assert.Equal(t, http.StatusNotFound, response.StatusCode)
	assert.Empty(t, response.Header.Get(endpoint.SessionHeader))
}

func TestModernResultsAreDecorated(t *testing.T) {
	t.Parallel()
	var next any
	reply := func(context.Context, *endpoint.Request) (any, error) { return next, nil }
	s := serve(t, map[string]answer{"tools/list": reply, "x": reply}, endpoint.Options{})
	ttl := &mcp.ListToolsResult{Tools: []mcp.Tool{}}
	ttl.SetCacheHints(9, mcp.CacheScopePublic)
	for _, c := range []struct {
		method string
		result any
		has    map[string]any
	}{
		{"tools/list", &mcp.ListToolsResult{Tools: []mcp.Tool{}}, map[string]any{"resultType": "complete", "ttlMs": 0.0, "cacheScope": "private"}},
		{"tools/list", ttl, map[string]any{"resultType": "complete", "ttlMs": 9.0, "cacheScope": "public"}},
		{"x", nil, map[string]any{"resultType": "complete"}},
		{"x", (*mcp.CallToolResult)(nil), map[string]any{"resultType": "complete"}},
		{"x", &mcp.ListToolsResult{Tools: []mcp.Tool{}}, map[string]any{"resultType": "complete", "ttlMs": nil}},
		{"x", mcp.NewInputRequiredResult(mcp.InputRequests{}, "s"), map[string]any{"resultType": "input_required"}},
		{"x", json.RawMessage(`{"a":"<&>"}`), map[string]any{"a": "<&>", "resultType": nil}},
	} {
		next = c.result
		body, h := the(c.method, "")
		var got struct {
			Result map[string]any `json:"result"`
		}
		require.NoError(t, json.Unmarshal([]byte(text(t, s.post(body, h))), &got))
		for key, value := range c.has {
			assert.Equal(t, value, got.Result[key], "%s of %s, %T", key, c.method, c.result)
		}
	}
}

func TestModernNotificationsAndAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	h := headers{"Mcp-Protocol-Version": modern}
	assert.Equal(t, http.StatusAccepted, s.post(`{"jsonrpc":"2.0","method":"notifications/x"}`, h).StatusCode)
	assert.Contains(t, receive(t, s.heard), modern)
	assert.Equal(t, http.StatusAccepted, s.post(cancelled(`1`), h).StatusCode)
	response := s.post(`{"jsonrpc":"2.0","id":1,"result":{}}`, h)
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Equal(t, mcp.INVALID_REQUEST, code(t, response))
	response = s.post(`{"jsonrpc":"2.0","method":"notifications/x"}`, headers{"Mcp-Protocol-Version": "2099-01-01"})
	assert.Equal(t, mcp.UNSUPPORTED_PROTOCOL_VERSION, code(t, response))
}

// listening serves subscriptions/listen, granting all but prompts.
func listening(ctx context.Context, r *endpoint.Request) (any, error) {
	var params mcp.SubscriptionsListenParams
	if err := r.Decode(&params); err != nil {
		return nil, err
	}
	params.Notifications.PromptsListChanged = false
	return r.Listen(ctx, params.Notifications)
}

func TestAListenStreamHasWhatWasGranted(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"subscriptions/listen": listening}, endpoint.Options{})
	body, h := the("subscriptions/listen", `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["res://a"]}`)
	in := events(t, s.post(strings.Replace(body, `"id":1`, `"id":"sub"`, 1), h))
	ack := in.event()
	assert.Equal(t, "notifications/subscriptions/acknowledged", ack.Method)
	assert.Equal(t, map[string]any{"toolsListChanged": true, "resourceSubscriptions": []any{"res://a"}}, ack.Params["notifications"])
	client := s.client("subscriptions/listen")
	for _, unwanted := range []mcp.JSONRPCNotification{
		note("notifications/prompts/list_changed", nil), note("notifications/message", nil), note("notifications/progress", nil),
		note("notifications/resources/updated", map[string]any{"uri": "res://b"}), note("notifications/resources/list_changed", nil),
	} {
		client.Notify(unwanted)
	}
	shared := note("notifications/resources/updated", map[string]any{"uri": "res://a"})
	client.Notify(shared)
	client.Notify(note("notifications/tools/list_changed", nil))
	assert.Equal(t, "res://a", in.event().Params["uri"])
	last := in.event()
	assert.Equal(t, "notifications/tools/list_changed", last.Method)
	for _, tagged := range []event{ack, last} {
		assert.Equal(t, map[string]any{"io.modelcontextprotocol/subscriptionId": "sub"}, tagged.Params["_meta"])
	}
	assert.Nil(t, shared.Params.Meta, "others are told the same notification")
	assert.NoError(t, s.endpoint.Shutdown(soon(t)))
	end := in.event()
	assert.Equal(t, "complete", end.Result["resultType"])
	assert.Equal(t, "sub", end.Result["_meta"].(map[string]any)["io.modelcontextprotocol/subscriptionId"])
	assert.Empty(t, in.next())
}

func TestNothingGrantedEndsTheListenStream(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"subscriptions/listen": listening}, endpoint.Options{})
	body, h := the("subscriptions/listen", `"notifications":{"promptsListChanged":true}`)
	in := events(t, s.post(body, h))
	assert.Equal(t, "notifications/subscriptions/acknowledged", in.event().Method)
	assert.Equal(t, "complete", in.event().Result["resultType"])
	h["Accept"] = "application/json"
	response := s.post(body, h)
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Equal(t, mcp.INVALID_REQUEST, code(t, response))
}

func TestAListenStreamEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := make(chan bool, 1)
	s := serve(t, map[string]answer{"subscriptions/listen": func(ctx context.Context, r *endpoint.Request) (any, error) {
		defer func() { ended <- true }()
		return listening(ctx, r)
	}}, endpoint.Options{})
	body, h := the("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	ctx, leave := context.WithCancel(t.Context())
	in := events(t, s.do(ctx, http.MethodPost, body, h))
	in.event()
	leave()
	receive(t, ended)
}
