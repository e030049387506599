package wire_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// answersTo are bodies to the request 2, and the id that they are refused for.
var answersTo = map[string]struct{ body, got string }{
	"its own":                          {`{"jsonrpc":"2.0","id":2,"result":{}}`, ""},
	"its own, at the end":              {`{"result":{"id":9,"x":"\"id\":9,\\"},"jsonrpc":"2.0","id":2}`, ""},
	"its own, spelt otherwise":         {`{"ID":2.0,"result":{}}`, ""},
	"its own, the last of two":         {`{"id":9,"result":{},"id":2}`, ""},
	"an error without an id":           {`{"id":null,"error":{"code":-32700,"message":"?"}}`, ""},
	"an error that has none":           {`{"error":{"code":-32700,"message":"?"}}`, ""},
	"something else":                   {`{"message":"unavailable"}`, ""},
	"one that breaks off":              {`{"id":9,"result":{"id":9`, ""},
	"an array":                         {`[{"id":9,"result":{}}]`, ""},
	"no JSON":                          {`<html id="9">`, ""},
	"an id that is none":               {`{"id":{"id":9},"result":{}}`, ""},
	"another":                          {`{"jsonrpc":"2.0","id":999999,"result":{}}`, "999999"},
	"another, at the end":              {`{"result":{"id":2},"id":9}`, "9"},
	"another, after a long result":     {`{"result":"` + strings.Repeat("x", 200<<10) + `","id":9}`, "9"},
	"another, spelt otherwise":         {`{"\u0069D":9,"result":{}}`, "9"},
	"the text of its own":              {`{"id":"2","result":{}}`, `"2"`},
	"the error of another":             {`{"id":"server-error","error":{"code":-32601,"message":"Method not found"}}`, `"server-error"`},
	"another, longer than any id":      {`{"id":"` + strings.Repeat("2", 1<<10) + `","result":{}}`, `"` + strings.Repeat("2", 127)},
	"another, with a comma in its id":  {`{"id":"a,b:{c}","result":{}}`, `"a,b:{c}"`},
	"another, with a quote in its id":  {`{"id":"a\"b","result":{}}`, `"a\"b"`},
	"another, with space around it":    {" {\r\n \"id\" : 9 , \"result\" : {} }\n", "9"},
	"another, where its own is nested": {`{"params":{"id":2},"id":9,"result":[{"id":2}]}`, "9"},
}

func TestTheAnswerToAnotherRequestIsAnError(t *testing.T) {
	t.Parallel()
	for name, test := range answersTo {
		for framing, frame := range map[string]func(string) answer{
			"JSON": func(body string) answer { return said(200, body) },
			"an event": func(body string) answer {
				return said(200, ": hello\n\ndata: "+oneLine(body)+"\r\n\r\n").with("Content-Type", "text/event-stream")
			},
			"an event, not ended": func(body string) answer {
				return said(200, "data: "+oneLine(body)).with("Content-Type", "text/event-stream")
			},
		} {
			for pace, read := range map[string]func(io.Reader) io.Reader{"at once": nil, "byte by byte": iotest.OneByteReader, "with the end": iotest.DataErrReader} {
				t.Run(name+" as "+framing+" "+pace, func(t *testing.T) {
					t.Parallel()
					a := frame(test.body)
					whole, _ := io.ReadAll(a.body)
					a.body = strings.NewReader(string(whole))
					if read != nil {
						a.body = read(a.body)
					}
					resp, _, err := a.roundTrip(streamablePost(t, callTwo))
					require.NoError(t, err)
					got, err := io.ReadAll(resp.Body)
					if test.got == "" {
						require.NoError(t, err)
						assert.Equal(t, string(whole), string(got), "every byte passes")
						return
					}
					var mismatch *wire.MismatchError
					require.ErrorAs(t, err, &mismatch)
					assert.Equal(t, wire.MismatchError{Sent: "2", Got: test.got}, *mismatch)
					assert.NotContains(t, string(got), oneLine(test.body)+"\n", "no whole answer has passed")
					_, again := resp.Body.Read(make([]byte, 1))
					assert.Equal(t, err, again, "and it stays so")
				})
			}
		}
	}
}

func oneLine(body string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(body) }

// Where the connection is all there is to pair by, as with the id "server-error" of
// the Python SDK.
func TestTheErrorUnderAFailuresStatusAnswersWhateverItsID(t *testing.T) {
	t.Parallel()
	body := answersTo["the error of another"].body
	resp, _, err := said(400, body).roundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	assert.Equal(t, body, readAndClose(t, resp))
}

func TestAnEventStreamHasMoreThanTheAnswer(t *testing.T) {
	t.Parallel()
	const (
		asked = `data: {"jsonrpc":"2.0","id":9,"method":"roots/list"}` + "\n\n"
		own   = `data: {"jsonrpc":"2.0","id":2,"result":{}}` + "\n\n"
		other = `data: {"jsonrpc":"2.0","id":9,"result":{}}` + "\n\n"
	)
	for name, test := range map[string]struct {
		stream string
		passes int
	}{
		"what the server asks":         {asked + "data: " + progress + "\n\n" + own, -1},
		"another answer after its own": {own + other, -1},
		"another answer before":        {asked + other + own, len(asked)},
		"an answer in two lines":       {"data: {\"id\":9,\ndata: \"result\":{}}\n\n", 0},
		"an answer without a space":    {strings.ReplaceAll(other, ": ", ":"), 0},
		"other fields":                 {"id: 1\nevent: message\nretry: 9\n" + own, -1},
	} {
		resp, _, err := said(200, test.stream).with("Content-Type", "text/event-stream").roundTrip(streamablePost(t, callTwo))
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		if test.passes < 0 {
			require.NoError(t, err, name)
			assert.Equal(t, test.stream, string(got), name)
			continue
		}
		var mismatch *wire.MismatchError
		require.ErrorAs(t, err, &mismatch, name)
		assert.True(t, strings.HasPrefix(test.stream, string(got)), name)
		assert.GreaterOrEqual(t, len(got), test.passes, name)
	}
}

func TestNobodyComparesWhatIsNoAnswerToARequest(t *testing.T) {
	t.Parallel()
	body := answersTo["another"].body
	for name, req := range map[string]*http.Request{
		"a notification": streamablePost(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		"a POST of SSE":  legacyPost(t, callTwo),
		"a GET":          request(t, http.MethodGet, "http://server.example/mcp", ""),
	} {
		resp, _, err := said(200, body).roundTrip(req)
		require.NoError(t, err, name)
		assert.Equal(t, body, readAndClose(t, resp), name)
	}
}

// mcp-go v1.2.1 takes any answer for the one to its request.
func TestTheAnswerToAnotherRequestIsNamedThroughMCPGo(t *testing.T) {
	t.Parallel()
	const foreign = `{"jsonrpc":"2.0","id":999999,"result":{"resultType":"complete","prompts":[{"name":"stolen"}]}}`
	for name, stranger := range map[string]reply{"JSON": says(200, foreign), "an event": streams(200, "data: "+foreign+"\n\n")} {
		for _, era := range eras {
			t.Run(name+" "+era, func(t *testing.T) {
				t.Parallel()
				plain, wired := plainAndWired(t, era, &script{replies: map[string]reply{"prompts/list": stranger}})
				stolen, err := plain.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
				require.NoError(t, err)
				require.Len(t, stolen.Prompts, 1)
				ctx, exchange := wire.WithExchange(t.Context())
				_, err = wired.ListPrompts(ctx, mcp.ListPromptsRequest{})
				require.Error(t, err)
				var mismatch *wire.MismatchError
				require.ErrorAs(t, exchange.Failure(), &mismatch)
				assert.Equal(t, "the server answered request 999999 instead of 2", mismatch.Error())
				if name == "JSON" {
					require.ErrorIs(t, err, error(mismatch))
				}
				_, err = wired.ListTools(ctx, mcp.ListToolsRequest{})
				require.NoError(t, err, "and the connection lives on")
				assert.NoError(t, exchange.Failure())
			})
		}
	}
}

func TestAHookHearsResultsOverAnyHTTPTransport(t *testing.T) {
	t.Parallel()
	long := `{"prompts":[{"name":"` + strings.Repeat("x", 200<<10) + `"}],"resultType":"complete"}`
	const refused = `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32055,"message":"quota","data":{"left":9007199254740993}}}`
	for name, frame := range map[string]func(string) reply{
		"JSON":     func(body string) reply { return says(200, body) },
		"an event": func(body string) reply { return streams(200, "data: "+body+"\n\n") },
	} {
		for _, era := range eras {
			_, wired := plainAndWired(t, era, &script{replies: map[string]reply{
				"prompts/list": frame(`{"result":` + long + `,"jsonrpc":"2.0","id":$ID}`), "tools/list": frame(refused),
			}})
			ctx, exchange := wire.WithExchange(t.Context())
			var heard []string
			exchange.Hook(wire.Hooks{Result: func(method string, result json.RawMessage) json.RawMessage {
				heard = append(heard, method+" "+string(result))
				return json.RawMessage(`nothing takes its place`)
			}})
			prompts, err := wired.ListPrompts(ctx, mcp.ListPromptsRequest{})
			require.NoError(t, err)
			assert.Len(t, prompts.Prompts, 1)
			_, err = wired.ListTools(ctx, mcp.ListToolsRequest{})
			require.Error(t, err)
			assert.Equal(t, []string{"prompts/list " + long}, heard, name+" "+era)
			refusal, _ := exchange.Refusal()
			assert.Equal(t, wire.Refusal{Code: -32055, Message: "quota", Data: json.RawMessage(`{"left":9007199254740993}`)}, refusal)
		}
	}
}

func TestATooLargeEventIsNamedByTheExchange(t *testing.T) {
	t.Parallel()
	large := streams(200, `data: {"jsonrpc":"2.0","id":$ID,"result":{"tools":[],"x":"`+strings.Repeat("x", 4<<10)+"\"}}\n\n")
	base := network{"server.example": listen(t, &script{replies: map[string]reply{"tools/list": large}})}.base(t)
	ctx, exchange := wire.WithExchange(t.Context())
	_, err := dial(t, mcp.ProtocolVersion20260728, &wire.Transport{Base: base, MaxBody: 1 << 10}).ListTools(ctx, mcp.ListToolsRequest{})
	require.Error(t, err)
	_, named := errors.AsType[*wire.BodyTooLargeError](exchange.Failure())
	assert.True(t, named)
}
