package redact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/redact"
	slogmulti "github.com/samber/slog-multi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logged returns what a JSON and a text handler write of what log does.
func logged(t *testing.T, r *redact.Redactor, log func(*slog.Logger)) (asJSON, asText string) {
	t.Helper()
	var j, x bytes.Buffer
	options := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
		if len(groups) == 0 && attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}}
	log(slog.New(slogmulti.Pipe(r.Handler).Handler(slogmulti.Fanout(slog.NewJSONHandler(&j, options), slog.NewTextHandler(&x, options)))))
	return j.String(), x.String()
}

type valuer struct{ text string }

func (v valuer) LogValue() slog.Value { return slog.StringValue("token=" + v.text) }

type unexported struct {
	secret string
	Name   string
}

func TestHandlerMasksEveryKindOfAttribute(t *testing.T) {
	t.Parallel()
	const secret = "abcd-1234"
	cyclic := map[string]any{"f": func() {}, "password": secret}
	target, err := url.Parse("https://joe:" + secret + "@x/?key=" + secret)
	require.NoError(t, err)
	tests := map[string]slog.Attr{
		"by its key":            slog.String("clientSecret", secret),
		"by its text":           slog.String("said", "password="+secret),
		"a number":              slog.Int("pin", 1234),
		"an error":              slog.Any("error", fmt.Errorf("get: %w", errors.New("token="+secret))),
		"bytes":                 slog.Any("body", []byte("password="+secret)),
		"a header":              slog.Any("headers", http.Header{"Authorization": {"Bearer " + secret}, "X-Api-Key": {secret}}),
		"an environment":        slog.Any("env", map[string]string{"A": secret}),
		"a list":                slog.Any("args", []string{"--password", secret, "--token=" + secret}),
		"a struct":              slog.Any("it", struct{ Password, Text string }{secret, "token=" + secret}),
		"unexported fields":     slog.Any("it", unexported{secret, "x"}),
		"a pointer to a struct": slog.Any("it", &struct{ Inner *struct{ Password string } }{&struct{ Password string }{secret}}),
		"a URL":                 slog.Any("url", target),
		"a URL by value":        slog.Any("url", *target),
		"a LogValuer":           slog.Any("it", valuer{secret}),
		"what JSON cannot hold": slog.Any("it", cyclic),
		"a group":               slog.Group("a", slog.Group("b", slog.String("n", "1"), slog.String("password", secret))),
		"a group of secrets":    slog.Group("credentials", slog.String("a", secret), slog.Group("b", slog.String("c", secret))),
		"a request":             slog.Any("request", &mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "x", Arguments: map[string]any{"api_key": secret, "n": 12345678901234567}}}),
		"a result":              slog.Any("result", mcp.NewToolResultText(`{"password":"`+secret+`"}`)),
		"a named string":        slog.Any("x", mcp.MCPMethod("token="+secret)),
	}
	for name, attr := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			record := func(logger *slog.Logger) {
				logger.LogAttrs(context.Background(), slog.LevelDebug, "m", attr)
				logger.With(attr).WithGroup("g").Debug("m")
			}
			asJSON, asText := logged(t, redact.New(), record)
			assert.NotContains(t, asJSON, secret)
			assert.NotContains(t, asText, secret)
			if name != "unexported fields" {
				assert.Contains(t, asJSON, "***")
				assert.Contains(t, asText, "***")
			}
			assert.NotContains(t, asJSON+asText, "1234 ")
		})
	}
}

func TestHandlerMasksMessages(t *testing.T) {
	t.Parallel()
	asJSON, asText := logged(t, redact.New(), func(logger *slog.Logger) { logger.Info("got token=abcd", "n", 1) })
	assert.JSONEq(t, `{"level":"INFO","msg":"got token=***","n":1}`, asJSON)
	assert.Equal(t, "level=INFO msg=\"got token=***\" n=1\n", asText)
}

func TestHandlerMasksWithinAGroupOfSecrets(t *testing.T) {
	t.Parallel()
	asJSON, _ := logged(t, redact.New(), func(logger *slog.Logger) {
		logger.With("before", "a").WithGroup("").WithGroup("env").With("A", "b").WithGroup("g").Info("m", "C", "d", "set", true)
	})
	assert.JSONEq(t, `{"level":"INFO","msg":"m","before":"a","env":{"A":"***","g":{"C":"***","set":true}}}`, asJSON)
}

func TestHandlerLeavesOrdinaryRecordsAsTheyAre(t *testing.T) {
	t.Parallel()
	failure := errors.New("connection refused")
	attrs := []any{
		"backendID", "secret-store", "trace_id", "4bf92f3577b34da6a3ce929d0e0e4736", "span_id", "00f067aa0ba902b7",
		"event", "capability_contradiction", "tool", "vault_get_token", "request_id", 17, "progressToken", "p-1",
		"duration", time.Second, "at", time.Unix(0, 0).UTC(), "ok", true, "error", failure, "nothing", nil, "n", 1.5,
		"passwordSet", false, "token", "", "method", mcp.MethodResourcesList,
	}
	masked, maskedText := logged(t, redact.New(redact.Values("secret-store", "capability_contradiction")), func(logger *slog.Logger) { logger.Info("mcp call", attrs...) })
	var j bytes.Buffer
	slog.New(slog.NewJSONHandler(&j, &slog.HandlerOptions{ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}})).Info("mcp call", attrs...)
	assert.Equal(t, j.String(), masked)
	assert.Contains(t, maskedText, "connection refused")
}

func TestHandlerWritesStructsAlikeForEveryHandler(t *testing.T) {
	t.Parallel()
	asJSON, asText := logged(t, redact.New(), func(logger *slog.Logger) {
		logger.Info("m", "it", struct {
			A string `json:"a"`
			n int
		}{"<b>", 1}, "big", map[string]any{"n": uint64(18446744073709551615)})
	})
	assert.JSONEq(t, `{"level":"INFO","msg":"m","it":{"a":"<b>"},"big":{"n":18446744073709551615}}`, asJSON)
	assert.Contains(t, asText, `it="{\"a\":\"<b>\"}"`)
}

func TestHandlerSurvivesAnErrorThatPanics(t *testing.T) {
	t.Parallel()
	var none *url.Error
	asJSON, _ := logged(t, redact.New(), func(logger *slog.Logger) { logger.Info("m", "error", error(none)) })
	assert.Contains(t, asJSON, `"msg":"m"`)
}

func TestAttrMasksOne(t *testing.T) {
	t.Parallel()
	assert.Equal(t, slog.String("token", "***"), redact.New().Attr(slog.String("token", "abc")))
	assert.Equal(t, slog.String("a", "b"), redact.New().Attr(slog.String("a", "b")))
}

func TestMiddlewareIsOneOfSlogMulti(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	slog.New(slogmulti.Pipe(redact.Middleware(redact.Values("hunter-two"))).Handler(slog.NewTextHandler(&out, nil))).Info("hunter-two")
	assert.Contains(t, out.String(), "msg=***")
}
