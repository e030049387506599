package vmcp_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/internal/mcptest"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// missing is what a server says to a method that it does not have.
const missing = "Method not found: ask somebody else"

// answering is a server that advertises everything, has two tools, and answers
// one method in its own way.
func answering(method string, answer ...badserver.Answer) badserver.Script {
	script := honest()
	script.Answers[method] = answer
	return script
}

// notFound is -32601 as each era sends it over HTTP.
func notFound(protocol string) badserver.Answer {
	answer := badserver.Fail(mcp.METHOD_NOT_FOUND, missing)
	if mcp.IsModernProtocol(protocol) {
		return answer.WithStatus(404)
	}
	return answer
}

// The acceptance lines of the issue, word for word.
func TestAcceptance(t *testing.T) {
	t.Parallel()
	t.Run("resources/list -32601 after resources was advertised: initialises, no resources, one WARN", func(t *testing.T) {
		t.Parallel()
		forgives(t, "resources/list", func(t *testing.T, s *vmcp.Session) {
			assert.Empty(t, s.Resources())
			assert.Equal(t, []string{"res://many/{name}"}, templates(s))
			assert.Equal(t, []string{"one_greet"}, promptNames(s))
		})
	})
	t.Run("the same for prompts/list", func(t *testing.T) {
		t.Parallel()
		forgives(t, "prompts/list", func(t *testing.T, s *vmcp.Session) {
			assert.Empty(t, s.Prompts())
			assert.Equal(t, []string{"res://one"}, uris(s))
		})
	})
	t.Run("the same for resources/templates/list", func(t *testing.T) {
		t.Parallel()
		forgives(t, "resources/templates/list", func(t *testing.T, s *vmcp.Session) {
			assert.Empty(t, s.ResourceTemplates())
			assert.Equal(t, []string{"res://one"}, uris(s))
		})
	})
	t.Run("tools/list -32601: the backend fails", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			failed := fails(t, l, answering("tools/list", notFound(l.protocol)))
			var contradiction *middleware.ContradictionError
			require.ErrorAs(t, failed.Err, &contradiction)
			assert.Equal(t, "tools", contradiction.Capability)
			require.ErrorIs(t, failed.Err, mcp.ErrMethodNotFound)
			assert.Contains(t, failed.Reason, missing)
		})
	})
	t.Run("any other JSON-RPC error from a list: the backend fails", func(t *testing.T) {
		t.Parallel()
		anyOtherError(t)
	})
	t.Run("a time-out from a list: the backend fails", func(t *testing.T) {
		t.Parallel()
		for _, method := range lists {
			t.Run(method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					bad, _ := hook(t, "bad", answering(method, badserver.Answer{Hang: true}), nil)
					good, _ := hook(t, "good", honest(), nil)
					began := time.Now()
					session := build(t, &vmcp.Builder{}, bad, good)
					assert.Equal(t, 30*time.Second, time.Since(began))

					failed := reportOf(t, session.Report(), "bad")
					assert.Equal(t, vmcp.Failed, failed.State)
					require.ErrorIs(t, failed.Err, context.DeadlineExceeded)
					assert.Contains(t, failed.Reason, method)
					assert.Equal(t, []string{"good_alpha", "good_beta"}, toolNames(session))
				})
			})
		}
	})
	t.Run("a transport error from a list: the backend fails", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			for _, method := range lists {
				failed := fails(t, l, answering(method, badserver.Answer{Cut: true}))
				require.ErrorIs(t, failed.Err, io.ErrUnexpectedEOF, method)
				assert.Contains(t, failed.Reason, method)
			}
		})
	})
	t.Run("the WARN is never an ERROR", func(t *testing.T) {
		t.Parallel()
		everywhere(t, neverAnError)
	})
}

var lists = []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"}

// forgives builds a session over a server that does not have the method.
func forgives(t *testing.T, method string, check func(*testing.T, *vmcp.Session)) {
	t.Helper()
	everywhere(t, func(t *testing.T, l link) {
		var log mcptest.Journal
		backend, server := l.serve(t, "one", answering(method, notFound(l.protocol)))
		session := build(t, &vmcp.Builder{Logger: log.Logger()}, backend)

		assert.Equal(t, []string{"one_alpha", "one_beta"}, toolNames(session))
		check(t, session)
		warnings := log.At(slog.LevelWarn)
		require.Len(t, warnings, 1)
		assert.Equal(t, "capability_contradiction", warnings[0]["event"])
		assert.Equal(t, method, warnings[0]["method"])
		report := reportOf(t, session.Report(), "one")
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Contains(t, report.Reason, missing)
		assert.Equal(t, 1, server.Count(method))
	})
}

// fails builds a session over a server that must fail, and one that must not
// suffer from it, and returns the report about the first.
func fails(t *testing.T, l link, script badserver.Script) vmcp.BackendReport {
	t.Helper()
	var log mcptest.Journal
	bad, _ := l.serve(t, "bad", script)
	good, _ := l.serve(t, "good", honest())
	session := build(t, &vmcp.Builder{Logger: log.Logger()}, bad, good)

	assert.Equal(t, []string{"good_alpha", "good_beta"}, toolNames(session))
	assert.Equal(t, []string{"good_greet"}, promptNames(session))
	assert.Equal(t, []string{"res://one"}, uris(session))
	assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "good").State)

	failed := reportOf(t, session.Report(), "bad")
	assert.Equal(t, vmcp.Failed, failed.State)
	var opening *connect.Error
	require.ErrorAs(t, failed.Err, &opening)
	assert.Equal(t, "first request", opening.Stage)
	assert.Zero(t, failed.Tools+failed.Resources+failed.ResourceTemplates+failed.Prompts)
	if states := log.At(slog.LevelError); assert.Len(t, states, 1) {
		assert.Equal(t, "backend_failed", states[0]["event"])
		assert.Equal(t, "bad", states[0]["backendID"])
	}
	return failed
}

func anyOtherError(t *testing.T) {
	t.Helper()
	cases := []struct {
		name   string
		answer badserver.Answer
		is     error // nil: mcp-go keeps no type
	}{
		{"-32600", badserver.Fail(mcp.INVALID_REQUEST, "sorry"), mcp.ErrInvalidRequest},
		{"-32602", badserver.Fail(mcp.INVALID_PARAMS, "sorry"), mcp.ErrInvalidParams},
		{"-32603", badserver.Fail(mcp.INTERNAL_ERROR, "sorry"), mcp.ErrInternalError},
		{"-32603 whose text says method not found", badserver.Fail(mcp.INTERNAL_ERROR, "Method not found, sorry"), mcp.ErrInternalError},
		{"-32700", badserver.Fail(mcp.PARSE_ERROR, "sorry"), mcp.ErrParseError},
		{"-32002", badserver.Fail(mcp.RESOURCE_NOT_FOUND, "sorry"), mcp.ErrResourceNotFound},
		{"-32000", badserver.Fail(-32000, "sorry"), nil},
		{"32601", badserver.Fail(32601, "Method not found, sorry"), nil},
		{"0", badserver.Fail(0, "sorry"), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				for _, method := range []string{"tools/list", "resources/list", "prompts/list"} { // templates degrade
					failed := fails(t, l, answering(method, c.answer))
					assert.Contains(t, failed.Reason, "sorry")
					assert.Contains(t, failed.Reason, method)
					require.NotErrorIs(t, failed.Err, mcp.ErrMethodNotFound)
					if c.is != nil {
						require.ErrorIs(t, failed.Err, c.is)
					}
				}
			})
		})
	}
}

func neverAnError(t *testing.T, l link) {
	script := honest()
	for _, method := range lists[1:] {
		script.Answers[method] = []badserver.Answer{notFound(l.protocol)}
	}
	var log mcptest.Journal
	backend, _ := l.serve(t, "one", script)
	build(t, &vmcp.Builder{Logger: log.Logger()}, backend)

	assert.Empty(t, log.At(slog.LevelError))
	warnings := map[any]map[string]any{}
	for _, warning := range log.At(slog.LevelWarn) {
		warnings[warning["method"]] = warning
	}
	require.Len(t, warnings, 3)
	for method, capability := range map[string]string{"resources/list": "resources", "resources/templates/list": "resources", "prompts/list": "prompts"} {
		warning := warnings[method]
		for key, want := range map[string]any{
			"backendID": "one", "event": "capability_contradiction", "capability": capability, "method": method, "code": -32601.0,
			"serverMessage": missing, "serverName": "scripted", "serverVersion": "1.2.3", "protocolVersion": l.protocol,
		} {
			assert.Equal(t, want, warning[key], "%s of %s", key, method)
			delete(warning, key)
		}
		delete(warning, "msg")
		assert.Empty(t, warning)
	}
}

func TestAListThatIsNoneIsAContradiction(t *testing.T) {
	t.Parallel()
	t.Run("an empty result of prompts/list: no prompts, one WARN", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			var log mcptest.Journal
			backend, _ := l.serve(t, "one", answering("prompts/list", badserver.Result(map[string]any{})))
			session := build(t, &vmcp.Builder{Logger: log.Logger()}, backend)
			assert.Empty(t, session.Prompts())
			assert.Len(t, session.Tools(), 2)
			assert.Equal(t, vmcp.Degraded, session.Report().Backends[0].State)
			if warnings := log.At(slog.LevelWarn); assert.Len(t, warnings, 1) {
				assert.Equal(t, "malformed_list", warnings[0]["event"])
			}
		})
	})
	for _, l := range links {
		t.Run("an empty result of tools/list: the backend fails, "+l.name, func(t *testing.T) {
			t.Parallel()
			failed := fails(t, l, answering("tools/list", badserver.Result(map[string]any{})))
			require.ErrorIs(t, failed.Err, middleware.ErrMalformedList)
		})
	}
}

func TestWhatIsNotAdvertisedIsNotAsked(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, capabilities string
		want               []string
	}{
		{"tools only", `{"tools":{}}`, []string{"tools/list"}},
		{"resources only", `{"resources":{}}`, []string{"resources/list", "resources/templates/list"}},
		{"prompts only", `{"prompts":{}}`, []string{"prompts/list"}},
		{"null advertises nothing", `{"tools":{},"resources":null,"prompts":null}`, []string{"tools/list"}},
		{"nothing at all", `{}`, []string{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				script := honest()
				script.Capabilities = []byte(c.capabilities)
				backend, server := l.serve(t, "one", script)
				session := build(t, &vmcp.Builder{}, backend)

				report := session.Report().Backends[0]
				assert.Equal(t, vmcp.Ready, report.State)
				assert.Empty(t, report.Reason)
				listed := []string{}
				for _, method := range lists {
					for range server.Count(method) {
						listed = append(listed, method)
					}
				}
				assert.ElementsMatch(t, c.want, listed)
			})
		})
	}
}

func TestABackendWithoutToolsContributesWhatItHas(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		texts := honest()
		texts.Capabilities = []byte(`{"resources":{},"prompts":{}}`)
		one, _ := l.serve(t, "texts", texts)
		two, _ := l.serve(t, "tools", onlyTools("run"))
		session := build(t, &vmcp.Builder{}, one, two)

		assert.Equal(t, []string{"tools_run"}, toolNames(session))
		assert.Equal(t, []string{"texts_greet"}, promptNames(session))
		assert.Equal(t, []string{"res://one"}, uris(session))
		assert.Equal(t, []string{"res://many/{name}"}, templates(session))
		assert.Equal(t, vmcp.Ready, reportOf(t, session.Report(), "texts").State)
	})
}

func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	t.Run("all pages are there", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			backend, _ := l.serve(t, "one", answering("tools/list",
				badserver.Tools("a").WithNext("2").AtCursor(""), badserver.Tools("b").AtCursor("2")))
			assert.Equal(t, []string{"one_a", "one_b"}, toolNames(build(t, &vmcp.Builder{}, backend)))
		})
	})
	t.Run("-32601 on the second page: the backend fails", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			failed := fails(t, l, answering("resources/list",
				badserver.Resources("res://a").WithNext("2").AtCursor(""), notFound(l.protocol).AtCursor("2")))
			var partial *middleware.PartialListError
			require.ErrorAs(t, failed.Err, &partial)
			assert.Equal(t, 1, partial.Items)
		})
	})
}

func TestMinus32601InAFailureOfHTTPIsNotForgiven(t *testing.T) {
	t.Parallel()
	for _, status := range []int{403, 500, 503} {
		for _, l := range links[2:] {
			t.Run(fmt.Sprintf("status %d, %s", status, l.name), func(t *testing.T) {
				t.Parallel()
				failed := fails(t, l, answering("resources/list", badserver.Fail(mcp.METHOD_NOT_FOUND, missing).WithStatus(status)))
				var answered *wire.StatusError
				require.ErrorAs(t, failed.Err, &answered)
				assert.Equal(t, status, answered.StatusCode)
				assert.NotEmpty(t, failed.Remedy)
				assert.NotErrorIs(t, failed.Err, mcp.ErrMethodNotFound)
			})
		}
	}
}
