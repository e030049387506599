package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/mcp-candor/candor/middleware"
	slogmulti "github.com/samber/slog-multi"
	"golang.org/x/term"
)

// newLogger logs to stderr, as text on a terminal and as JSON elsewhere. With a
// file, each contradiction goes to that as well, whatever the level. The caller
// closes the file when the log is no longer needed.
func newLogger(stderr io.Writer, level slog.Level, file string) (*slog.Logger, io.Closer, error) {
	operator := operatorHandler(stderr, &slog.HandlerOptions{Level: level})
	if file == "" {
		return slog.New(operator), nopCloser{}, nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("--contradictions: %w; name a file that can be written", err)
	}
	feed := slog.NewJSONHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(slogmulti.Fanout(
		operator,
		slogmulti.Router().Add(feed, isContradiction).Handler(),
	)), f, nil
}

func operatorHandler(stderr io.Writer, options *slog.HandlerOptions) slog.Handler {
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.NewTextHandler(stderr, options)
	}
	return slog.NewJSONHandler(stderr, options)
}

func isContradiction(_ context.Context, record slog.Record) bool {
	found := false
	record.Attrs(func(attr slog.Attr) bool {
		found = attr.Key == "event" &&
			(attr.Value.String() == middleware.EventContradiction || attr.Value.String() == middleware.EventMalformedList)
		return !found
	})
	return found
}

type nopCloser struct{}

func (nopCloser) Close() error { return nil }

// closing closes what is no longer needed without losing either error.
func closing(err error, closer io.Closer) error {
	if failed := closer.Close(); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}
