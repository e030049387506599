package vmcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// absentMinded is a server over HTTP that gives a new session at each initialize,
// and loses one after so many calls of tools. What it says to a session that it
// does not know is the subject. Its tool "look" is read-only, "buy" is not.
type absentMinded struct {
	lives  int // calls that a session survives; 0 for ever
	refuse func(w http.ResponseWriter, id json.RawMessage)
	// answer may answer a request of a session that it knows, and says whether it did.
	answer func(w http.ResponseWriter, method, tool string, id json.RawMessage) bool

	mu      sync.Mutex
	session string
	left    int
	counts  map[string]int // by method, known sessions and unknown ones
	ran     map[string]int // calls of tools that were done
}

func (f *absentMinded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var message struct {
		ID     json.RawMessage       `json:"id"`
		Method string                `json:"method"`
		Params struct{ Name string } `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[message.Method]++
	if message.Method != "initialize" && (f.session == "" || r.Header.Get("Mcp-Session-Id") != f.session) {
		f.refuse(w, message.ID)
		return
	}
	if f.answer != nil && f.answer(w, message.Method, message.Params.Name, message.ID) {
		return
	}
	f.serve(w, message.Method, message.Params.Name, message.ID)
}

func (f *absentMinded) serve(w http.ResponseWriter, method, tool string, id json.RawMessage) {
	result := `{}`
	switch method {
	case "initialize":
		f.session, f.left = fmt.Sprintf("session-%d", f.counts[method]), f.lives
		w.Header().Set("Mcp-Session-Id", f.session)
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"absent-minded","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"buy","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		f.ran[tool]++
		result = `{"content":[{"type":"text","text":"done"}]}`
		if f.left--; f.left == 0 {
			f.session = ""
		}
	}
	if id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (f *absentMinded) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[method]
}

func (f *absentMinded) done(tool string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ran[tool]
}

// serve makes it a backend.
func (f *absentMinded) backend(t *testing.T) vmcp.Backend {
	t.Helper()
	f.counts, f.ran = map[string]int{}, map[string]int{}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return vmcp.Backend{ID: "shop", Connector: connect.To(connect.HTTP{URL: server.URL}, connect.WithProtocolVersion(legacy))}
}

// saying refuses with a status and a body, in which %s is the request's id.
func saying(status int, contentType, body string) func(http.ResponseWriter, json.RawMessage) {
	return func(w http.ResponseWriter, id json.RawMessage) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		if id == nil {
			id = json.RawMessage("null")
		}
		fmt.Fprintf(w, body, id)
	}
}

// wordings are what servers say to a session that they have lost.
var wordings = map[string]func(http.ResponseWriter, json.RawMessage){
	"400, an error with a null id":        saying(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}%.0s`),
	"400, an error with an id of its own": saying(400, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request"}}%.0s`),
	"400, an error with the request's id": saying(400, "application/json", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"unknown session"}}`),
	"400 in plain text":                   saying(400, "text/plain", `no such session%.0s`),
	"400 without a word":                  saying(400, "text/plain", `%.0s`),
	"400, JSON that is no JSON-RPC":       saying(400, "application/json", `{"error":"session expired"}%.0s`),
	"404 in plain text":                   saying(404, "text/plain", `session not found%.0s`),
	"410":                                 saying(410, "text/plain", `gone%.0s`),
	"422, an error with a null id":        saying(422, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}}%.0s`),
}

func TestASessionThatIsLostIsMadeAnewHoweverTheServerWordsIt(t *testing.T) {
	t.Parallel()
	for name, refuse := range wordings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &absentMinded{lives: 1, refuse: refuse}
			backend := server.backend(t)
			backend.Retry.Initial = time.Millisecond
			session := build(t, &vmcp.Builder{}, backend)
			heard := listen(session)
			for i := range 3 {
				text, err := callTool("shop_look")(t.Context(), session)
				require.NoError(t, err, "call %d", i+1)
				assert.Equal(t, "done", text)
			}
			assert.Equal(t, 3, server.count("initialize"))
			assert.Equal(t, 3, server.done("look"), "nothing is done twice")
			assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
			_, states := heard.take()
			assert.Empty(t, states, "nobody lost anything")

			var interrupted *vmcp.NotRepeatedError
			_, err := session.CallTool(t.Context(), callOf("shop_buy"))
			require.ErrorAs(t, err, &interrupted, "what may do harm twice is not sent again")
			assert.Zero(t, server.done("buy"))
			_, err = session.CallTool(t.Context(), callOf("shop_buy"))
			require.NoError(t, err)
			assert.Equal(t, 1, server.done("buy"))
		})
	}
}

// What says nothing of a lost session, in the same words.
func TestAFailureThatIsAboutOneRequestCostsNoSession(t *testing.T) {
	t.Parallel()
	for name, refuse := range wordings {
		if name == "404 in plain text" { // the specification's word for a lost session
			continue
		}
		for how, pings := range map[string]bool{"a server that answers ping": true, "one that refuses it in the same way": false} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				server := &absentMinded{refuse: refuse}
				server.answer = func(w http.ResponseWriter, method, tool string, id json.RawMessage) bool {
					if tool != "buy" && (pings || method != "ping") {
						return false
					}
					refuse(w, id)
					return true
				}
				backend := server.backend(t)
				backend.Retry.Initial = time.Hour
				session := build(t, &vmcp.Builder{}, backend)
				for range 20 {
					_, err := session.CallTool(t.Context(), callOf("shop_buy"))
					require.Error(t, err)
					_, err = session.CallTool(t.Context(), callOf("shop_look"))
					require.NoError(t, err)
				}
				assert.Equal(t, 1, server.count("initialize"))
				assert.Equal(t, 1, server.count("ping"), "one experiment for each pause")
				assert.Equal(t, 40, server.count("tools/call"), "nothing is sent twice")
				assert.Equal(t, vmcp.Ready, session.Report().Backends[0].State)
			})
		}
	}
}

func TestManyCallersOfALostSessionMakeOneExperiment(t *testing.T) {
	t.Parallel()
	server := &absentMinded{refuse: wordings["400, an error with a null id"]}
	session := build(t, &vmcp.Builder{}, server.backend(t))
	server.mu.Lock()
	server.session = "" // lost
	server.mu.Unlock()
	var callers sync.WaitGroup
	for range 32 {
		callers.Go(func() {
			text, err := callTool("shop_look")(t.Context(), session)
			if assert.NoError(t, err) {
				assert.Equal(t, "done", text)
			}
		})
	}
	callers.Wait()
	assert.Equal(t, 1, server.count("ping"))
	assert.Equal(t, 2, server.count("initialize"))
	assert.Equal(t, 32, server.done("look"))
}

func TestABackendThatAnswersNothingButFailuresIsNotReady(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]bool{"with sessions": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := false
			server := &absentMinded{refuse: wordings["400 in plain text"]}
			server.answer = func(w http.ResponseWriter, method, _ string, id json.RawMessage) bool {
				if broken {
					saying(400, "text/plain", "out of order%.0s")(w, id)
				}
				return broken
			}
			handler := http.Handler(server)
			if !session {
				handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					server.mu.Lock()
					known := server.session
					server.mu.Unlock()
					r.Header.Set("Mcp-Session-Id", known)
					server.ServeHTTP(unnamed{w}, r)
				})
			}
			server.counts, server.ran = map[string]int{}, map[string]int{}
			endpoint := httptest.NewServer(handler)
			t.Cleanup(endpoint.Close)
			backend := vmcp.Backend{ID: "shop", Connector: connect.To(connect.HTTP{URL: endpoint.URL}, connect.WithProtocolVersion(legacy)), Retry: vmcp.Retry{Initial: time.Hour, Max: time.Hour}}
			built := build(t, &vmcp.Builder{}, backend)
			server.mu.Lock()
			broken = true
			server.mu.Unlock()
			_, err := built.CallTool(t.Context(), callOf("shop_look"))
			require.Error(t, err)
			report := built.Report().Backends[0]
			assert.Equal(t, vmcp.Failed, report.State)
			assert.Contains(t, report.Reason, "400")
			assert.Contains(t, report.Reason, "out of order")
		})
	}
}

// unnamed is an answer that names no session.
type unnamed struct{ http.ResponseWriter }

func (u unnamed) WriteHeader(status int) {
	u.Header().Del("Mcp-Session-Id")
	u.ResponseWriter.WriteHeader(status)
}

func (u unnamed) Write(p []byte) (int, error) {
	u.Header().Del("Mcp-Session-Id")
	return u.ResponseWriter.Write(p)
}

func TestAFailureOfTheTemplatesDegradesAndKeepsTheTools(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, l link) {
		script := answering("resources/templates/list", databaseDown)
		backend, _ := l.serve(t, "one", script)
		session := build(t, &vmcp.Builder{}, backend)
		report := session.Report().Backends[0]
		assert.Equal(t, vmcp.Degraded, report.State)
		assert.Equal(t, []string{"one_alpha", "one_beta"}, toolNames(session))
		assert.Contains(t, report.Reason, "resources/templates/list failed: ")
		assert.Contains(t, report.Reason, "the database is down")
		require.Len(t, report.FailedLists, 1)
		assert.Equal(t, mcp.MethodResourcesTemplatesList, report.FailedLists[0].Method)
	})
}

func TestTheKeyKeepsTheToolsWhateverElseFails(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"resources/list", "prompts/list"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, l link) {
				script := answering(method, databaseDown)
				strict, _ := l.serve(t, "strict", script)
				lenient, _ := l.serve(t, "lenient", script)
				lenient.Tolerance.DegradeFailures = true
				session := build(t, &vmcp.Builder{}, strict, lenient)
				failed := reportOf(t, session.Report(), "strict")
				assert.Equal(t, vmcp.Failed, failed.State, "the founding rule")
				assert.Contains(t, failed.Remedy, `"tolerance": {"failures": "degrade"}`)
				degraded := reportOf(t, session.Report(), "lenient")
				assert.Equal(t, vmcp.Degraded, degraded.State)
				assert.Contains(t, degraded.Reason, method+" failed: ")
				assert.Contains(t, degraded.Reason, "the database is down")
				assert.Equal(t, []string{"lenient_alpha", "lenient_beta"}, toolNames(session))
			})
		})
	}
	t.Run("tools stay strict", func(t *testing.T) {
		t.Parallel()
		backend, _ := links[0].serve(t, "one", answering("tools/list", databaseDown))
		backend.Tolerance.DegradeFailures = true
		session := build(t, &vmcp.Builder{AllowEmpty: true}, backend)
		assert.Equal(t, vmcp.Failed, session.Report().Backends[0].State)
	})
}
