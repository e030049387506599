package gateway_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The servers say what they were given, as those that fail often do.
func TestNoSecretOfABackendIsToldInBand(t *testing.T) {
	t.Parallel()
	const password, key, token, env = "pa55word-in-the-url", "s3cret-in-the-query", "t0ken-in-a-header", "v4lue-in-the-environment"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said, _, _ := strings.Cut(r.Header.Get("X-Token"), "\n")
		http.Error(w, "no entry with "+said+" at "+r.URL.String()+" "+r.Header.Get("Authorization"), http.StatusBadGateway)
	}))
	t.Cleanup(echo.Close)
	address := strings.Replace(echo.URL, "http://", "http://user:"+password+"@", 1) + "/mcp?key=" + key
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	var log bytes.Buffer
	g := over(t, &vmcp.Builder{AllowEmpty: true}, []vmcp.Backend{
		{ID: "web", Connector: connect.To(connect.HTTP{URL: address, Headers: map[string]string{"X-Token": token}})},
		{ID: "program", Connector: connect.To(connect.Stdio{Command: shell, Args: []string{"-c", "echo $SECRET >&2; exit 1"}, Env: map[string]string{"SECRET": env}})},
	}, withStatus, func(o *gateway.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })

	for _, me := range []who{plain, newest, {protocol: modern, can: everything, level: "debug"}} {
		p := plug(t, g, me)
		var told bytes.Buffer
		keep := func(m said) {
			text, err := json.Marshal(m)
			require.NoError(t, err)
			told.Write(text)
		}
		keep(p.hello)
		for _, method := range lists() {
			keep(p.ask(method, nil))
		}
		for _, tool := range []string{gateway.StatusTool, "web_run", "program_run"} {
			keep(p.call(tool))
		}
		keep(p.ask("prompts/get", object{"name": "web_greet"}))
		keep(p.ask("resources/read", object{"uri": "res://x"}))
		keep(p.ask("resources/subscribe", object{"uri": "res://x"}))
		for !p.silent() {
			keep(p.next())
		}
		require.Contains(t, told.String(), "502", "what was asked is not the reason")
		for _, secret := range []string{password, key, token, env} {
			assert.NotContains(t, told.String(), secret)
		}
	}
	require.NoError(t, g.Shutdown(t.Context()))
	for _, secret := range []string{password, key, token, env} {
		assert.NotContains(t, log.String(), secret)
	}
}

func TestAFailedBuildTellsNoSecretEither(t *testing.T) {
	t.Parallel()
	const password = "pa55word-in-the-url"
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	g := over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: "web", Connector: connect.To(connect.HTTP{URL: strings.Replace(dead.URL, "http://", "http://user:"+password+"@", 1)})}})
	refused := plug(t, g, plain).hello.Error
	require.NotNil(t, refused)
	assert.Equal(t, mcp.INTERNAL_ERROR, refused.Code)
	assert.Contains(t, refused.Message, "connection refused")
	assert.NotContains(t, refused.Message+string(refused.Data), password)
}
