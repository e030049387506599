package vmcp_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A way in which a backend fails, and what its report must say about it.
type failure struct {
	name   string
	target func(*testing.T) connect.Target
	says   string
}

// plays is a server over HTTP whose one answer makes it fail.
func plays(method string, answer ...badserver.Answer) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		return overHTTP(t, badserver.New(answering(method, answer...)))
	}
}

// everything is a server over HTTP that gives the same answer to everything.
func everything(answer badserver.Answer) func(*testing.T) connect.Target {
	return func(t *testing.T) connect.Target {
		return overHTTP(t, badserver.New(badserver.Script{Answers: answers{
			"initialize": {answer}, "server/discover": {answer}, "*": {answer},
		}}))
	}
}

func fixed(target connect.Target) func(*testing.T) connect.Target {
	return func(*testing.T) connect.Target { return target }
}

func thisProgram(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// nowhere is an address where nobody listens, and that no other test gets, as
// it may get that of a server that has ended.
const nowhere = "127.0.0.1:1"

var failures = []failure{
	{"nobody listens", fixed(connect.HTTP{URL: "http://" + nowhere + "/mcp"}), "check the address"},
	{"the URL is none", fixed(connect.HTTP{URL: "not a URL"}), "not an absolute http or https URL"},
	{"the command does not exist", fixed(connect.Stdio{Command: "/no/such/command"}), "install the command"},
	{"the command dies", func(t *testing.T) connect.Target {
		return connect.Stdio{Command: thisProgram(t), Env: map[string]string{dyingVariable: "1"}}
	}, "cannot start with"},
	{"the command is empty", fixed(connect.Stdio{}), "the command is empty"},
	{"nothing but 401", everything(badserver.Plain(401, "who are you?")), "check the headers"},
	{"nothing but 403", everything(badserver.Plain(403, "go away")), "check the headers"},
	{"nothing but 404", everything(badserver.Plain(404, "no such page")), "check the path of the URL"},
	{"nothing but 405", everything(badserver.Plain(405, "no")), "check the path of the URL"},
	{"nothing but 429", everything(badserver.Plain(429, "slow down")), "try again later"},
	{"nothing but 502", everything(badserver.Plain(502, "<h1>Bad Gateway</h1>")), "try again later"},
	{"a login page", everything(badserver.Answer{Body: new("<html>log in"), ContentType: "text/html"}), "text/html"},
	{"no JSON", everything(badserver.Answer{Body: new("{"), ContentType: "application/json"}), "unexpected"},
	{"a broken connection", everything(badserver.Answer{Cut: true}), "EOF"},
	{"a server that exits", everything(badserver.Answer{Exit: true}), "EOF"},
	{"initialize -32601", plays("initialize", badserver.Fail(mcp.METHOD_NOT_FOUND, missing)), missing},
	{"a protocol of its own", plays("initialize", badserver.Result(map[string]any{"protocolVersion": "1999-01-01"})), "1999-01-01"},
	{"capabilities in a list", func(t *testing.T) connect.Target {
		script := honest()
		script.Capabilities = []byte(`["tools"]`)
		return overHTTP(t, badserver.New(script))
	}, "unmarshal"},
	{"tools/list -32601", plays("tools/list", badserver.Fail(mcp.METHOD_NOT_FOUND, missing)), "advertises tools"},
	{"tools/list -32603", plays("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "out of order")), "out of order"},
	{"tools/list without a list", plays("tools/list", badserver.Result(map[string]any{})), "a result without a list"},
	{"tools/list cut", plays("tools/list", badserver.Answer{Cut: true}), "EOF"},
	{"tools/list, the second page", plays("tools/list", badserver.Tools("a").WithNext("2").AtCursor(""), badserver.Fail(mcp.INVALID_PARAMS, "what cursor?")), "after 1 pages with 1 entries"},
	{"tools/list going round", plays("tools/list", badserver.Tools("a").WithNext("2")), "did not advance"},
	{"tools/list 503", plays("tools/list", badserver.Plain(503, "warming up")), "warming up"},
	{"resources/list -32000", plays("resources/list", badserver.Fail(-32000, "out of resources")), "out of resources"},
	{"resources/list cut", plays("resources/list", badserver.Answer{Cut: true}), "EOF"},
	{"resources/list in a string", plays("resources/list", badserver.Result("res://")), "resources/list"},
	{"prompts/list -32602", plays("prompts/list", badserver.Fail(mcp.INVALID_PARAMS, "be more polite")), "be more polite"},
	{"prompts/list in a string", plays("prompts/list", badserver.Result("greet")), "prompts/list"},
}

func TestThirtyOfAHundredBackendsFail(t *testing.T) {
	t.Parallel()
	require.Len(t, failures, 30)
	var backends []vmcp.Backend
	servers, broken := map[string]*badserver.Server{}, map[string]failure{}
	for i := range 100 {
		id := fmt.Sprintf("b%02d", i)
		if n := len(broken); i%10 < 3 {
			broken[id] = failures[n]
			backends = append(backends, vmcp.Backend{ID: id, Connector: connect.To(failures[n].target(t))})
			continue
		}
		script := onlyTools("run")
		script.Answers["tools/call"] = []badserver.Answer{badserver.Result(mcp.NewToolResultText(id))}
		var backend vmcp.Backend
		backend, servers[id] = links[i%len(links)].serve(t, id, script)
		backends = append(backends, backend)
	}
	session := build(t, &vmcp.Builder{}, backends...)

	report := session.Report()
	require.Len(t, report.Backends, 100)
	for i, backend := range report.Backends {
		require.Equal(t, fmt.Sprintf("b%02d", i), backend.ID)
		if failure, ok := broken[backend.ID]; ok {
			assert.Equal(t, vmcp.Failed, backend.State, failure.name)
			assert.Contains(t, backend.Reason+"; "+backend.Remedy, failure.says, failure.name)
			continue
		}
		assert.Equal(t, vmcp.Ready, backend.State, backend.Reason)
		result, err := session.CallTool(t.Context(), callOf(backend.ID+"_run"))
		require.NoError(t, err)
		assert.Equal(t, backend.ID, textOf(t, result))
		assert.Equal(t, 1, servers[backend.ID].Count("tools/call"))
	}
	assert.Len(t, report.Failed(), 30)
	assert.Len(t, session.Tools(), 70)
}
