package badserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

const listTools = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`

// said is what an HTTP server answered.
type said struct {
	status int
	header http.Header
	body   string
}

func post(t *testing.T, url, body string, header ...string) (said, error) {
	t.Helper()
	return do(t, http.MethodPost, url, body, header...)
}

func do(t *testing.T, method, url, body string, header ...string) (said, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(soon(t), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := httpClient(t).Do(request)
	if err != nil {
		return said{}, err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	return said{response.StatusCode, response.Header, string(data)}, err
}

func TestHTTPBytes(t *testing.T) {
	t.Parallel()
	body := "data: x\n\n"
	for name, test := range map[string]struct {
		answer      badserver.Answer
		status      int
		contentType string
		body        string
	}{
		"result": {
			badserver.Answer{Result: json.RawMessage("{\n\t\"tools\": null\n}")},
			200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{"tools":null}}`,
		},
		"null result": {
			badserver.Answer{Result: json.RawMessage("null")},
			200, "application/json", `{"jsonrpc":"2.0","id":7,"result":null}`,
		},
		"malformed result": {
			badserver.Answer{Result: json.RawMessage(`{"tools":[`)},
			200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{"tools":[}`,
		},
		"error with a status and data": {
			badserver.Answer{Status: 404, Error: &badserver.Error{Code: -32601, Message: "no", Data: json.RawMessage(`[1]`)}},
			404, "application/json", `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no","data":[1]}}`,
		},
		"result and error": {
			badserver.Answer{Result: json.RawMessage(`1`), ErrorText: "x"},
			200, "application/json", `{"jsonrpc":"2.0","id":7,"result":1,"error":"x"}`,
		},
		"error text wins over error": {
			badserver.Answer{Error: &badserver.Error{Code: 1}, ErrorText: "x"},
			200, "application/json", `{"jsonrpc":"2.0","id":7,"error":"x"}`,
		},
		"another id": {
			badserver.Answer{ID: json.RawMessage("null")},
			200, "application/json", `{"jsonrpc":"2.0","id":null,"result":{}}`,
		},
		"plain": {
			badserver.Plain(503, "gone"), 503, "text/plain; charset=utf-8", "gone",
		},
		"body with a content type": {
			badserver.Answer{Body: &body, ContentType: "text/event-stream"},
			200, "text/event-stream", body,
		},
		"event stream": {
			badserver.Answer{SSE: true},
			200, "text/event-stream", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n",
		},
		"body in an event stream": {
			badserver.Answer{SSE: true, Body: ptr("a\nb")},
			200, "text/event-stream", "event: message\ndata: a\ndata: b\n\n",
		},
		"messages around the answer": {
			badserver.Answer{
				Before: []json.RawMessage{notification("one")},
				After:  []json.RawMessage{notification("two")},
			},
			200, "text/event-stream",
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"one\"}\n\n" +
				"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n" +
				"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"two\"}\n\n",
		},
		"a message after the answer makes a stream too": {
			badserver.Answer{After: []json.RawMessage{notification("two")}},
			200, "text/event-stream",
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n\n" +
				"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"two\"}\n\n",
		},
		"noise is not for HTTP": {
			badserver.Answer{Noise: "banner"},
			200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := listen(t, badserver.New(badserver.Script{Answers: on("tools/list", test.answer)}))
			got, err := post(t, url, listTools)
			require.NoError(t, err)
			assert.Equal(t, test.status, got.status)
			assert.Equal(t, test.contentType, got.header.Get("Content-Type"))
			assert.Equal(t, test.body, got.body)
		})
	}
}

func TestHTTPHeadersWin(t *testing.T) {
	t.Parallel()
	answer := badserver.Tools()
	answer.Status = 401
	answer.Headers = map[string]string{"WWW-Authenticate": "Bearer", "Content-Type": "text/x"}
	got, err := post(t, listen(t, badserver.New(badserver.Script{Answers: on("tools/list", answer)})), listTools)
	require.NoError(t, err)
	assert.Equal(t, 401, got.status)
	assert.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
	assert.Equal(t, "text/x", got.header.Get("Content-Type"))
}

func TestHTTPCutSendsHalf(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]badserver.Answer{
		"body":         {Cut: true, Body: ptr("12345678")},
		"event stream": {Cut: true, SSE: true, Body: ptr("12345678")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := listen(t, badserver.New(badserver.Script{Answers: on("tools/list", answer)}))
			got, err := post(t, url, listTools)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Equal(t, map[string]string{"body": "1234", "event stream": "event: message\n"}[name], got.body)
		})
	}
}

func TestHTTPNotifications(t *testing.T) {
	t.Parallel()
	const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for name, test := range map[string]struct {
		answers []badserver.Answer
		status  int
		body    string
	}{
		"are accepted":                   {nil, 202, ""},
		"may get another status":         {[]badserver.Answer{{Status: 200}}, 200, ""},
		"may get an error":               {[]badserver.Answer{badserver.Fail(1, "no").WithStatus(400)}, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`},
		"may get a result":               {[]badserver.Answer{badserver.Result(1)}, 202, `{"jsonrpc":"2.0","id":null,"result":1}`},
		"may get a text":                 {[]badserver.Answer{badserver.Plain(500, "oops")}, 500, "oops"},
		"get their answer the next time": {[]badserver.Answer{badserver.Plain(500, "oops").AtCursor("x")}, 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(badserver.Script{Answers: map[string][]badserver.Answer{"notifications/initialized": test.answers}})
			got, err := post(t, listen(t, s), initialized)
			require.NoError(t, err)
			assert.Equal(t, test.status, got.status)
			assert.Equal(t, test.body, got.body)
			assert.True(t, s.Requests()[0].Notification)
		})
	}
}

func TestHTTPMessagesThatAreNone(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("*", badserver.Tools())})
	url := listen(t, s)
	for _, body := range []string{"", "nonsense", "{}", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`} {
		got, err := post(t, url, body)
		require.NoError(t, err)
		assert.Equal(t, 400, got.status, body)
		assert.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, got.body)
	}
	got, err := post(t, url, `{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`)
	require.NoError(t, err)
	assert.Equal(t, said{202, got.header, ""}, got, "a client's answer is accepted")
	requests := s.Requests()
	require.Len(t, requests, 5)
	assert.Equal(t, "nonsense", string(requests[1].Message))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`, string(requests[4].Message))
	assert.Empty(t, requests[4].Method)
}

func TestHTTPUnknownMethodByEra(t *testing.T) {
	t.Parallel()
	for protocol, test := range map[string]struct {
		status  int
		unknown []string
	}{
		"2025-11-25": {200, []string{"tools/list", "server/discover", "logging/setLevel", "resources/subscribe"}},
		"2026-07-28": {404, []string{"tools/list", "initialize", "ping", "subscriptions/listen"}},
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			url := listen(t, badserver.New(badserver.Script{Protocol: protocol}))
			for _, method := range test.unknown {
				got, err := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
				require.NoError(t, err)
				assert.Equal(t, test.status, got.status, method)
				assert.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, got.body)
			}
		})
	}
}

func TestHTTPErrorTakesThePlaceOfABuiltInResult(t *testing.T) {
	t.Parallel()
	url := listen(t, badserver.New(badserver.Script{Answers: on("ping", badserver.Fail(1, "no"))}))
	got, err := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	require.NoError(t, err)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, got.body)
}

// The specification requires the 404; this client takes it for a lost session.
func TestHTTPModernUnknownMethodSeenByTheClient(t *testing.T) {
	t.Parallel()
	c := start(t, dialHTTP(t, badserver.New(badserver.Script{Protocol: "2026-07-28"})))
	initialize(t, c)
	_, err := c.ListResources(soon(t), mcp.ListResourcesRequest{})
	assert.ErrorIs(t, err, transport.ErrSessionTerminated)
}

func TestHTTPDiscoverResult(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Protocol: "2026-07-28", Capabilities: json.RawMessage(`{"tools": {}}`)})
	got, err := post(t, listen(t, s), `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
	require.NoError(t, err)
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{
		"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
		"ttlMs":0,"cacheScope":"private",
		"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"badserver","version":"0"}}}}`, got.body)
}

func TestHTTPSession(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Session: true, Answers: on("tools/list", badserver.Tools("a").Once())})
	url := listen(t, s)
	c := start(t, dialHTTP(t, s))
	initialize(t, c)
	id := c.GetSessionId()
	require.NotEmpty(t, id)

	got, err := post(t, url, listTools)
	require.NoError(t, err)
	assert.Equal(t, 400, got.status, "no session")
	got, err = post(t, url, listTools, mcp.HeaderSessionID, "made-up")
	require.NoError(t, err)
	assert.Equal(t, 404, got.status, "unknown session")
	assert.NotContains(t, got.body, "jsonrpc")

	_, err = c.ListTools(soon(t), mcp.ListToolsRequest{})
	require.NoError(t, err, "a request that was turned away uses no answer up")
	requests := s.Requests()
	assert.Equal(t, id, requests[len(requests)-1].Connection)
	assert.Equal(t, id, requests[len(requests)-1].Header.Get(mcp.HeaderSessionID))

	require.NoError(t, c.Close())
	assert.Equal(t, 1, s.Count("DELETE"))
	got, err = post(t, url, listTools, mcp.HeaderSessionID, id)
	require.NoError(t, err)
	assert.Equal(t, 404, got.status, "deleted session")
}

func TestHTTPSessionIsHandedOutBySuccessOnly(t *testing.T) {
	t.Parallel()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	for name, test := range map[string]struct {
		script  badserver.Script
		session bool
	}{
		"a session":            {badserver.Script{Session: true}, true},
		"none asked for":       {badserver.Script{}, false},
		"the handshake fails":  {badserver.Script{Session: true, Answers: on("initialize", badserver.Fail(1, "no"))}, false},
		"the handshake is 503": {badserver.Script{Session: true, Answers: on("initialize", badserver.Plain(503, "no"))}, false},
		"the stateless era":    {badserver.Script{Session: true, Protocol: "2026-07-28", Answers: on("initialize", badserver.Answer{})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := post(t, listen(t, badserver.New(test.script)), initialize)
			require.NoError(t, err)
			assert.Equal(t, test.session, got.header.Get(mcp.HeaderSessionID) != "")
		})
	}
}

func TestHTTPSessionIsNotAskedForInTheStatelessEra(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Session: true, Protocol: "2026-07-28", Answers: on("tools/list", badserver.Tools())})
	got, err := post(t, listen(t, s), listTools)
	require.NoError(t, err)
	assert.Equal(t, 200, got.status)
}

func TestHTTPSessionDoesNotSurviveARestart(t *testing.T) {
	t.Parallel()
	before, after := badserver.New(badserver.Script{Session: true}), badserver.New(badserver.Script{Session: true})
	c := start(t, dialHTTP(t, before))
	initialize(t, c)
	got, err := post(t, listen(t, after), listTools, mcp.HeaderSessionID, c.GetSessionId())
	require.NoError(t, err)
	assert.Equal(t, 404, got.status)
}

func TestHTTPOtherVerbs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verb    string
		answers map[string][]badserver.Answer
		status  int
		body    string
	}{
		"GET has no stream":               {"GET", nil, 405, "Method Not Allowed\n"},
		"GET with a status":               {"GET", on("GET", badserver.Answer{Status: 401}), 401, ""},
		"GET with a text":                 {"GET", on("GET", badserver.Plain(200, "hello")), 200, "hello"},
		"GET with an answer used up":      {"GET", on("GET", badserver.Plain(200, "x").AtCursor("y")), 405, "Method Not Allowed\n"},
		"DELETE is fine":                  {"DELETE", nil, 200, ""},
		"DELETE with a status":            {"DELETE", on("DELETE", badserver.Answer{Status: 405}), 405, ""},
		"PUT is not known":                {"PUT", on("*", badserver.Tools()), 405, "Method Not Allowed\n"},
		"GET is not an unknown method":    {"GET", on("*", badserver.Tools()), 405, "Method Not Allowed\n"},
		"DELETE is not an unknown method": {"DELETE", on("*", badserver.Tools()), 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := do(t, test.verb, listen(t, badserver.New(badserver.Script{Answers: test.answers})), "")
			require.NoError(t, err)
			assert.Equal(t, test.status, got.status)
			assert.Equal(t, test.body, got.body)
		})
	}
}

func TestHTTPSessionGuardsGetAndDelete(t *testing.T) {
	t.Parallel()
	url := listen(t, badserver.New(badserver.Script{Session: true}))
	for _, verb := range []string{"GET", "DELETE"} {
		got, err := do(t, verb, url, "")
		require.NoError(t, err)
		assert.Equal(t, 400, got.status, verb)
		got, err = do(t, verb, url, "", mcp.HeaderSessionID, "made-up")
		require.NoError(t, err)
		assert.Equal(t, 404, got.status, verb)
	}
}

func TestHTTPGetStream(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("GET",
		badserver.Answer{Before: []json.RawMessage{notification("hello")}})})
	tr, err := transport.NewStreamableHTTP(listen(t, s),
		transport.WithContinuousListening(), transport.WithHTTPBasicClient(httpClient(t)), transport.WithHTTPLogger(quiet))
	require.NoError(t, err)
	c := client.NewClient(tr)
	got := heard(c)
	require.NoError(t, c.Start(soon(t)))
	t.Cleanup(func() { _ = c.Close() })
	initialize(t, c)
	assert.Equal(t, "hello", receive(t, got))
	s.Notify(notification("news"))
	assert.Equal(t, "news", receive(t, got))
	require.NoError(t, c.Ping(soon(t)))
}

func TestHTTPGetStreamIsOpenAtOnce(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("GET", badserver.Answer{})})
	stream := openStream(t, listen(t, s))
	s.Notify(notification("news"))
	assert.Equal(t, "event: message", nextLine(t, stream))
	assert.Equal(t, `data: {"jsonrpc":"2.0","method":"news"}`, nextLine(t, stream))
}

func TestHTTPGetStreamBreaks(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		answer badserver.Answer
		act    func(*badserver.Server)
	}{
		"when it is cut":           {badserver.Answer{Cut: true}, func(*badserver.Server) {}},
		"when the program exits":   {badserver.Answer{Exit: true, SSE: true}, func(*badserver.Server) {}},
		"when the server closes":   {badserver.Answer{}, func(s *badserver.Server) { _ = s.Close() }},
		"when it hangs and closes": {badserver.Answer{Hang: true, SSE: true}, func(s *badserver.Server) { _ = s.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := badserver.New(badserver.Script{Answers: on("GET", end.answer)})
			stream := openStream(t, listen(t, s))
			end.act(s)
			_, err := stream.ReadString('\n')
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		})
	}
}

// A stream that is leaving must not be written to once its handler is gone.
func TestHTTPNotifyWhileStreamsCome(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("GET", badserver.Answer{})})
	url := listen(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			s.Notify(notification("news"))
		}
	})
	own := httpClient(t)
	for range 50 {
		response, err := own.Get(url)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	cancel()
	group.Wait()
}

func TestHTTPGetMayHangBeforeItsHeaders(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("GET", badserver.Answer{Hang: true})})
	request, err := http.NewRequestWithContext(brief(t), http.MethodGet, listen(t, s), nil)
	require.NoError(t, err)
	_, err = httpClient(t).Do(request) //nolint:bodyclose // there is none
	assert.ErrorIs(t, err, context.Canceled)
}

// On 2026-07-28 the stream for notifications is a request that stays open.
func TestHTTPSubscriptionStream(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Protocol: "2026-07-28", Answers: on("subscriptions/listen",
		badserver.Answer{Hang: true, Before: []json.RawMessage{notification("notifications/subscriptions/acknowledged")}})})
	c := start(t, dialHTTP(t, s))
	got := heard(c)
	initialize(t, c)
	stop, err := c.ListenAsync(soon(t), mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
	require.NoError(t, err)
	defer stop()
	assert.Equal(t, "notifications/subscriptions/acknowledged", receive(t, got))
	s.Notify(notification("news"))
	assert.Equal(t, "news", receive(t, got))
}

func TestHTTPCloseEndsEverything(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	url := listen(t, s)
	require.NoError(t, s.Close())
	_, err := post(t, url, listTools)
	assert.ErrorIs(t, err, io.EOF)
	assert.Empty(t, s.Requests())
}

// The handler needs no flusher and no connection for what is answered whole.
func TestHTTPRecorder(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	badserver.New(badserver.Script{}).ServeHTTP(recorder, request)
	assert.Equal(t, 200, recorder.Code)
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, recorder.Body.String())
}

func openStream(t *testing.T, url string) *bufio.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(soon(t), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := httpClient(t).Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(t, 200, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	return bufio.NewReader(response.Body)
}

func nextLine(t *testing.T, stream *bufio.Reader) string {
	t.Helper()
	line, err := stream.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(line, "\n")
}

func ptr[T any](v T) *T { return &v }
