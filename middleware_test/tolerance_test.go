package middleware_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAcceptance is the rule of tolerance, seen by a user of the default
// chain, on a protocol version of each era.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		t.Run("resources/list -32601 after resources was advertised: initialises, no resources, one WARN", func(t *testing.T) {
			t.Parallel()
			isForgiven(t, era, resources)
		})
		t.Run("the same for prompts/list", func(t *testing.T) {
			t.Parallel()
			isForgiven(t, era, prompts)
		})
		t.Run("the same for resources/templates/list", func(t *testing.T) {
			t.Parallel()
			isForgiven(t, era, templates)
		})
		t.Run("tools/list -32601: an error that is ErrMethodNotFound and a ContradictionError", func(t *testing.T) {
			t.Parallel()
			for way, ask := range tools.both() {
				var log mcptest.Journal
				got, err := ask(t.Context(), tools.promising(unknownMethod).connect(t, era, middleware.Default(log.Logger(), nil)))
				assert.Nil(t, got, way)
				require.ErrorIs(t, err, mcp.ErrMethodNotFound, way)
				var broken *middleware.ContradictionError
				require.ErrorAs(t, err, &broken, way)
				assert.Equal(t, middleware.Contradiction{
					Event: "capability_contradiction", Capability: "tools", Method: "tools/list", Code: -32601, Message: "Unknown method",
					ServerName: "acme", ServerVersion: "1.2.3", ProtocolVersion: era,
				}, broken.Contradiction)
				assert.Equal(t, []string{"WARN"}, log.Levels(events.Contradiction), way)
			}
		})
		t.Run("any other JSON-RPC error from a list is an error", func(t *testing.T) {
			t.Parallel()
			for _, code := range []int{-32700, -32600, -32602, -32603, -32800, -32000, -32001, -32002, -32099, 0, 1, 404, 32601, -32022} {
				isTheError(t, era, fault{code, "no"})
				isTheError(t, era, fault{code, "Method not found"})
				isTheError(t, era, fault{code, "method not found: -32601"})
			}
		})
		t.Run("a time-out from a list is an error", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				synctest.Test(t, func(t *testing.T) {
					var log mcptest.Journal
					c := l.promising(hang{}).connect(t, era, middleware.Default(log.Logger(), nil))
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					got, err := l.whole(ctx, c)
					assert.Nil(t, got, l.method)
					require.ErrorIs(t, err, context.DeadlineExceeded, l.method)
					assert.Empty(t, log.Levels(events.Contradiction))
				})
			}
		})
		t.Run("a cancellation of a list is an error", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				synctest.Test(t, func(t *testing.T) {
					var log mcptest.Journal
					c := l.promising(hang{}).connect(t, era, middleware.Default(log.Logger(), nil))
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Second, cancel)
					got, err := l.whole(ctx, c)
					assert.Nil(t, got, l.method)
					require.ErrorIs(t, err, context.Canceled, l.method)
					assert.Equal(t, "DEBUG", log.Loudest(), "whoever cancels knows it")
				})
			}
		})
		t.Run("a transport error from a list is an error", func(t *testing.T) {
			t.Parallel()
			isTheError(t, era, errBroken)
			isTheError(t, era, transport.ErrSessionTerminated)
			isTheError(t, era, fmt.Errorf("HTTP 404: Method not found"))
		})
		t.Run("a body that cannot be decoded is an error", func(t *testing.T) {
			t.Parallel()
			for _, body := range []string{`"Method not found"`, `[]`, `7`, ``, `{"tools":{},"resources":{},"resourceTemplates":{},"prompts":{}}`} {
				isTheError(t, era, body)
			}
		})
		t.Run("the WARN is never an ERROR", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				for _, answer := range []any{unknownMethod, "{}", fault{-32603, "no"}, errBroken} {
					var log mcptest.Journal
					_, _ = l.whole(t.Context(), l.promising(answer).connect(t, era, middleware.Default(log.Logger(), nil)))
					assert.Equal(t, "WARN", log.Loudest(), "%s %v", l.method, answer)
				}
			}
		})
		t.Run("-32601 where the capability was not advertised is the error, unchanged", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				for _, capabilities := range []string{"{}", `{"completions":{},"logging":{},"experimental":{"x":{}}}`, all(but(l.capability))} {
					s := l.promising(unknownMethod)
					s.capabilities = capabilities
					sameAsDirect(t, era, s, l)
				}
			}
		})
		t.Run("-32601 when no handshake is known", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				var log mcptest.Journal
				inner := client.NewClient(l.promising(unknownMethod), client.WithSession(), client.WithProtocolVersion(era))
				require.NoError(t, inner.Start(t.Context()))
				for way, ask := range l.both() {
					_, want := ask(t.Context(), inner)
					got, err := ask(t.Context(), mcpclient.Wrap(inner, middleware.Default(log.Logger(), nil)))
					assert.Nil(t, got, way)
					assert.Equal(t, want, err, way)
					assert.Empty(t, log.Levels(events.Contradiction))
				}
			}
		})
		t.Run("-32601 on page 2 is an error that carries page 1", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				for chain, m := range map[string]func(*mcptest.Journal) mcpclient.Middleware{
					"with Pages":    func(log *mcptest.Journal) mcpclient.Middleware { return middleware.Default(log.Logger(), nil) },
					"without Pages": func(log *mcptest.Journal) mcpclient.Middleware { return middleware.Tolerance(log.Logger(), nil) },
				} {
					var log mcptest.Journal
					s := l.promising(l.of("2", "a", "b"))
					s.answers[l.method+" 2"] = unknownMethod
					got, err := l.whole(t.Context(), s.connect(t, era, m(&log)))
					assert.Nil(t, got)
					require.ErrorIs(t, err, mcp.ErrMethodNotFound)
					assert.Equal(t, names{"a", "b"}, received(t, err), "%s %s", l.method, chain)
					assert.Empty(t, log.Levels(events.Contradiction))
				}
			}
		})
		t.Run("-32601 on a page that the caller asked for by its cursor is the error, unchanged", func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			s := resources.promising(resources.of("2", "a"))
			s.answers["resources/list 2"] = unknownMethod
			request := mcp.ListResourcesRequest{}
			request.Params.Cursor = "2"
			_, want := s.direct(t, era).ListResourcesByPage(t.Context(), request)
			require.Error(t, want)
			c := s.connect(t, era, middleware.Default(log.Logger(), nil))
			_, err := c.ListResourcesByPage(t.Context(), request)
			assert.Equal(t, want, err)
			_, err = c.ListResources(t.Context(), request)
			assert.Equal(t, want, err)
			assert.Empty(t, log.Levels(events.Contradiction))
		})
		t.Run("null capability is no advertisement, {} is", func(t *testing.T) {
			t.Parallel()
			for _, l := range []list{resources, templates, prompts} {
				s := l.promising(unknownMethod)
				s.capabilities = fmt.Sprintf(`{%q:null}`, l.capability)
				sameAsDirect(t, era, s, l)
				for _, object := range []string{`{}`, `{"listChanged":false}`, `{"subscribe":false,"unknown":1}`} {
					s.capabilities = fmt.Sprintf(`{%q:%s}`, l.capability, object)
					got, err := l.whole(t.Context(), s.connect(t, era, middleware.Default(nil, nil)))
					require.NoError(t, err)
					assert.Equal(t, names{}, got)
				}
			}
		})
		t.Run("a list that decodes to nothing is malformed", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				for _, body := range []string{`{}`, `null`, fmt.Sprintf(`{%q:null}`, l.member), `{"error":{"code":-32601,"message":"Method not found"}}`} {
					isMalformed(t, era, l, body)
				}
			}
		})
		t.Run("an empty list is one", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				for way, ask := range l.both() {
					var log mcptest.Journal
					got, err := ask(t.Context(), l.promising(l.of("")).connect(t, era, middleware.Default(log.Logger(), nil)))
					require.NoError(t, err, way)
					assert.Equal(t, names{}, got, way)
					assert.Equal(t, "DEBUG", log.Loudest())
				}
			}
		})
		t.Run("a list with entries is untouched", func(t *testing.T) {
			t.Parallel()
			for _, l := range lists {
				var log mcptest.Journal
				s := l.promising(l.of("2", "a"))
				s.answers[l.method+" 2"] = l.of("", "b")
				got, err := l.whole(t.Context(), s.connect(t, era, middleware.Default(log.Logger(), nil)))
				require.NoError(t, err)
				assert.Equal(t, names{"a", "b"}, got)
				assert.Equal(t, "DEBUG", log.Loudest())
			}
		})
	})
}

// isForgiven is what the caller sees of a contradiction that is forgiven.
func isForgiven(t *testing.T, era string, l list) {
	t.Helper()
	for way, ask := range l.both() {
		var log mcptest.Journal
		s := l.promising(unknownMethod)
		c := s.connect(t, era, middleware.Default(log.Logger().With("backendID", "acme-1"), nil))

		got, err := ask(t.Context(), c)

		require.NoError(t, err, way)
		assert.Equal(t, names{}, got, "%s: an empty list, not a nil one", way)
		assert.Equal(t, []string{l.method}, s.requests(), way)
		var said []mcptest.Record
		for _, r := range log.Take() {
			if r["level"] != "DEBUG" {
				said = append(said, r)
			}
		}
		require.Len(t, said, 1, way)
		said[0].HasOnly(t, map[string]any{
			"level": "WARN", "event": "capability_contradiction", "backendID": "acme-1",
			"msg":        fmt.Sprintf("the server advertises %s, but answers %s with -32601 %q", l.capability, l.method, "Unknown method"),
			"capability": l.capability, "method": l.method, "code": -32601.0, "serverMessage": "Unknown method",
			"serverName": "acme", "serverVersion": "1.2.3", "protocolVersion": era,
		})

		_, err = c.CallTool(t.Context(), mcp.CallToolRequest{})
		require.NoError(t, err, "%s: the tools are still there", way)
	}
}

// isTheError asserts that each list gives exactly the error that mcp-go gives
// without a chain, and that nobody speaks of a contradiction.
func isTheError(t *testing.T, era string, answer any) {
	t.Helper()
	for _, l := range lists {
		sameAsDirect(t, era, l.promising(answer), l)
	}
}

func sameAsDirect(t *testing.T, era string, s *server, l list) {
	t.Helper()
	for way, ask := range l.both() {
		var log mcptest.Journal
		what := fmt.Sprintf("%s %s %v of %s", l.method, way, s.answers[l.method], s.capabilities)
		_, want := ask(t.Context(), s.direct(t, era))
		require.Error(t, want, what)
		asked := s.requests()
		got, err := ask(t.Context(), s.connect(t, era, middleware.Default(log.Logger(), nil)))
		assert.Nil(t, got, what)
		assert.Equal(t, want, err, what)
		assert.Equal(t, asked, s.requests(), what)
		assert.Empty(t, log.Levels(events.Contradiction), what)
	}
}

func isMalformed(t *testing.T, era string, l list, body string) {
	t.Helper()
	for way, ask := range l.both() {
		var log mcptest.Journal
		got, err := ask(t.Context(), l.promising(body).connect(t, era, middleware.Default(log.Logger(), nil)))
		assert.Equal(t, []string{"WARN"}, log.Levels(events.MalformedList), "%s %s %s", l.method, way, body)
		if l.method != "tools/list" {
			require.NoError(t, err)
			assert.Equal(t, names{}, got)
			continue
		}
		assert.Nil(t, got)
		require.ErrorIs(t, err, middleware.ErrMalformedList)
		var broken *middleware.ContradictionError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, "malformed_list", broken.Event)
		assert.Zero(t, broken.Code)
		assert.NotErrorIs(t, err, mcp.ErrMethodNotFound)
	}
}

// received are the entries that an error carries.
func received(t *testing.T, err error) names {
	t.Helper()
	var partial *middleware.PartialListError
	require.ErrorAs(t, err, &partial)
	assert.Equal(t, 1, partial.Pages)
	switch list := partial.Received.(type) {
	case *mcp.ListToolsResult:
		return ofTools(list)
	case *mcp.ListResourcesResult:
		return ofResources(list)
	case *mcp.ListResourceTemplatesResult:
		return ofTemplates(list)
	case *mcp.ListPromptsResult:
		return ofPrompts(list)
	}
	t.Fatalf("received a %T", partial.Received)
	return nil
}

// but are the capabilities with a list, without one of them.
func but(capability string) []string {
	var others []string
	for _, each := range []string{"tools", "resources", "prompts"} {
		if each != capability {
			others = append(others, fmt.Sprintf(`%q:{}`, each))
		}
	}
	return others
}

func all(capabilities []string) string { return "{" + strings.Join(capabilities, ",") + "}" }

func TestUtilitiesOverTheWire(t *testing.T) {
	t.Parallel()
	s := tools.promising(tools.of(""))
	for _, method := range []string{"completion/complete", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		s.answers[method] = unknownMethod
	}
	for name, test := range map[string]struct {
		opts    []middleware.Option
		forgive bool
	}{"by default": {nil, false}, "with WithUtilities": {[]middleware.Option{middleware.WithUtilities()}, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log mcptest.Journal
			c := s.connect(t, legacy, middleware.Default(log.Logger(), nil, test.opts...))
			completion, err := c.Complete(t.Context(), mcp.CompleteRequest{})
			levelErr := c.SetLevel(t.Context(), mcp.SetLevelRequest{})
			if test.forgive {
				require.NoError(t, err)
				assert.Equal(t, []string{}, completion.Completion.Values)
				require.NoError(t, levelErr)
				assert.Equal(t, []string{"WARN", "WARN"}, log.Levels(events.Contradiction))
			} else {
				require.ErrorIs(t, err, mcp.ErrMethodNotFound)
				require.ErrorIs(t, levelErr, mcp.ErrMethodNotFound)
				assert.Empty(t, log.Levels(events.Contradiction))
			}
			require.ErrorIs(t, c.Subscribe(t.Context(), mcp.SubscribeRequest{}), mcp.ErrMethodNotFound, "who subscribes must know")
			require.ErrorIs(t, c.Unsubscribe(t.Context(), mcp.UnsubscribeRequest{}), mcp.ErrMethodNotFound)
			assert.Empty(t, log.Levels(events.Contradiction))
		})
	}
}

func TestTheRequestsOfAWholeList(t *testing.T) {
	t.Parallel()
	tolerance, pages := middleware.Tolerance(nil, nil), middleware.Pages()
	for _, l := range lists {
		first, second := l.method, l.method+" 2"
		tests := map[string]struct {
			chain          mcpclient.Middleware
			page1, page2   any
			want           []string
			forgiven, fine bool
		}{
			"forgiven with Pages":              {mcpclient.Chain(pages, tolerance), unknownMethod, nil, []string{first}, true, false},
			"forgiven without Pages":           {tolerance, unknownMethod, nil, []string{first, first}, true, false},
			"failed on page 2 with Pages":      {mcpclient.Chain(pages, tolerance), l.of("2", "a"), unknownMethod, []string{first, second}, false, false},
			"failed on page 2 without Pages":   {tolerance, l.of("2", "a"), unknownMethod, []string{first, second, first}, false, false},
			"another failure without Pages":    {tolerance, fault{-32603, "no"}, nil, []string{first}, false, false},
			"a page-2 failure that is another": {tolerance, l.of("2", "a"), fault{-32603, "no"}, []string{first, second}, false, false},
			"fine with Pages":                  {mcpclient.Chain(pages, tolerance), l.of("2", "a"), l.of("", "b"), []string{first, second}, false, true},
			"fine without Pages":               {tolerance, l.of("2", "a"), l.of("", "b"), []string{first, second}, false, true},
		}
		for name, test := range tests {
			t.Run(l.method+": "+name, func(t *testing.T) {
				t.Parallel()
				s := l.promising(test.page1)
				s.answers[second] = test.page2
				got, err := l.whole(t.Context(), s.connect(t, legacy, test.chain))
				assert.Equal(t, test.want, s.requests())
				switch {
				case test.fine:
					require.NoError(t, err)
					assert.Equal(t, names{"a", "b"}, got)
				case test.forgiven && l.method != "tools/list":
					require.NoError(t, err)
					assert.Equal(t, names{}, got)
				default:
					require.Error(t, err)
					assert.Nil(t, got)
				}
			})
		}
	}
}

func TestAContradictionIsSaidAloudOncePerClientAndMethod(t *testing.T) {
	t.Parallel()
	s := tools.promising(unknownMethod)
	for _, l := range lists {
		s.answers[l.method] = unknownMethod
	}
	var log mcptest.Journal
	chain := middleware.Default(log.Logger(), nil)
	one, two := s.connect(t, legacy, chain), s.connect(t, legacy, chain)

	for _, c := range []client.MCPClient{one, two} {
		for _, l := range lists {
			_, _ = l.whole(t.Context(), c)
			assert.Equal(t, []string{"WARN"}, log.Levels(events.Contradiction), "the first time: %s", l.method)
			_, _ = l.page(t.Context(), c)
			_, _ = l.whole(t.Context(), c)
			assert.Equal(t, []string{"DEBUG", "DEBUG"}, log.Levels(events.Contradiction), "again: %s", l.method)
		}
	}

	s.answers["prompts/list"] = "{}"
	_, err := one.ListPrompts(t.Context(), mcp.ListPromptsRequest{})
	require.NoError(t, err)
	assert.Equal(t, []string{"WARN"}, log.Levels(events.MalformedList), "another event of the same method")
}

func TestManyGoroutinesSayAContradictionOnce(t *testing.T) {
	t.Parallel()
	const goroutines = 64
	var log mcptest.Journal
	var told atomic.Int64
	c := resources.promising(unknownMethod).connect(t, legacy, middleware.Default(log.Logger(), nil,
		middleware.OnContradiction(func(context.Context, middleware.Contradiction) { told.Add(1) })))
	start := make(chan struct{})
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			<-start
			got, err := resources.whole(t.Context(), c)
			assert.NoError(t, err)
			assert.Equal(t, names{}, got)
		})
	}
	close(start)
	running.Wait()

	counts := map[string]int{}
	for _, level := range log.Levels(events.Contradiction) {
		counts[level]++
	}
	assert.Equal(t, map[string]int{"WARN": 1, "DEBUG": goroutines - 1}, counts)
	assert.Equal(t, int64(goroutines), told.Load(), "and told each time")
}

// TestAClientThatWasInitialisedBeforeItWasWrappedIsJudgedAlike: the name of
// the server is not known then, but what it advertised is.
func TestAClientThatWasInitialisedBeforeItWasWrappedIsJudgedAlike(t *testing.T) {
	t.Parallel()
	inEachEra(t, func(t *testing.T, era string) {
		var log mcptest.Journal
		s := prompts.promising(unknownMethod)
		c := mcpclient.Wrap(s.direct(t, era), middleware.Default(log.Logger(), nil))
		got, err := prompts.whole(t.Context(), c)
		require.NoError(t, err)
		assert.Equal(t, names{}, got)
		said := log.Take()[0]
		assert.Equal(t, events.Contradiction, said["event"])
		assert.Empty(t, said["serverName"])
		assert.Equal(t, era, said["protocolVersion"])
	})
}
