package redact_test

import (
	"errors"
	"log/slog"
	"os"

	"github.com/mcp-candor/candor/redact"
	slogmulti "github.com/samber/slog-multi"
)

// One redactor stands before all handlers, so that none of them gets a secret.
func Example() {
	token := "correct-horse" // as from the environment
	secrets := redact.New(redact.Values(token))

	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})
	logger := slog.New(slogmulti.Pipe(secrets.Handler).Handler(handler))

	logger.Info("connecting", "backendID", "files", "url", "https://joe:hunter2@example.com/mcp?key=abc&page=2")
	logger.Warn("refused", "error", errors.New("the server said: correct-horse is no token"))
	logger.Info("starting", "env", map[string]string{"HOME": "/home/joe"}, "apiKey", "abc")
	// Output:
	// level=INFO msg=connecting backendID=files url="https://***@example.com/mcp?key=***&page=2"
	// level=WARN msg=refused error="the server said: *** is no token"
	// level=INFO msg=starting env=*** apiKey=***
}

func withoutTime(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return attr
}
