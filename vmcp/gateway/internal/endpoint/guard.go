package endpoint

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
)

// errInternal is what a client is told of what only the log can explain.
var errInternal = &Failure{Code: mcp.INTERNAL_ERROR, Message: "internal error of the gateway; its log says more"}

// Guard logs a panic in the handling of a message, and makes an error of it,
// which tells nothing: a message costs nobody else. It is deferred.
func Guard(ctx context.Context, logger *slog.Logger, method string, err *error) {
	if p := recover(); p != nil {
		logger.ErrorContext(ctx, "panic in the handler of a message", slog.String(events.KeyEvent, events.Panic),
			slog.String(events.KeyMethod, method), slog.Any(events.KeyPanic, p), slog.String(events.KeyStack, string(debug.Stack())))
		*err = errInternal
	}
}
