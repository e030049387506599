//go:build unix && !real

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
)

// own are what the servers were configured with: of no known shape, so that
// only the configuration tells that they are secrets. The names say where they stand.
var own = map[string]string{
	"header Authorization":       "plum-Header1-bearer",
	"header Proxy-Authorization": "plum-Header2-proxy",
	"header Cookie":              "plum-Header3-cookie",
	"header X-Api-Key":           "plum-Header4-apikey",
	"header X-Whatever":          "plum-Header5-whatever",
	"header Api-Token":           "plum-Header6-token",
	"URL user":                   "plum-Url1-user",
	"URL password":               "plum-Url2-password",
	"URL parameter token":        "plum-Url3-token",
	"URL parameter k":            "plum-Url4-k",
	"URL parameter sig":          "plum-Url5+sig/x=",
	"env API_KEY":                "plum-Env1-apikey",
	"env DB_URL":                 "postgres://joe:plum-Env2@db/x",
	"env WHATEVER":               "plum-Env3-whatever",
	"env with quotes":            `plum-Env4-"quoted"\back`,
	"env with lines":             "plum-Env5-first\nsecond-line-of-it",
	"variable in arguments":      "plum-Arg1-positional",
	"variable after a flag":      "plum-Arg2-flag",
	"variable in a flag":         "plum-Arg3-inflag",
}

// foreign are what nobody configured: secrets that servers and callers bring
// along. The texts are how they come; %s is the secret.
var foreign = map[string][2]string{
	"GitHub":                {"%s", "ghp_" + plain36},
	"GitHub fine-grained":   {"%s", "github_pat_" + plain36},
	"GitLab":                {"push with %s", "glpat-" + plain36},
	"OpenAI":                {"key %s is revoked", "sk-proj-" + plain36},
	"Slack":                 {"(%s)", "xoxb-" + "1234567890-" + plain36},
	"AWS":                   {"%s", "AKIA" + "ABCDEFGHIJKLMNOP"},
	"Google":                {"%s", "AIza" + plain36},
	"npm":                   {"//registry/:_authToken=%s", "npm_" + plain36},
	"Stripe":                {"%s", "sk_live_" + plain36},
	"Hugging Face":          {"%s", "hf_" + plain36},
	"JWT":                   {"%s", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLWl0"},
	"private key":           {"%s", "-----BEGIN PRIVATE " + "KEY-----\nMIIEvQ-plum\n-----END PRIVATE KEY-----"},
	"bearer in a sentence":  {"you sent Bearer %s and that is old", "plumB34r3r"},
	"basic":                 {"Basic %s", "cGx1bTpiYXNpYzE="},
	"header in a text":      {"Authorization: Digest %s", "plum-digest"},
	"cookie in a text":      {"Set-Cookie: sid=%s; HttpOnly", "plumcookie9"},
	"JSON in a text":        {`{"apiKey":"%s","n":1}`, "plum-json-1"},
	"JSON in JSON":          {`"{\"client_secret\":\"%s\"}"`, "plum-json-2"},
	"assignment":            {"DB_PASSWORD=%s", "plum-assign"},
	"URL with a password":   {"dial redis://joe:%s@127.0.0.1:6379/0 failed", "plum-redis"},
	"URL with a token":      {"GET https://x/y?access_token=%s&n=1", "plum-query"},
	"URL with a key":        {"see https://x/y?n=1&key=%s", "plum-key"},
	"URL with a code":       {"https://x/cb?code=%s&state=1", "plum-code"},
	"URL in a URL":          {"https://x/?to=https%%3A%%2F%%2Fy%%3Ftoken%%3D%s", "plum-nested"},
	"signed URL":            {"https://b/o?X-Amz-Signature=%s", "plumsignature"},
	"password in a text":    {"password: %s", "plumword"},
	"flag in a text":        {"ran tool --password %s --verbose", "plum-flag"},
	"a webhook":             {"%s", "https://hooks.slack.com/services/" + "T0/B0/plum"},
	"passphrase":            {"passphrase = '%s'", "plum pass phrase"},
	"personal access token": {"personal_access_token: %s", "plum-pat-1"},
}

const plain36 = "Abcdefghij0123456789ABCDEFGHIJklmnop"

// everySecret is everything that a server may say in one text: what is foreign,
// and what of its own has such a name.
func everySecret(places ...string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(foreign)) {
		fmt.Fprintf(&text, foreign[name][0]+"\n", foreign[name][1])
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if place, _, _ := strings.Cut(name, " "); slices.Contains(places, place) {
			text.WriteString(own[name] + "\n")
		}
	}
	return text.String()
}

// What a server over HTTP, a child process and both of them know.
var (
	remotely = []string{"header", "URL"}
	locally  = []string{"env", "variable"}
	both     = slices.Concat(remotely, locally)
)

// assertClean looks for each secret in what was emitted, also as JSON and Go escape it.
func assertClean(t *testing.T, where, emitted string) {
	t.Helper()
	require.NotEmpty(t, emitted, where)
	secrets := maps.Clone(own)
	for name, secret := range foreign {
		secrets[name] = secret[1]
	}
	secrets["a part of the private key"], secrets["a part of the database's URL"] = "MIIEvQ-plum", "plum-Env2"
	for name, secret := range secrets {
		quoted, err := json.Marshal(secret)
		require.NoError(t, err)
		twice, err := json.Marshal(string(quoted))
		require.NoError(t, err)
		for _, form := range []string{secret, strings.Trim(string(quoted), `"`), strings.Trim(string(twice), `\"`)} {
			if at := strings.Index(emitted, form); form != "" && at >= 0 {
				t.Errorf("%s: the secret %q is in %q", where, name, emitted[max(0, at-200):min(len(emitted), at+100)])
				break
			}
		}
	}
	assert.NotContains(t, emitted, "plum-Header", where)
}

// telltale is a server that repeats every secret wherever it has words of its own.
func telltale(places []string) badserver.Script {
	said := everySecret(places...)
	last := badserver.Fail(-32050, said)
	if slices.Equal(places, remotely) {
		last = badserver.Plain(http.StatusServiceUnavailable, said)
	}
	return badserver.Script{
		Name: "telltale", Version: "1", Instructions: said,
		Capabilities: json.RawMessage(`{"tools":{},"resources":{},"prompts":{},"completions":{}}`),
		Answers: map[string][]badserver.Answer{
			"tools/list":     {badserver.Tools("tell", "refuse")},
			"resources/list": {badserver.Fail(mcp.METHOD_NOT_FOUND, said)},
			"prompts/list":   {badserver.Fail(mcp.METHOD_NOT_FOUND, said)},
			"prompts/get":    {badserver.Fail(-32050, said)},
			"tools/call": {
				badserver.Result(&mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(said)}, StructuredContent: map[string]any{
					"password": "plumword", "headers": map[string]any{"Authorization": []string{"Digest plum-digest"}}, "text": said,
				}}).Once(),
				badserver.Result(mcp.NewToolResultError(said)).Once(),
				badserver.Fail(mcp.INVALID_PARAMS, said).Once(),
				last,
			},
		},
	}
}

// secretive writes a configuration with every secret of own, for servers over HTTP
// and as child processes: one that works and two that fail.
func secretive(t *testing.T) string {
	t.Helper()
	for n, name := range []string{"variable in arguments", "variable after a flag", "variable in a flag"} {
		t.Setenv(fmt.Sprintf("VMCP_TEST_SECRET_%d", n), own[name])
	}
	script, err := json.Marshal(telltale(locally))
	require.NoError(t, err)
	binary, err := os.Executable()
	require.NoError(t, err)
	env := map[string]string{
		mainVariable: "1", "API_KEY": own["env API_KEY"], "DB_URL": own["env DB_URL"], "WHATEVER": own["env WHATEVER"],
		"QUOTED": own["env with quotes"], "LINES": own["env with lines"], "SAID": everySecret("variable"),
	}
	child := func(program string) map[string]any {
		return map[string]any{"command": "sh", "env": env, "args": []string{
			"-c", `echo "$SAID" >&2; ` + program, binary, write(t, "script.json", string(script)),
			"${VMCP_TEST_SECRET_0}", "--token", "${VMCP_TEST_SECRET_1}", "--key=${VMCP_TEST_SECRET_2}",
		}}
	}
	headers := map[string]string{
		"Authorization": "Bearer " + own["header Authorization"], "Proxy-Authorization": own["header Proxy-Authorization"],
		"Cookie": "sid=" + own["header Cookie"], "X-Api-Key": own["header X-Api-Key"],
		"X-Whatever": own["header X-Whatever"], "Api-Token": own["header Api-Token"],
	}
	remote := func(handler http.Handler) map[string]any {
		address := strings.Replace(newLoopback(t, handler), "http://", fmt.Sprintf("http://%s:%s@", own["URL user"], own["URL password"]), 1) +
			fmt.Sprintf("?token=%s&k=%s&sig=plum-Url5%%2Bsig%%2Fx%%3D", own["URL parameter token"], own["URL parameter k"])
		return map[string]any{"url": address, "headers": headers}
	}
	document, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"remote": remote(badserver.New(telltale(remotely))),
		"gone":   remote(refusing{}),
		"child":  child(`exec "$0" badserver --stdio --script "$1"`),
		"dying":  child(`exit 3`),
	}})
	require.NoError(t, err)
	return write(t, "servers.json", string(document))
}

// refusing answers everything with status 403 and every secret.
type refusing struct{}

func (refusing) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, everySecret(remotely...), http.StatusForbidden)
}

func TestThereAreEnoughSecretsToLookFor(t *testing.T) {
	assert.GreaterOrEqual(t, len(own)+len(foreign), 40)
}

func TestNoCommandEmitsASecret(t *testing.T) {
	file := secretive(t)
	for _, signal := range []string{"TRACES", "METRICS", "LOGS"} {
		t.Setenv("OTEL_"+signal+"_EXPORTER", "console")
	}
	for _, command := range [][]string{{"tools"}, {"tools", "--json"}, {"check"}, {"check", "--json"}} {
		dir := t.TempDir()
		log, feed := filepath.Join(dir, "log"), filepath.Join(dir, "feed")
		got := vmcpWith(t, append(command, "--config", file, "--log-level", "debug", "--log-file", log, "--contradictions", feed)...)
		name := strings.Join(command, " ")
		assertClean(t, name+": standard output", got.out)
		assertClean(t, name+": standard error", got.err)
		for _, name := range []string{log, feed} {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			assertClean(t, name, string(data))
		}
		assert.Contains(t, got.err, "mcp.client.operation.duration", "metrics went to the console as well")
		assert.Contains(t, got.out, "***")
	}
}

func TestNoSessionEmitsASecret(t *testing.T) {
	for _, signal := range []string{"TRACES", "LOGS"} {
		t.Setenv("OTEL_"+signal+"_EXPORTER", "console")
	}
	servers, err := config.Read(secretive(t), os.LookupEnv)
	require.NoError(t, err)
	var stderr bytes.Buffer
	log := filepath.Join(t.TempDir(), "log")
	command := &cobra.Command{}
	command.SetContext(t.Context())
	command.SetErr(&stderr)
	observed, err := observe(command, logOptions{level: -8, file: log})
	require.NoError(t, err)
	backends, said := backendsOf(observed, servers.Servers), []string{}

	builder := vmcp.Builder{Logger: observed.logger, MeterProvider: observed.telemetry.MeterProvider(), TracerProvider: observed.telemetry.TracerProvider()}
	session, err := builder.Build(t.Context(), backends)
	require.NoError(t, err, "two work")
	said = append(said, session.Report().String())
	for _, report := range session.Report().Backends {
		said = append(said, report.Reason, report.Remedy, report.BugReport)
	}
	for _, id := range []string{"remote", "child"} {
		said = append(said, everyCall(t, observed, session, id)...)
	}
	require.NoError(t, session.Close())
	for _, backend := range backends { // what a session does not log: arguments and results
		said = append(said, withPayloads(t, observed, backend)...)
	}
	audits, err := builder.Audit(t.Context(), backends)
	require.NoError(t, err)
	for _, audit := range audits {
		said = append(said, fmt.Sprintf("%+v", audit.Findings), audit.Error, audit.BugReport())
	}
	_, err = builder.Build(t.Context(), slices.DeleteFunc(slices.Clone(backends), func(b vmcp.Backend) bool { return b.ID == "remote" || b.ID == "child" }))
	require.Error(t, err)
	said = append(said, err.Error())

	scraped := httptest.NewRecorder()
	observed.telemetry.Metrics().ServeHTTP(scraped, httptest.NewRequest("GET", "/metrics", nil))
	require.NoError(t, observed.Close())
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	assertClean(t, "the log file", string(data))
	assertClean(t, "standard error, with spans and log records", stderr.String())
	assertClean(t, "metrics", scraped.Body.String())
	assertClean(t, "reports, audits and errors", strings.Join(said, "\n"))

	assert.Contains(t, string(data), `"request":{`, "payloads were logged")
	assert.Contains(t, string(data), `"structuredContent":{`)
	assert.Contains(t, stderr.String(), `"Name":"planted span ***`, "spans were exported")
	assert.Contains(t, stderr.String(), `"Name":"tools/call tell"`)
	assert.Contains(t, scraped.Body.String(), "mcp_client_operation_duration_seconds_count")
}

func backendsOf(observed *observability, servers []config.Server) []vmcp.Backend {
	var backends []vmcp.Backend
	for _, server := range servers {
		observed.secrets.Add(secretsOf(server.Target)...)
		backends = append(backends, newBackend(server, forAll{timeout: 5 * time.Second, logger: observed.logger}))
	}
	return backends
}

// arguments hold every secret as well.
func arguments() map[string]any {
	return map[string]any{"text": everySecret(both...), "password": "plumword", "args": []string{"--password", "plum-flag"}, "env": map[string]any{"K": "plum-Env3-whatever"}}
}

// everyCall calls what the server tells secrets with, logs the errors, and
// makes a span that quotes them.
func everyCall(t *testing.T, observed *observability, session *vmcp.Session, id string) []string {
	t.Helper()
	var failures []error
	for range 4 {
		_, err := session.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: id + "_tell", Arguments: arguments()}})
		failures = append(failures, err)
	}
	_, err := session.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "x://" + own["URL parameter k"]}})
	failures = append(failures, err)
	failure := errors.Join(failures...)
	require.Error(t, failure)
	observed.logger.Error("calls failed: "+failure.Error(), "error", failure, "headers", http.Header{"Authorization": {"Digest plum-digest"}})
	_, span := observed.telemetry.TracerProvider().Tracer("test").Start(context.Background(), "planted span "+own["header X-Whatever"])
	span.RecordError(failure)
	span.SetStatus(codes.Error, failure.Error())
	span.End()
	return nil // a caller gets the server's words as they are
}

// withPayloads makes calls through a chain that logs requests and results.
func withPayloads(t *testing.T, observed *observability, backend vmcp.Backend) []string {
	t.Helper()
	c, err := backend.Connector.Open(t.Context(), middleware.Default(observed.logger, observed.telemetry.MeterProvider(), middleware.WithPayloads(),
		middleware.WithTracerProvider(observed.telemetry.TracerProvider())))
	if err != nil {
		observed.logger.Error("no connection", "error", err)
		failed, ok := errors.AsType[*connect.Error](err)
		require.True(t, ok)
		return []string{err.Error(), failed.Reason(), failed.Stderr}
	}
	defer func() { assert.NoError(t, c.Close()) }()
	useEverything(t, c)
	return nil
}

func useEverything(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	for range 4 {
		_, _ = c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "tell", Arguments: arguments()}})
	}
	_, err := c.GetPrompt(t.Context(), mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "x", Arguments: map[string]string{"api_key": "plum-key", "text": everySecret(both...)}}})
	require.Error(t, err)
	_, err = c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	require.NoError(t, err, "forgiven")
	_, err = c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
}
