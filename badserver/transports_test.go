package badserver_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

func TestLegacyHandshake(t *testing.T) {
	t.Parallel()
	script := badserver.Script{
		Protocol: "2025-03-26", Name: "n", Version: "v", Instructions: "be careful",
		Capabilities: json.RawMessage(`{"tools":{},"resources":null,"prompts":{"listChanged":true}}`),
	}
	each(t, script, everywhere, func(t *testing.T, w wire, s *badserver.Server, c *client.Client) {
		result := initialize(t, c)
		assert.Equal(t, "2025-03-26", result.ProtocolVersion)
		assert.Equal(t, mcp.Implementation{Name: "n", Version: "v"}, result.ServerInfo)
		assert.Equal(t, "be careful", result.Instructions)
		assert.NotNil(t, result.Capabilities.Tools)
		assert.Nil(t, result.Capabilities.Resources, "null is no advertisement")
		require.NotNil(t, result.Capabilities.Prompts)
		assert.True(t, result.Capabilities.Prompts.ListChanged)
		require.NoError(t, c.Ping(soon(t)))
		assert.Equal(t,
			[]string{"server/discover", "initialize", "notifications/initialized", "ping"},
			withoutHTTP(s.Requests()))
		for _, request := range s.Requests() {
			assert.Equal(t, w.name, request.Transport)
		}
	})
}

func TestModernHandshake(t *testing.T) {
	t.Parallel()
	script := badserver.Script{
		Protocol: "2026-07-28", Name: "n", Version: "v", Instructions: "be careful",
		Capabilities: json.RawMessage(`{"resources":{}}`),
		Answers:      on("resources/list", badserver.Resources("x://1")),
	}
	each(t, script, everywhere, func(t *testing.T, _ wire, s *badserver.Server, c *client.Client) {
		result := initialize(t, c)
		assert.Equal(t, "2026-07-28", result.ProtocolVersion)
		assert.Equal(t, mcp.Implementation{Name: "n", Version: "v"}, result.ServerInfo)
		assert.Equal(t, "be careful", result.Instructions)
		assert.NotNil(t, result.Capabilities.Resources)
		assert.Nil(t, result.Capabilities.Tools)
		resources, err := c.ListResources(soon(t), mcp.ListResourcesRequest{})
		require.NoError(t, err)
		assert.Equal(t, "x://1", resources.Resources[0].URI)
		assert.Equal(t, []string{"server/discover", "resources/list"}, withoutHTTP(s.Requests()))
	})
}

func TestZeroScriptIsAnHonestServerWithNothing(t *testing.T) {
	t.Parallel()
	each(t, badserver.Script{}, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		result := initialize(t, c)
		assert.Equal(t, "2025-06-18", result.ProtocolVersion)
		assert.Equal(t, mcp.Implementation{Name: "badserver", Version: "0"}, result.ServerInfo)
		assert.Equal(t, mcp.ServerCapabilities{}, result.Capabilities)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		assert.ErrorIs(t, err, mcp.ErrMethodNotFound)
	})
}

func TestListConstructorsAreReadByAClient(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: map[string][]badserver.Answer{
		"tools/list":               {badserver.Tools("a", "b")},
		"resources/list":           {badserver.Resources("x://1")},
		"resources/templates/list": {badserver.ResourceTemplates("x://{id}")},
		"prompts/list":             {badserver.Prompts("p")},
	}}
	each(t, script, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		tools, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, toolNames(tools.Tools))
		assert.Equal(t, "object", tools.Tools[0].InputSchema.Type)
		resources, err := c.ListResources(soon(t), mcp.ListResourcesRequest{})
		require.NoError(t, err)
		assert.Equal(t, "x://1", resources.Resources[0].Name)
		templates, err := c.ListResourceTemplates(soon(t), mcp.ListResourceTemplatesRequest{})
		require.NoError(t, err)
		assert.Equal(t, "x://{id}", templates.ResourceTemplates[0].URITemplate.Raw())
		prompts, err := c.ListPrompts(soon(t), mcp.ListPromptsRequest{})
		require.NoError(t, err)
		assert.Equal(t, "p", prompts.Prompts[0].Name)
	})
}

func TestCursorSelectsThePage(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list",
		badserver.Tools("b").AtCursor("p2").WithNext("p3"),
		badserver.Tools("a").AtCursor("").WithNext("p2"),
		badserver.Fail(-32601, "no such page"),
	)}
	each(t, script, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		page := func(cursor mcp.Cursor) (*mcp.ListToolsResult, error) {
			var request mcp.ListToolsRequest
			request.Params.Cursor = cursor
			return c.ListToolsByPage(soon(t), request)
		}
		first, err := page("")
		require.NoError(t, err)
		assert.Equal(t, []string{"a"}, toolNames(first.Tools))
		second, err := page(first.NextCursor)
		require.NoError(t, err)
		assert.Equal(t, []string{"b"}, toolNames(second.Tools))
		_, err = page(second.NextCursor)
		assert.ErrorIs(t, err, mcp.ErrMethodNotFound)
		assert.ErrorContains(t, err, "no such page")
	})
}

func TestTimesUsesAnAnswerUp(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list",
		badserver.Fail(-32603, "warming up").Once(), badserver.Tools("a").Once())}
	each(t, script, everywhere, func(t *testing.T, _ wire, s *badserver.Server, c *client.Client) {
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		assert.ErrorIs(t, err, mcp.ErrInternalError)
		tools, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.NoError(t, err)
		assert.Equal(t, []string{"a"}, toolNames(tools.Tools))
		_, err = c.ListTools(soon(t), mcp.ListToolsRequest{})
		assert.ErrorIs(t, err, mcp.ErrMethodNotFound, "all used up: the built-in behaviour")
		assert.Equal(t, 3, s.Count("tools/list"))
	})
}

func TestErrorTextIsABareString(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Answer{ErrorText: "cursor_invalid"})}
	each(t, script, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		assert.ErrorIs(t, err, mcp.ErrInternalError)
		assert.ErrorContains(t, err, "cursor_invalid")
	})
}

func TestUnsupportedNamesTheOlderVersions(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Unsupported())}
	wires := []wire{overHTTP, overStdio, overInprocess}
	each(t, script, wires, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		var unsupported mcp.UnsupportedProtocolVersionError
		require.ErrorAs(t, err, &unsupported)
		assert.Equal(t, "2026-07-28", unsupported.Version)
		assert.Equal(t, mcp.LegacyProtocolVersions(), unsupported.Supported)
	})
}

// A server that says it is modern and then refuses modern requests, but works
// for a client that starts again with an older version.
func TestProtocolSelectsTheEra(t *testing.T) {
	t.Parallel()
	refuse := badserver.Unsupported()
	refuse.Protocol = "2026-07-28"
	script := badserver.Script{Answers: map[string][]badserver.Answer{
		"server/discover": {badserver.Result(map[string]any{
			"supportedVersions": []string{"2026-07-28"}, "capabilities": map[string]any{"tools": map[string]any{}},
		})},
		"tools/list": {refuse, badserver.Tools("a")},
	}}
	each(t, script, []wire{overHTTP, overInprocess}, func(t *testing.T, w wire, s *badserver.Server, c *client.Client) {
		assert.Equal(t, "2026-07-28", initialize(t, c).ProtocolVersion)
		for range 2 {
			_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
			assert.True(t, mcp.IsUnsupportedProtocolVersion(err), "%v", err)
		}
		older := start(t, w.dial(t, s), client.WithProtocolVersion("2025-11-25"))
		initialize(t, older)
		tools, err := older.ListTools(soon(t), mcp.ListToolsRequest{})
		require.NoError(t, err)
		assert.Equal(t, []string{"a"}, toolNames(tools.Tools))
	})
}

func TestStarStandsForUnknownMethodsOnly(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: map[string][]badserver.Answer{
		"tools/list": {badserver.Tools("a")},
		"*":          {badserver.Fail(-32602, "Invalid request parameters")},
	}}
	each(t, script, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		require.NoError(t, c.Ping(soon(t)))
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.NoError(t, err)
		_, err = c.ListResources(soon(t), mcp.ListResourcesRequest{})
		assert.ErrorIs(t, err, mcp.ErrInvalidParams)
	})
}

func TestAnswerWithoutPayloadKeepsTheBuiltInHandshake(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Name: "n", Answers: on("initialize",
		badserver.Answer{Before: []json.RawMessage{notification("notifications/tools/list_changed")}})}
	each(t, script, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		got := heard(c)
		assert.Equal(t, "n", initialize(t, c).ServerInfo.Name)
		assert.Equal(t, "notifications/tools/list_changed", receive(t, got))
	})
}

func TestAnswerWithoutPayloadIsAnEmptyObjectOtherwise(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Answer{})}
	each(t, script, everywhere, func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		tools, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.NoError(t, err)
		assert.Nil(t, tools.Tools)
	})
}

func TestBeforeComesInOrderAndFirst(t *testing.T) {
	t.Parallel()
	list := badserver.Tools("a")
	list.Before = []json.RawMessage{notification("one"), notification("two")}
	each(t, badserver.Script{Answers: on("tools/list", list)}, everywhere,
		func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
			initialize(t, c)
			got := heard(c)
			_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
			require.NoError(t, err)
			require.Len(t, got, 2, "both were there before the result")
			assert.Equal(t, "one", <-got)
			assert.Equal(t, "two", <-got)
		})
}

func TestAfterComesAfterTheAnswer(t *testing.T) {
	t.Parallel()
	list := badserver.Tools("a")
	list.After = []json.RawMessage{notification("later")}
	// A streamable HTTP client leaves once it has its answer: see http_test.go.
	wires := []wire{overSSE, overStdio, overInprocess}
	each(t, badserver.Script{Answers: on("tools/list", list)}, wires,
		func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
			initialize(t, c)
			got := heard(c)
			_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
			require.NoError(t, err)
			assert.Equal(t, "later", receive(t, got))
		})
}

func TestNotifyReachesOpenConnections(t *testing.T) {
	t.Parallel()
	wires := []wire{overSSE, overStdio, overInprocess}
	each(t, badserver.Script{}, wires, func(t *testing.T, w wire, s *badserver.Server, c *client.Client) {
		initialize(t, c)
		other := start(t, w.dial(t, s))
		initialize(t, other)
		got, gotToo := heard(c), heard(other)
		s.Notify(json.RawMessage("{\"jsonrpc\":\"2.0\",\n\"method\":\"news\"}"))
		assert.Equal(t, "news", receive(t, got))
		assert.Equal(t, "news", receive(t, gotToo))
	})
}

func TestDelayIsSilence(t *testing.T) {
	t.Parallel()
	late := badserver.Tools("a")
	late.Delay = badserver.Duration(time.Hour)
	each(t, badserver.Script{Answers: on("tools/list", late)}, everywhere,
		func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
			initialize(t, c)
			_, err := c.ListTools(brief(t), mcp.ListToolsRequest{})
			assert.ErrorIs(t, err, context.Canceled)
		})
}

func TestDelayEndsWithTheAnswer(t *testing.T) {
	t.Parallel()
	const pause = 30 * time.Millisecond
	late := badserver.Tools("a")
	late.Delay = badserver.Duration(pause)
	each(t, badserver.Script{Answers: on("tools/list", late)}, everywhere,
		func(t *testing.T, _ wire, _ *badserver.Server, c *client.Client) {
			initialize(t, c)
			began := time.Now()
			tools, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
			require.NoError(t, err)
			assert.Equal(t, []string{"a"}, toolNames(tools.Tools))
			assert.GreaterOrEqual(t, time.Since(began), pause)
		})
}

func TestHangHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Answer{Hang: true})}
	each(t, script, everywhere, func(t *testing.T, _ wire, s *badserver.Server, c *client.Client) {
		initialize(t, c)
		ctx, cancel := context.WithCancel(soon(t))
		failed := make(chan error, 1)
		go func() {
			_, err := c.ListTools(ctx, mcp.ListToolsRequest{})
			failed <- err
		}()
		require.NoError(t, s.Await(soon(t), "tools/list", 1))
		require.NoError(t, c.Ping(soon(t)))
		require.Empty(t, failed, "still hanging")
		cancel()
		assert.ErrorIs(t, receive(t, failed), context.Canceled)
	})
}

func TestCloseReleasesWhatHangs(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Answer{Hang: true})}
	// An SSE client does not notice that its stream is gone: see sse_test.go.
	wires := []wire{overHTTP, overStdio, overInprocess}
	each(t, script, wires, func(t *testing.T, _ wire, s *badserver.Server, c *client.Client) {
		initialize(t, c)
		failed := make(chan error, 1)
		go func() {
			_, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
			failed <- err
		}()
		require.NoError(t, s.Await(soon(t), "tools/list", 1))
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "again")
		assert.Error(t, receive(t, failed))
		assert.Error(t, c.Ping(soon(t)))
	})
}

func TestUndecodableBody(t *testing.T) {
	t.Parallel()
	html := "<html>\nlogin"
	script := badserver.Script{Answers: on("tools/list", badserver.Answer{Body: &html})}
	each(t, script, everywhere, func(t *testing.T, w wire, _ *badserver.Server, c *client.Client) {
		initialize(t, c)
		if w.name == "http" || w.name == "inprocess" {
			var syntax *json.SyntaxError
			_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
			assert.ErrorAs(t, err, &syntax)
		} else { // skipped by the client, which goes on waiting
			_, err := c.ListTools(brief(t), mcp.ListToolsRequest{})
			assert.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, c.Ping(soon(t)))
	})
}

func TestAnswerToAnotherID(t *testing.T) {
	t.Parallel()
	stray := badserver.Tools("a")
	stray.ID = json.RawMessage(`"server-error"`)
	each(t, badserver.Script{Answers: on("tools/list", stray)}, everywhere,
		func(t *testing.T, w wire, _ *badserver.Server, c *client.Client) {
			initialize(t, c)
			if w.name == "http" || w.name == "inprocess" { // there the call is the pairing
				_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
				assert.NoError(t, err)
			} else {
				_, err := c.ListTools(brief(t), mcp.ListToolsRequest{})
				assert.ErrorIs(t, err, context.Canceled)
			}
		})
}

func TestCut(t *testing.T) {
	t.Parallel()
	broken := badserver.Tools("a")
	broken.Cut = true
	script := badserver.Script{Answers: on("tools/list", broken)}
	t.Run("http: half of the body, then another connection works", func(t *testing.T) {
		t.Parallel()
		c := start(t, dialHTTP(t, badserver.New(script)))
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NoError(t, c.Ping(soon(t)))
	})
	t.Run("stdio: Serve returns nil", func(t *testing.T) {
		t.Parallel()
		tr, result := serve(t, badserver.New(script))
		c := start(t, tr)
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.ErrorIs(t, err, transport.ErrTransportClosed)
		require.NoError(t, receive(t, result))
	})
	t.Run("sse: the stream breaks, the POST was fine", func(t *testing.T) {
		t.Parallel()
		c := start(t, dialSSE(t, badserver.New(script)))
		lost := make(chan error, 1)
		c.OnConnectionLost(func(err error) { lost <- err })
		initialize(t, c)
		ctx, cancel := context.WithCancel(soon(t))
		failed := make(chan error, 1)
		go func() {
			_, err := c.ListTools(ctx, mcp.ListToolsRequest{})
			failed <- err
		}()
		assert.ErrorIs(t, receive(t, lost), io.ErrUnexpectedEOF)
		cancel()
		assert.ErrorIs(t, receive(t, failed), context.Canceled)
	})
	t.Run("inprocess: this call fails, the next works", func(t *testing.T) {
		t.Parallel()
		c := start(t, dialInprocess(t, badserver.New(script)))
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NoError(t, c.Ping(soon(t)))
	})
}

func TestExit(t *testing.T) {
	t.Parallel()
	script := badserver.Script{Answers: on("tools/list", badserver.Answer{Exit: true})}
	gone := func(t *testing.T, c *client.Client) error {
		t.Helper()
		initialize(t, c)
		_, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
		require.Error(t, err)
		require.Error(t, c.Ping(brief(t)), "nobody is there any more")
		return err
	}
	t.Run("http: no later request is answered", func(t *testing.T) {
		t.Parallel()
		s := badserver.New(script)
		url := listen(t, s)
		tr, err := transport.NewStreamableHTTP(url, transport.WithHTTPBasicClient(httpClient(t)), transport.WithHTTPLogger(quiet))
		require.NoError(t, err)
		assert.ErrorIs(t, gone(t, start(t, tr)), io.EOF)
		_, err = post(t, url, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		assert.ErrorIs(t, err, io.EOF)
	})
	t.Run("sse", func(t *testing.T) {
		t.Parallel()
		s := badserver.New(script)
		c := start(t, dialSSE(t, s))
		lost := make(chan error, 1)
		c.OnConnectionLost(func(err error) { lost <- err })
		assert.ErrorIs(t, gone(t, c), io.EOF)
		assert.Error(t, receive(t, lost), "the streams are gone too")
	})
	t.Run("stdio: ErrExit", func(t *testing.T) {
		t.Parallel()
		s := badserver.New(script)
		tr, result := serve(t, s)
		assert.ErrorIs(t, gone(t, start(t, tr)), transport.ErrTransportClosed)
		require.ErrorIs(t, receive(t, result), badserver.ErrExit)
		initialize(t, start(t, dialStdio(t, s)))
	})
	t.Run("inprocess: a new connection is a new start", func(t *testing.T) {
		t.Parallel()
		s := badserver.New(script)
		assert.ErrorIs(t, gone(t, start(t, dialInprocess(t, s))), transport.ErrTransportClosed)
		initialize(t, start(t, dialInprocess(t, s)))
	})
}

func TestRequestsSayWhatWasReceived(t *testing.T) {
	t.Parallel()
	each(t, badserver.Script{}, everywhere, func(t *testing.T, w wire, s *badserver.Server, c *client.Client) {
		initialize(t, c)
		var request mcp.ListToolsRequest
		request.Params.Cursor = "p9"
		_, err := c.ListToolsByPage(soon(t), request)
		require.Error(t, err)
		requests := s.Requests()
		note, last := requests[len(requests)-2], requests[len(requests)-1]
		assert.True(t, note.Notification)
		assert.Nil(t, note.ID)
		assert.False(t, last.Notification)
		assert.Equal(t, "tools/list", last.Method)
		assert.JSONEq(t, "3", string(last.ID))
		assert.JSONEq(t, `{"cursor":"p9"}`, string(last.Params))
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"p9"}}`, string(last.Message))
		assert.Equal(t, w.name == "http" || w.name == "sse", last.Header != nil)
		if w.name != "http" {
			assert.NotEmpty(t, last.Connection)
			assert.Equal(t, note.Connection, last.Connection)
		}
	})
}

// withoutHTTP leaves out what a transport needs to get started.
func withoutHTTP(requests []badserver.Request) []string {
	var out []string
	for _, method := range methods(requests) {
		if method != "GET" {
			out = append(out, method)
		}
	}
	return out
}
