package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/redact"
	slogmulti "github.com/samber/slog-multi"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// logOptions say where the log goes besides standard error.
type logOptions struct {
	level          slog.Level
	file           string
	contradictions string
}

func (o *logOptions) flags(flags *pflag.FlagSet) {
	flags.TextVar(&o.level, "log-level", slog.LevelInfo, "lowest `LEVEL` to log: debug, info, warn or error")
	flags.StringVar(&o.file, "log-file", "", "append the log to `FILE` as lines of JSON as well")
	flags.StringVar(&o.contradictions, "contradictions", "", "append each contradiction of a server to `FILE` as a line of JSON as well")
}

// logs are the places that the log goes to: standard error, as text on a
// terminal and as JSON elsewhere; a file, if there is one; and a file for
// contradictions only, whatever the level. Secrets are masked before any of them
// sees a record. The caller closes them.
type logs struct {
	secrets *redact.Redactor
	level   slog.Level
	places  []place
	files   []io.Closer
}

type place struct {
	*sink
	handler slog.Handler
}

func openLogs(stderr io.Writer, terminal bool, o logOptions, secrets *redact.Redactor) (*logs, error) {
	l := &logs{secrets: secrets, level: o.level}
	options := &slog.HandlerOptions{Level: o.level}
	l.add("standard error", stderr, func(to io.Writer) slog.Handler {
		if terminal {
			return slog.NewTextHandler(to, options)
		}
		return slog.NewJSONHandler(to, options)
	})
	err := errors.Join(
		l.open("--log-file", o.file, func(to io.Writer) slog.Handler { return slog.NewJSONHandler(to, options) }),
		l.open("--contradictions", o.contradictions, newFeed))
	l.begin()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open adds a file, if one is named.
func (l *logs) open(flag, name string, handler func(io.Writer) slog.Handler) error {
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w; name a file that can be written", flag, err)
	}
	l.files = append(l.files, file)
	l.add(flag+" "+name, file, handler)
	return nil
}

func (l *logs) add(name string, to io.Writer, handler func(io.Writer) slog.Handler) {
	s := newSink(name, to)
	l.places = append(l.places, place{s, handler(s)})
}

// begin lets each place speak of its troubles on the others.
func (l *logs) begin() {
	for _, troubled := range l.places {
		var others, all []slog.Handler
		for _, place := range l.places {
			all = append(all, place.handler)
			if place.sink != troubled.sink {
				others = append(others, place.handler)
			}
		}
		troubled.others = l.speaker(others)
		troubled.all = l.speaker(all)
		go troubled.run()
	}
}

func (l *logs) speaker(handlers []slog.Handler) func(slog.Level, string, ...slog.Attr) {
	logger := l.over(handlers...)
	return func(level slog.Level, message string, attrs ...slog.Attr) {
		logger.LogAttrs(context.Background(), level, message, attrs...)
	}
}

// logger logs to all places and to what else is given, at the same level.
func (l *logs) logger(more ...slog.Handler) *slog.Logger {
	var handlers []slog.Handler
	for _, place := range l.places {
		handlers = append(handlers, place.handler)
	}
	atLevel := slogmulti.NewEnabledInlineMiddleware(func(ctx context.Context, level slog.Level, next func(context.Context, slog.Level) bool) bool {
		return level >= l.level && next(ctx, level)
	})
	for _, handler := range more {
		handlers = append(handlers, slogmulti.Pipe(atLevel).Handler(handler))
	}
	return l.over(handlers...)
}

func (l *logs) over(handlers ...slog.Handler) *slog.Logger {
	return slog.New(slogmulti.Pipe(l.secrets.Handler).Handler(slogmulti.Fanout(handlers...)))
}

// Close writes what waits and closes the files. That standard error could not be
// written is no error: there is nobody to tell. It is the last, for the others may
// speak of their troubles on it until they are closed.
func (l *logs) Close() error {
	errs := make([]error, 0, len(l.places)+len(l.files))
	for i, place := range slices.Backward(l.places) {
		if err := place.Close(); i > 0 {
			errs = append(errs, err)
		}
	}
	for _, file := range l.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// newFeed takes contradictions only.
func newFeed(to io.Writer) slog.Handler {
	feed := slog.NewJSONHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug})
	return slogmulti.Router().Add(feed, isContradiction).Handler()
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func isContradiction(_ context.Context, record slog.Record) bool {
	found := false
	record.Attrs(func(attr slog.Attr) bool {
		found = attr.Key == events.KeyEvent &&
			(attr.Value.String() == events.Contradiction || attr.Value.String() == events.MalformedList)
		return !found
	})
	return found
}

// closing closes what is no longer needed without losing either error.
func closing(err error, closer io.Closer) error {
	if failed := closer.Close(); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}
