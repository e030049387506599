package endpoint

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
)

// errInternal is what a client is told of what only the log can explain.
var errInternal = &Failure{Code: mcp.INTERNAL_ERROR, Message: "internal error of the gateway; its log says more"}

// Guard logs a panic in the handling of a message, and makes an error of it,
// which tells nothing: a message costs nobody else. It is deferred.
func Guard(ctx context.Context, logger *slog.Logger, method string, err *error) {
	if p := recover(); p != nil {
		logger.ErrorContext(ctx, "panic in the handler of a message", slog.String("event", "panic"),
			slog.String("method", method), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		*err = errInternal
	}
}
