package endpoint_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}`
)

func TestInitializeBeginsASessionThatDeleteEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	client := s.client("initialize")
	assert.Equal(t, "me", client.Info().Name)
	assert.NotNil(t, client.Capabilities().Sampling)
	assert.False(t, client.Modern())

	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, text(t, s.post(ping, session)))
	assert.Contains(t, text(t, s.post(call, session)), `"text":"done"`)
	assert.Equal(t, http.StatusNoContent, s.do(t.Context(), http.MethodDelete, "", session).StatusCode)
	assert.Same(t, client, receive(t, s.left))
	assert.Equal(t, http.StatusNotFound, s.post(ping, session).StatusCode)
	assert.Equal(t, http.StatusNotFound, s.do(t.Context(), http.MethodDelete, "", session).StatusCode)
	assert.Empty(t, s.left, "nobody leaves twice")
}

func TestVersionIsNegotiated(t *testing.T) {
	t.Parallel()
	for asked, got := range map[string]string{
		legacy: legacy, "2025-03-26": "2025-03-26", "1999-01-01": legacy, modern: legacy,
	} {
		s := serve(t, nil, endpoint.Options{})
		assert.Contains(t, text(t, s.post(hello(asked), nil)), `"protocolVersion":"`+got+`"`, asked)
	}
}

func TestASessionOfAnotherIdentityIsUnknown(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(headers{"X-Identity": "ann"})
	assert.Equal(t, "ann", s.client("initialize").Identity())
	assert.Equal(t, http.StatusOK, s.post(ping, session).StatusCode)
	for _, other := range []string{"", "bob"} {
		session["X-Identity"] = other
		theirs := text(t, s.post(ping, session))
		unknown := text(t, s.post(ping, headers{endpoint.SessionHeader: "no such"}))
		assert.Equal(t, unknown, theirs)
		assert.Equal(t, http.StatusNotFound, s.do(t.Context(), http.MethodDelete, "", session).StatusCode)
		assert.Equal(t, http.StatusNotFound, s.do(t.Context(), http.MethodGet, "", session).StatusCode)
	}
}

func TestARefusedInitializeLeavesNoSession(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"initialize": func(context.Context, *endpoint.Request) (any, error) {
		return nil, &endpoint.Failure{Code: 42, Message: "no"}
	}}, endpoint.Options{Sessions: 1})
	for range 3 {
		response := s.post(hello(legacy), nil)
		assert.Empty(t, response.Header.Get(endpoint.SessionHeader))
		assert.Equal(t, 42, code(t, response))
		receive(t, s.left)
	}
}

func TestASessionIsNamedOnAStreamToo(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"initialize": func(_ context.Context, r *endpoint.Request) (any, error) {
		r.Notify(note("notifications/message", map[string]any{"data": "welcome"}))
		return &mcp.InitializeResult{ProtocolVersion: r.Client.Version()}, nil
	}}, endpoint.Options{})
	response := s.post(hello(legacy), nil)
	assert.NotEmpty(t, response.Header.Get(endpoint.SessionHeader))
	in := events(t, response)
	assert.Equal(t, "notifications/message", in.event().Method)
	assert.Equal(t, legacy, in.event().Result["protocolVersion"])
}

func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{Body: 1000})
	session := s.open(nil)
	for name, c := range map[string]struct {
		body         string
		more         headers
		status, code int
		id           string
	}{
		"no JSON":                  {`{`, nil, 400, mcp.PARSE_ERROR, "null"},
		"nothing":                  {``, nil, 400, mcp.PARSE_ERROR, "null"},
		"two messages":             {ping + ping, nil, 400, mcp.PARSE_ERROR, "null"},
		"a batch":                  {`[` + ping + `]`, nil, 400, mcp.INVALID_REQUEST, "null"},
		"a number":                 {`5`, nil, 400, mcp.INVALID_REQUEST, "null"},
		"method of another type":   {`{"jsonrpc":"2.0","id":3,"method":5}`, nil, 400, mcp.INVALID_REQUEST, "3"},
		"another JSON-RPC":         {`{"jsonrpc":"1.0","id":3,"method":"ping"}`, nil, 400, mcp.INVALID_REQUEST, "3"},
		"no JSON-RPC":              {`{"id":3,"method":"ping"}`, nil, 400, mcp.INVALID_REQUEST, "3"},
		"null ID":                  {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, mcp.INVALID_REQUEST, "null"},
		"object ID":                {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, 400, mcp.INVALID_REQUEST, "null"},
		"neither this nor that":    {`{"jsonrpc":"2.0","id":3}`, nil, 400, mcp.INVALID_REQUEST, "3"},
		"parameters of a kind":     {`{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}`, nil, 400, mcp.INVALID_PARAMS, "3"},
		"an answer to nobody":      {`{"jsonrpc":"2.0","id":3,"result":{}}`, nil, 400, mcp.INVALID_REQUEST, "null"},
		"too long":                 {`{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", 1000) + `"}`, nil, 413, mcp.INVALID_REQUEST, "null"},
		"no session":               {ping, headers{endpoint.SessionHeader: ""}, 400, mcp.INVALID_REQUEST, "1"},
		"unknown session":          {ping, headers{endpoint.SessionHeader: "x"}, 404, mcp.INVALID_REQUEST, "1"},
		"unknown version":          {ping, headers{"Mcp-Protocol-Version": "1999-01-01"}, 400, mcp.UNSUPPORTED_PROTOCOL_VERSION, "1"},
		"unknown version declared": {`{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":` + meta("1999-01-01") + `}}`, nil, 400, mcp.UNSUPPORTED_PROTOCOL_VERSION, "3"},
	} {
		h := headers{endpoint.SessionHeader: session[endpoint.SessionHeader]}
		for name, value := range c.more {
			h[name] = value
		}
		response := s.post(c.body, h)
		assert.Equal(t, c.status, response.StatusCode, name)
		body := text(t, response)
		assert.Contains(t, body, `"id":`+c.id+`,`, name)
		assert.Contains(t, body, `"code":`+itoa(c.code)+`,`, name)
	}
	assert.Equal(t, http.StatusOK, s.post(ping, session).StatusCode, "the session goes on")
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	for media, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200,
		"text/plain": 415, "": 415, "application/json-rpc": 415, ";": 415,
	} {
		h := headers{endpoint.SessionHeader: session[endpoint.SessionHeader], "Content-Type": media}
		assert.Equal(t, status, s.post(ping, h).StatusCode, media)
	}
}

func TestAcceptDecidesWhetherToStream(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"tools/call": func(_ context.Context, r *endpoint.Request) (any, error) {
		r.Notify(note("notifications/progress", map[string]any{"progress": 1}))
		return nil, nil
	}}, endpoint.Options{})
	session := s.open(nil)
	for accept, media := range map[string]string{
		"application/json, text/event-stream": "text/event-stream",
		"TEXT/Event-Stream;q=0.5":             "text/event-stream",
		"*/*":                                 "text/event-stream",
		"application/json":                    "application/json",
		"text/event-streams":                  "application/json",
		"":                                    "application/json",
	} {
		h := headers{endpoint.SessionHeader: session[endpoint.SessionHeader], "Accept": accept}
		response := s.post(call, h)
		assert.Equal(t, media, response.Header.Get("Content-Type"), accept)
		assert.Contains(t, text(t, response), `"result":{}`, accept)
	}
	assert.Equal(t, http.StatusNotAcceptable, s.do(t.Context(), http.MethodGet, "",
		headers{endpoint.SessionHeader: session[endpoint.SessionHeader], "Accept": "application/json"}).StatusCode)
}

func TestOtherHTTPMethods(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	response := s.do(t.Context(), http.MethodPut, ping, session)
	assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode)
	assert.Equal(t, "GET, POST, DELETE", response.Header.Get("Allow"))
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		assert.Equal(t, http.StatusBadRequest, s.do(t.Context(), method, "", nil).StatusCode, "no session")
		session["Mcp-Protocol-Version"] = "nonsense"
		assert.Equal(t, http.StatusBadRequest, s.do(t.Context(), method, "", session).StatusCode, "bad version")
	}
}

func TestNotificationsAreHeard(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	response := s.post(`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"a":1}}`, session)
	assert.Equal(t, http.StatusAccepted, response.StatusCode)
	assert.Empty(t, text(t, response))
	assert.Equal(t, `notifications/initialized `+legacy+` {"a":1}`, receive(t, s.heard))
	response = s.post(`{"jsonrpc":"2.0","method":"initialize"}`, nil)
	assert.Equal(t, http.StatusBadRequest, response.StatusCode, "a notification begins no session")
}

func TestErrorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	var next error
	s := serve(t, map[string]answer{"tools/call": func(context.Context, *endpoint.Request) (any, error) { return nil, next }}, endpoint.Options{})
	session := s.open(nil)
	for _, c := range []struct {
		err  error
		code int
	}{
		{&endpoint.Failure{Code: -7, Message: "x", Data: map[string]any{"a": 1}}, -7},
		{&endpoint.Failure{Code: -7, Message: "x", Data: func() {}}, -7},
		{mcp.ErrResourceNotFound, mcp.RESOURCE_NOT_FOUND},
		{mcp.ErrInvalidParams, mcp.INVALID_PARAMS},
		{mcp.ErrMethodNotFound, mcp.METHOD_NOT_FOUND},
		{mcp.HeaderMismatchError{Header: "H"}, mcp.HEADER_MISMATCH},
		{mcp.UnsupportedProtocolVersionError{Version: "x"}, mcp.UNSUPPORTED_PROTOCOL_VERSION},
		{context.DeadlineExceeded, mcp.INTERNAL_ERROR},
		{context.Canceled, mcp.REQUEST_INTERRUPTED},
	} {
		next = c.err
		response := s.post(call, session)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Equal(t, c.code, code(t, response), "%v", c.err)
	}
}

func TestResultsThatCannotBeWrittenAndPanicsAreErrors(t *testing.T) {
	t.Parallel()
	var next answer
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) { return next(ctx, r) }}, endpoint.Options{})
	session := s.open(nil)
	for name, f := range map[string]answer{
		"panic":       func(context.Context, *endpoint.Request) (any, error) { panic("ouch") },
		"no JSON":     func(context.Context, *endpoint.Request) (any, error) { return make(chan int), nil },
		"JSON panics": func(context.Context, *endpoint.Request) (any, error) { return explosive{}, nil },
	} {
		next = f
		response := s.post(call, session)
		body := text(t, response)
		assert.Contains(t, body, "-32603", name)
		assert.NotContains(t, body, "ouch", name)
	}
	next = func(context.Context, *endpoint.Request) (any, error) { return (*mcp.CallToolResult)(nil), nil }
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":7,"result":{}}`, text(t, s.post(call, session)))
}

type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("ouch") }

func TestAPanicWhileHearingIsSurvived(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, endpoint.Options{})
	session := s.open(nil)
	close(s.heard) // sending on it panics
	assert.Equal(t, http.StatusAccepted, s.post(`{"jsonrpc":"2.0","method":"notifications/x"}`, session).StatusCode)
}

func TestDuplicateIDsAreBothServedAndBothCancelled(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, r *endpoint.Request) (any, error) {
		r.Notify(note("notifications/progress", nil))
		<-ctx.Done()
		return nil, ctx.Err()
	}}, endpoint.Options{})
	session := s.open(nil)
	one, two := events(t, s.post(call, session)), events(t, s.post(call, session))
	require.Equal(t, "notifications/progress", one.event().Method)
	require.Equal(t, "notifications/progress", two.event().Method)
	require.Equal(t, http.StatusAccepted, s.post(cancelled(`7`), session).StatusCode)
	for _, in := range []*stream{one, two} {
		assert.InDelta(t, mcp.REQUEST_INTERRUPTED, in.event().Error["code"], 0)
	}
	for _, nonsense := range []string{`"7"`, `8`, `null`, `{}`} {
		assert.Equal(t, http.StatusAccepted, s.post(cancelled(nonsense), session).StatusCode, nonsense)
	}
}

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func TestAClientThatLeavesCancelsWhatItAsked(t *testing.T) {
	t.Parallel()
	began, ended := make(chan bool, 1), make(chan error, 1)
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, _ *endpoint.Request) (any, error) {
		began <- true
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}}, endpoint.Options{})
	session := s.open(nil)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(call))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(endpoint.SessionHeader, session[endpoint.SessionHeader])
	gone := make(chan error, 1)
	go func() { _, err := s.http.Do(r); gone <- err }()
	receive(t, began)
	leave()
	require.Error(t, receive(t, gone))
	assert.ErrorIs(t, receive(t, ended), context.Canceled)
}

func TestLeftIsToldAfterTheLastRequestOfASession(t *testing.T) {
	t.Parallel()
	began, proceed := make(chan bool, 1), make(chan bool)
	s := serve(t, map[string]answer{"tools/call": func(ctx context.Context, _ *endpoint.Request) (any, error) {
		began <- true
		<-ctx.Done() // the session's end
		<-proceed
		return nil, ctx.Err()
	}}, endpoint.Options{})
	session := s.open(nil)
	answered := make(chan int, 1)
	go func() { answered <- s.post(call, session).StatusCode }()
	receive(t, began)
	require.Equal(t, http.StatusNoContent, s.do(t.Context(), http.MethodDelete, "", session).StatusCode)
	assert.Empty(t, s.left)
	close(proceed)
	receive(t, answered)
	receive(t, s.left)
}
