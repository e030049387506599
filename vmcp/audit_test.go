package vmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// full is a server that advertises all that an audit asks about, and has it.
func full() badserver.Script {
	script := serving("one")
	script.Capabilities = json.RawMessage(`{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}`)
	for _, method := range []string{"resources/subscribe", "resources/unsubscribe", "logging/setLevel"} {
		script.Answers[method] = []badserver.Answer{badserver.Result(map[string]any{})}
	}
	return script
}

func audit(t *testing.T, b *vmcp.Builder, backend vmcp.Backend) vmcp.Audit {
	t.Helper()
	audits, err := b.Audit(t.Context(), []vmcp.Backend{backend})
	require.NoError(t, err)
	require.Len(t, audits, 1)
	return audits[0]
}

// lines are the findings, one to a line.
func lines(audit vmcp.Audit) []string {
	found := []string{}
	for _, f := range audit.Findings {
		found = append(found, fmt.Sprintf("%s %s %s: %s", f.Capability, f.Method, f.Verdict, f.Answer))
	}
	return found
}

func finding(t *testing.T, audit vmcp.Audit, method string) vmcp.Finding {
	t.Helper()
	for _, f := range audit.Findings {
		if string(f.Method) == method {
			return f
		}
	}
	require.Failf(t, "no finding", "about %s in %v", method, lines(audit))
	return vmcp.Finding{}
}

func TestAuditOfAServerThatKeepsItsWord(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		backend, server := l.serve(t, "one", full())
		got := audit(t, &vmcp.Builder{}, backend)
		want := []string{
			"tools tools/list kept: 2 tools",
			"tools tools/call not asked: calling a tool may have effects",
			"resources resources/list kept: 1 resource",
			"resources resources/templates/list kept: 1 resource template",
			"resources resources/read kept: the first resource, 1 content",
			"resources resources/subscribe kept: subscribed to the first resource and unsubscribed",
			"prompts prompts/list kept: 1 prompt",
			`prompts prompts/get kept: the prompt "greet"`,
			`completions completion/complete kept: 1 completion for the argument "id"`,
			"logging logging/setLevel kept: the level was set",
		}
		sent := []string{
			"server/discover", "initialize", "notifications/initialized",
			"tools/list", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
			"prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
		}
		if l.protocol == modern { // which has neither the one nor the other
			gone := func(line string) bool {
				return strings.Contains(line, "subscribe") || strings.Contains(line, "setLevel") || strings.Contains(line, "initialize")
			}
			want, sent = slices.DeleteFunc(want, gone), slices.DeleteFunc(sent, gone)
		}
		assert.Equal(t, want, lines(got))
		assert.Equal(t, vmcp.Kept, got.Verdict())
		assert.Empty(t, got.BugReport())
		assert.Empty(t, got.Error)
		assert.Empty(t, got.Remedy)
		assert.Equal(t, []string{"one", "scripted", "1.2.3", l.protocol}, []string{got.ID, got.ServerName, got.ServerVersion, got.ProtocolVersion})
		assert.Equal(t, sent, slices.DeleteFunc(asked(server), func(method string) bool { return method == "GET" || method == "DELETE" }))
	})
}

func TestAuditNeverCallsATool(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		for _, script := range []badserver.Script{full(), onlyTools("delete_everything")} {
			backend, server := l.serve(t, "one", script)
			audit(t, &vmcp.Builder{}, backend)
			assert.Positive(t, server.Count("tools/list"))
			assert.Zero(t, server.Count("tools/call"))
		}
	})
}

func TestAuditAsksOnlyAboutWhatIsAdvertised(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		script := full()
		script.Capabilities = json.RawMessage(`{"resources":{},"completions":null}`)
		backend, _ := l.serve(t, "one", script)
		got := audit(t, &vmcp.Builder{}, backend)
		assert.Equal(t, []string{
			"resources resources/list kept: 1 resource",
			"resources resources/templates/list kept: 1 resource template",
			"resources resources/read kept: the first resource, 1 content",
		}, lines(got))

		script.Capabilities = nil
		backend, _ = l.serve(t, "none", script)
		got = audit(t, &vmcp.Builder{}, backend)
		assert.Empty(t, got.Findings)
		assert.NotNil(t, got.Findings, "it is [] in JSON")
		assert.Equal(t, vmcp.Kept, got.Verdict())
	})
}

// The methods that an audit asks, and those that protocol 2026-07-28 has not.
var (
	auditedMethods = []string{
		"tools/list", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
		"prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
	}
	legacyMethods = []string{"resources/subscribe", "logging/setLevel"}
)

// each runs a test for every method that an audit asks, where it is asked.
func eachAudited(t *testing.T, test func(t *testing.T, l link, method string)) {
	t.Helper()
	for _, method := range auditedMethods {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				if l.protocol == modern && slices.Contains(legacyMethods, method) {
					backend, server := l.serve(t, "one", full())
					assert.NotContains(t, strings.Join(lines(audit(t, &vmcp.Builder{}, backend)), "\n"), method)
					assert.Zero(t, server.Count(method))
					return
				}
				test(t, l, method)
			})
		})
	}
}

func TestAuditVerdicts(t *testing.T) {
	t.Parallel()
	// others checks that nothing but what depends on the method is affected.
	others := func(t *testing.T, got vmcp.Audit, method string) {
		t.Helper()
		for _, f := range got.Findings {
			if string(f.Method) != method {
				assert.Contains(t, []vmcp.Verdict{vmcp.Kept, vmcp.NotAsked}, f.Verdict, "%s: %s", f.Method, f.Answer)
			}
		}
	}
	with := func(l link, method string, answer badserver.Answer) badserver.Script {
		script := full()
		script.Answers[method] = []badserver.Answer{answer}
		return script
	}
	t.Run("-32601: contradicted", func(t *testing.T) {
		t.Parallel()
		eachAudited(t, func(t *testing.T, l link, method string) {
			backend, _ := l.serve(t, "one", with(l, method, notFound(l.protocol)))
			got := audit(t, &vmcp.Builder{}, backend)
			f := finding(t, got, method)
			assert.Equal(t, vmcp.Contradicted, f.Verdict)
			assert.Contains(t, f.Answer, "-32601")
			assert.Contains(t, f.Answer, missing)
			assert.Equal(t, vmcp.Contradicted, got.Verdict())
			assert.Contains(t, got.BugReport(), "`"+method+"`")
			others(t, got, method)
		})
	})
	t.Run("another error: failed", func(t *testing.T) {
		t.Parallel()
		eachAudited(t, func(t *testing.T, l link, method string) {
			backend, _ := l.serve(t, "one", with(l, method, badserver.Fail(mcp.INTERNAL_ERROR, "Method not found, or so")))
			got := audit(t, &vmcp.Builder{}, backend)
			f := finding(t, got, method)
			assert.Equal(t, vmcp.Broken, f.Verdict)
			assert.Contains(t, f.Answer, "or so")
			assert.Equal(t, vmcp.Broken, got.Verdict())
			assert.Contains(t, got.BugReport(), "`"+method+"`")
			others(t, got, method)
		})
	})
	t.Run("a broken connection: failed", func(t *testing.T) {
		t.Parallel()
		eachAudited(t, func(t *testing.T, l link, method string) {
			backend, _ := l.serve(t, "one", with(l, method, badserver.Answer{Cut: true}))
			got := audit(t, &vmcp.Builder{}, backend)
			assert.Equal(t, vmcp.Broken, finding(t, got, method).Verdict)
			others(t, got, method)
		})
	})
	t.Run("no answer within the time-out: failed, and the next is asked", func(t *testing.T) {
		t.Parallel()
		for _, method := range auditedMethods {
			t.Run(method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					backend, _ := hook(t, "one", with(links[0], method, badserver.Answer{Hang: true}), nil)
					began := time.Now()
					got := audit(t, &vmcp.Builder{Timeout: 7 * time.Second}, backend)
					assert.Equal(t, 7*time.Second, time.Since(began))
					f := finding(t, got, method)
					assert.Equal(t, vmcp.Broken, f.Verdict)
					assert.Contains(t, f.Answer, context.DeadlineExceeded.Error())
					others(t, got, method)
				})
			})
		}
	})
	t.Run("a result without a list: contradicted", func(t *testing.T) {
		t.Parallel()
		for _, method := range lists {
			everywhere(t, func(t *testing.T, l link) {
				backend, _ := l.serve(t, "one", with(l, method, badserver.Result(map[string]any{})))
				got := audit(t, &vmcp.Builder{}, backend)
				f := finding(t, got, method)
				assert.Equal(t, vmcp.Contradicted, f.Verdict)
				assert.Equal(t, "a result without a list", f.Answer)
				others(t, got, method)
			})
		}
	})
	t.Run("-32601 on the second page: failed, since the server has the method", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			for method, first := range map[string]badserver.Answer{
				"tools/list": badserver.Tools("a"), "resources/list": badserver.Resources("res://a"), "prompts/list": badserver.Prompts("a"),
				"resources/templates/list": badserver.ResourceTemplates("res://{a}"),
			} {
				script := with(l, method, first.WithNext("2").AtCursor(""))
				script.Answers[method] = append(script.Answers[method], notFound(l.protocol))
				backend, _ := l.serve(t, "one", script)
				f := finding(t, audit(t, &vmcp.Builder{}, backend), method)
				assert.Equal(t, vmcp.Broken, f.Verdict, method)
				assert.Contains(t, f.Answer, "after 1 pages with 1 entries")
			}
		})
	})
	t.Run("resources/unsubscribe -32601: contradicted", func(t *testing.T) {
		t.Parallel()
		for _, l := range []link{links[0], links[2]} {
			backend, _ := l.serve(t, "one", with(l, "resources/unsubscribe", notFound(l.protocol)))
			f := finding(t, audit(t, &vmcp.Builder{}, backend), "resources/subscribe")
			assert.Equal(t, vmcp.Contradicted, f.Verdict)
			assert.Contains(t, f.Answer, "resources/unsubscribe")
		}
	})
}

func TestAuditWhereNothingIsListed(t *testing.T) {
	t.Parallel()
	empty := func() badserver.Script {
		script := full()
		script.Answers["resources/list"] = []badserver.Answer{badserver.Resources()}
		script.Answers["resources/templates/list"] = []badserver.Answer{badserver.ResourceTemplates("res://no-variable")}
		script.Answers["prompts/list"] = []badserver.Answer{badserver.Prompts()}
		return script
	}
	t.Run("what needs an entry is not asked", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			backend, server := l.serve(t, "one", empty())
			got := audit(t, &vmcp.Builder{}, backend)
			want := map[string]string{"completion/complete": "no prompt with an argument and no resource template is listed"}
			if l.protocol == legacy {
				want["resources/subscribe"] = "no resource is listed"
			}
			for method, why := range want {
				f := finding(t, got, method)
				assert.Equal(t, vmcp.NotAsked, f.Verdict, method)
				assert.Equal(t, why, f.Answer)
				assert.Zero(t, server.Count(method))
			}
			assert.Equal(t, vmcp.Kept, got.Verdict())
			assert.Empty(t, got.BugReport())
		})
	})
	cases := []struct {
		name   string
		answer func(l link) badserver.Answer
		want   vmcp.Verdict
		says   string
	}{
		{"an error about it: kept", func(link) badserver.Answer { return badserver.Fail(mcp.RESOURCE_NOT_FOUND, "never heard of it") }, vmcp.Kept, "does not exist: "},
		{"another error: kept", func(link) badserver.Answer { return badserver.Fail(-32000, "never heard of it") }, vmcp.Kept, "never heard of it"},
		{"no answer at all: failed", func(link) badserver.Answer { return badserver.Plain(502, "bad gateway") }, vmcp.Broken, ""},
		{"null: failed", func(link) badserver.Answer { return badserver.Answer{Result: json.RawMessage("null")} }, vmcp.Broken, ""},
		{"-32601: contradicted", func(l link) badserver.Answer { return notFound(l.protocol) }, vmcp.Contradicted, missing},
		{"a broken connection: failed", func(link) badserver.Answer { return badserver.Answer{Cut: true} }, vmcp.Broken, "EOF"},
	}
	for _, c := range cases {
		t.Run("what does not exist is asked for, "+c.name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				script := empty()
				script.Answers["resources/read"] = []badserver.Answer{c.answer(l)}
				script.Answers["prompts/get"] = []badserver.Answer{c.answer(l)}
				backend, server := l.serve(t, "one", script)
				got := audit(t, &vmcp.Builder{}, backend)
				for _, method := range []string{"resources/read", "prompts/get"} {
					f := finding(t, got, method)
					assert.Equal(t, c.want, f.Verdict, method)
					assert.Contains(t, f.Answer, c.says)
					assert.Equal(t, 1, server.Count(method))
				}
			})
		})
	}
	t.Run("what does not exist is asked for, and given: kept", func(t *testing.T) {
		t.Parallel()
		backend, _ := links[0].serve(t, "one", empty())
		got := audit(t, &vmcp.Builder{}, backend)
		assert.Equal(t, "something for a resource that does not exist", finding(t, got, "resources/read").Answer)
		assert.Equal(t, "something for a prompt that does not exist", finding(t, got, "prompts/get").Answer)
		assert.Equal(t, vmcp.Kept, got.Verdict())
	})
}

// prompting is a full server with these prompts.
func prompting(prompts ...mcp.Prompt) badserver.Script {
	script := full()
	script.Answers["prompts/list"] = []badserver.Answer{badserver.Result(map[string]any{"prompts": prompts})}
	return script
}

func TestAuditOfPromptsWithArguments(t *testing.T) {
	t.Parallel()
	required := mcp.NewPrompt("needs", mcp.WithArgument("who", mcp.RequiredArgument()))
	optional := mcp.NewPrompt("takes", mcp.WithArgument("how"))
	t.Run("one that needs none is preferred", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			backend, server := l.serve(t, "one", prompting(required, optional))
			got := audit(t, &vmcp.Builder{}, backend)
			assert.Equal(t, `the prompt "takes"`, finding(t, got, "prompts/get").Answer)
			assert.Equal(t, `1 completion for the argument "who"`, finding(t, got, "completion/complete").Answer)
			assert.Equal(t, 1, server.Count("prompts/get"))
		})
	})
	for _, code := range []int{mcp.INVALID_PARAMS, mcp.INTERNAL_ERROR} {
		t.Run(fmt.Sprintf("%d about what was left out: kept", code), func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				script := prompting(required)
				script.Answers["prompts/get"] = []badserver.Answer{badserver.Fail(code, "who is missing")}
				backend, _ := l.serve(t, "one", script)
				f := finding(t, audit(t, &vmcp.Builder{}, backend), "prompts/get")
				assert.Equal(t, vmcp.Kept, f.Verdict)
				assert.Contains(t, f.Answer, `the prompt "needs", asked for without its arguments`)
				assert.Contains(t, f.Answer, "who is missing")
			})
		})
	}
	t.Run("-32601 is contradicted all the same", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			script := prompting(required)
			script.Answers["prompts/get"] = []badserver.Answer{notFound(l.protocol)}
			backend, _ := l.serve(t, "one", script)
			assert.Equal(t, vmcp.Contradicted, finding(t, audit(t, &vmcp.Builder{}, backend), "prompts/get").Verdict)
		})
	})
}

func TestTheVerdictIsTheWorstOfTheFindings(t *testing.T) {
	t.Parallel()
	cases := []struct {
		found []vmcp.Verdict
		err   string
		want  vmcp.Verdict
	}{
		{nil, "", vmcp.Kept},
		{[]vmcp.Verdict{vmcp.Kept, vmcp.NotAsked}, "", vmcp.Kept},
		{[]vmcp.Verdict{vmcp.Kept, vmcp.Contradicted, vmcp.Kept}, "", vmcp.Contradicted},
		{[]vmcp.Verdict{vmcp.Contradicted, vmcp.Broken, vmcp.Contradicted}, "", vmcp.Broken},
		{[]vmcp.Verdict{vmcp.Broken, vmcp.Contradicted}, "", vmcp.Broken},
		{nil, "nobody there", vmcp.Broken},
		{[]vmcp.Verdict{vmcp.Contradicted}, "and then it closed badly", vmcp.Broken},
	}
	for _, c := range cases {
		audit := vmcp.Audit{Error: c.err}
		for _, verdict := range c.found {
			audit.Findings = append(audit.Findings, vmcp.Finding{Verdict: verdict})
		}
		assert.Equal(t, c.want, audit.Verdict(), "%v %q", c.found, c.err)
	}
}

func TestAuditOfAServerThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	gone, _ := links[2].serve(t, "gone", full())
	gone.Connector = connect.To(failures[0].target(t))
	dead, server := links[0].serve(t, "dead", full())
	require.NoError(t, server.Close())
	good, _ := links[0].serve(t, "good", full())
	audits, err := new(vmcp.Builder).Audit(t.Context(), []vmcp.Backend{gone, dead, good})
	require.NoError(t, err)
	require.Len(t, audits, 3)
	for i, id := range []string{"gone", "dead"} {
		assert.Equal(t, id, audits[i].ID, "the order is that of the backends")
		assert.Equal(t, vmcp.Broken, audits[i].Verdict())
		assert.NotEmpty(t, audits[i].Error)
		assert.NotEmpty(t, audits[i].Remedy)
		assert.Empty(t, audits[i].Findings)
		assert.Empty(t, audits[i].BugReport(), "who could not be asked is not accused")
	}
	assert.Contains(t, audits[0].Remedy, "check the address")
	assert.Equal(t, vmcp.Kept, audits[2].Verdict())
}

func TestAuditOfAServerThatAgreesToAProtocolAndRefusesIt(t *testing.T) {
	t.Parallel()
	for _, l := range []link{links[0], links[2]} {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			script := full()
			script.Protocol = legacy
			script.Answers["server/discover"] = []badserver.Answer{badserver.Result(map[string]any{
				"resultType": "complete", "supportedVersions": []string{modern, legacy}, "ttlMs": 0, "cacheScope": "private",
				"capabilities": json.RawMessage(script.Capabilities),
			})}
			refusal := badserver.Unsupported()
			refusal.Protocol = modern
			for method, answers := range script.Answers {
				if method != "server/discover" {
					script.Answers[method] = append([]badserver.Answer{refusal}, answers...)
				}
			}
			backend, server := l.serve(t, "one", script)
			got := audit(t, &vmcp.Builder{}, backend)
			assert.Equal(t, vmcp.Kept, got.Verdict())
			assert.Equal(t, legacy, got.ProtocolVersion)
			assert.Len(t, got.Findings, 10, "what the first connection found is forgotten")
			assert.Equal(t, 2, server.Count("tools/list"))
			assert.Equal(t, 1, server.Count("prompts/list"), "one refusal is enough")
		})
	}
}

func TestAuditsRunSideBySideAndClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := full()
		slow.Answers["tools/list"] = []badserver.Answer{{Delay: badserver.Duration(time.Second), Result: badserver.Tools("a").Result}}
		var backends []vmcp.Backend
		var servers []*hooked
		for i := range 6 {
			backend, server := hook(t, fmt.Sprintf("b%d", i), slow, nil)
			backends, servers = append(backends, backend), append(servers, server)
		}
		for concurrency, want := range map[int]time.Duration{0: time.Second, 3: 2 * time.Second, 1: 6 * time.Second} {
			began := time.Now()
			_, err := (&vmcp.Builder{Concurrency: concurrency}).Audit(t.Context(), backends)
			require.NoError(t, err)
			assert.Equal(t, want, time.Since(began))
		}
		for _, server := range servers {
			dialed, still := server.open()
			assert.Equal(t, 3, dialed)
			assert.Zero(t, still)
		}
	})
}

// A result that mcp-go's client decodes all the same.
func TestAuditOfAResultOfAnotherShape(t *testing.T) {
	t.Parallel()
	shapeless := map[string]string{ // what comes back, and what is said of it
		"null": `: null`, "[]": "", `"yes"`: "", "{}": `: {}`,
		`{"messages":null,"contents":null,"completion":null}`: "", `{"messages":{},"contents":{},"completion":{"values":{}}}`: "",
	}
	lacks := map[string]string{"prompts/get": "messages", "resources/read": "contents", "completion/complete": "completion.values"}
	for _, method := range []string{"prompts/get", "resources/read", "completion/complete", "resources/subscribe", "logging/setLevel"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				if l.protocol == modern && slices.Contains(legacyMethods, method) {
					return
				}
				for result, quoted := range shapeless {
					script := full()
					script.Answers[method] = []badserver.Answer{{Result: json.RawMessage(result)}}
					backend, _ := l.serve(t, "one", script)
					got := audit(t, &vmcp.Builder{}, backend)
					f := finding(t, got, method)
					if lacks[method] == "" && strings.HasPrefix(result, "{") {
						assert.Equal(t, vmcp.Kept, f.Verdict, "%s: any object will do", result)
						continue
					}
					assert.Equal(t, vmcp.Broken, f.Verdict, "%s: %s", result, f.Answer)
					assert.Equal(t, vmcp.Broken, got.Verdict(), result)
					if result == "null" && method == "prompts/get" {
						assert.Equal(t, `a result without the list "messages"`+quoted, f.Answer)
					}
				}
			})
		})
	}
	t.Run("an empty list is one", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			script := full()
			script.Answers["prompts/get"] = []badserver.Answer{badserver.Result(json.RawMessage(`{"messages":[]}`))}
			script.Answers["resources/read"] = []badserver.Answer{badserver.Result(json.RawMessage(`{"contents":[]}`))}
			script.Answers["completion/complete"] = []badserver.Answer{badserver.Result(json.RawMessage(`{"completion":{"values":[]}}`))}
			backend, _ := l.serve(t, "one", script)
			assert.Equal(t, vmcp.Kept, audit(t, &vmcp.Builder{}, backend).Verdict())
		})
	})
	t.Run("a long one is not quoted: half a secret is not masked", func(t *testing.T) {
		t.Parallel()
		script := full()
		script.Answers["prompts/get"] = []badserver.Answer{badserver.Result(map[string]any{"text": strings.Repeat("x", 200)})}
		backend, _ := links[2].serve(t, "one", script)
		assert.Equal(t, `a result without the list "messages"`, finding(t, audit(t, &vmcp.Builder{}, backend), "prompts/get").Answer)
	})
}

func TestAuditOfEntriesThatNobodyCanAskFor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ method, result, want string }{
		"a tool without a name":         {"tools/list", `{"tools":[{"inputSchema":{"type":"object"}}]}`, "1 tool, of them 1 without a name"},
		"two tools of one name":         {"tools/list", `{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]}`, `2 tools, of them 2 with the name "a"`},
		"a prompt without a name":       {"prompts/list", `{"prompts":[{"description":"x"},{"name":"b"}]}`, "2 prompts, of them 1 without a name"},
		"prompts of one name and none":  {"prompts/list", `{"prompts":[{"name":""},{"name":"b"},{"name":"b"},{"name":"b"}]}`, `4 prompts, of them 1 without a name, 3 with the name "b"`},
		"a resource without a URI":      {"resources/list", `{"resources":[{"name":"x"}]}`, "1 resource, of them 1 without a URI"},
		"two resources of one URI":      {"resources/list", `{"resources":[{"uri":"res://a","name":"x"},{"uri":"res://a","name":"y"}]}`, `2 resources, of them 2 with the URI "res://a"`},
		"a template without a template": {"resources/templates/list", `{"resourceTemplates":[{"name":"x"}]}`, "1 resource template, of them 1 without a URI template"},
		"two templates of one template": {"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"res://{a}","name":"x"},{"uriTemplate":"res://{a}","name":"y"}]}`, `2 resource templates, of them 2 with the URI template "res://{a}"`},
		"many of one name": {"prompts/list", `{"prompts":[` + strings.Repeat(`{"name":"1"},{"name":"2"},{"name":"3"},{"name":"4"},{"name":"5"},{"name":"6"},{"name":"7"},`, 2) + `{"name":"8"}]}`,
			`15 prompts, of them 2 with the name "1", 2 with the name "2", 2 with the name "3", 2 with the name "4", 2 with the name "5", and 2 more names that several have`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				script := full()
				script.Answers[c.method] = []badserver.Answer{badserver.Result(json.RawMessage(c.result))}
				backend, server := l.serve(t, "one", script)
				got := audit(t, &vmcp.Builder{}, backend)
				f := finding(t, got, c.method)
				assert.Equal(t, vmcp.Contradicted, f.Verdict)
				assert.Equal(t, c.want, f.Answer)
				assert.Equal(t, vmcp.Contradicted, got.Verdict())
				assert.Contains(t, got.BugReport(), "entries that nobody can ask for")
				assert.NotContains(t, got.BugReport(), "-32601")
				for _, request := range server.Requests() {
					assert.NotContains(t, string(request.Params), `"name":""`, request.Method)
					assert.NotContains(t, string(request.Params), `"uri":""`, request.Method)
				}
			})
		})
	}
	t.Run("resources of one name are told apart by their URIs", func(t *testing.T) {
		t.Parallel()
		script := full()
		script.Answers["resources/list"] = []badserver.Answer{badserver.Result(json.RawMessage(`{"resources":[{"uri":"res://a","name":"x"},{"uri":"res://b","name":"x"}]}`))}
		backend, _ := links[0].serve(t, "one", script)
		assert.Equal(t, vmcp.Kept, audit(t, &vmcp.Builder{}, backend).Verdict())
	})
}

// Server libraries say -32000 with these words; it must not read like -32601.
func TestAuditSaysTheCode(t *testing.T) {
	t.Parallel()
	eachAudited(t, func(t *testing.T, l link, method string) {
		script := full()
		script.Answers[method] = []badserver.Answer{badserver.Fail(-32000, "method not found: "+method)}
		backend, _ := l.serve(t, "one", script)
		got := audit(t, &vmcp.Builder{}, backend)
		f := finding(t, got, method)
		assert.Equal(t, vmcp.Broken, f.Verdict)
		assert.Equal(t, "JSON-RPC error -32000: method not found: "+method, f.Answer)
		assert.Contains(t, got.BugReport(), "`"+method+"` failed with: "+f.Answer)
	})
	t.Run("of the page that failed", func(t *testing.T) {
		t.Parallel()
		everywhere(t, func(t *testing.T, l link) {
			script := full()
			script.Answers["tools/list"] = []badserver.Answer{badserver.Tools("a").WithNext("2").AtCursor(""), badserver.Fail(-32000, "no more")}
			backend, _ := l.serve(t, "one", script)
			assert.Equal(t, "tools/list failed after 1 pages with 1 entries: JSON-RPC error -32000: no more",
				finding(t, audit(t, &vmcp.Builder{}, backend), "tools/list").Answer)
		})
	})
	t.Run("of the second request of a question", func(t *testing.T) {
		t.Parallel()
		script := full()
		script.Answers["resources/unsubscribe"] = []badserver.Answer{badserver.Fail(-32000, "stay")}
		backend, _ := links[2].serve(t, "one", script)
		assert.Equal(t, "subscribed to the first resource, but resources/unsubscribe: JSON-RPC error -32000: stay",
			finding(t, audit(t, &vmcp.Builder{}, backend), "resources/subscribe").Answer)
	})
	t.Run("over a transport that tells nothing", func(t *testing.T) {
		t.Parallel()
		script := full()
		script.Answers["prompts/get"] = []badserver.Answer{badserver.Fail(mcp.INTERNAL_ERROR, "no")}
		backend, _ := hook(t, "one", script, nil)
		assert.Equal(t, "-32603, internal error: no", finding(t, audit(t, &vmcp.Builder{}, backend), "prompts/get").Answer)
	})
}

func TestBugReport(t *testing.T) {
	t.Parallel()
	script := full()
	script.Answers["resources/list"] = []badserver.Answer{badserver.Fail(mcp.METHOD_NOT_FOUND, "Method not found")}
	script.Answers["resources/templates/list"] = []badserver.Answer{badserver.Result(map[string]any{})}
	script.Answers["prompts/list"] = []badserver.Answer{badserver.Result(json.RawMessage(`{"prompts":[{"title":"x"}]}`))}
	script.Answers["tools/list"] = []badserver.Answer{badserver.Fail(-32000, "method not found: tools/list")}
	script.Answers["logging/setLevel"] = []badserver.Answer{badserver.Fail(mcp.INTERNAL_ERROR, "no\n\n# database\n- [x](http://evil.example)")}
	backend, _ := links[0].serve(t, "one", script)
	got := audit(t, &vmcp.Builder{}, backend)

	want, err := os.ReadFile("testdata/bugreport.md")
	require.NoError(t, err)
	assert.Equal(t, string(want), got.BugReport())

	t.Run("a server without a name", func(t *testing.T) {
		t.Parallel()
		unnamed := got
		unnamed.ServerName, unnamed.ServerVersion = "", "\n"
		assert.True(t, strings.HasPrefix(unnamed.BugReport(), "The server does not keep what it advertises\n"), unnamed.BugReport())
	})
	t.Run("one that only fails is not told about contradictions", func(t *testing.T) {
		t.Parallel()
		report := vmcp.Audit{ServerName: "s", Findings: []vmcp.Finding{{Capability: "tools", Method: "tools/list", Verdict: vmcp.Broken, Answer: "no"}}}.BugReport()
		assert.True(t, strings.HasPrefix(report, "s fails at what it advertises\n"), report)
		assert.Contains(t, report, "- of `tools`, `tools/list` failed with: no\n")
		assert.Contains(t, report, "This may pass")
		assert.NotContains(t, report, "-32601")
		assert.NotContains(t, report, "keep")
	})
}
