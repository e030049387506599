package redact_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/mcp-candor/candor/redact"
	"github.com/stretchr/testify/assert"
)

// registered is a redactor with as many values as a hundred backends have.
func registered() *redact.Redactor {
	r := redact.New()
	values := make([]string, 300)
	for i := range values {
		values[i] = fmt.Sprintf("%x-value-of-backend", i*7919+1)
	}
	r.Add(values...)
	return r
}

// discard is a handler that costs nothing.
type discard struct{}

func (discard) Enabled(context.Context, slog.Level) bool  { return true }
func (discard) Handle(context.Context, slog.Record) error { return nil }
func (d discard) WithAttrs([]slog.Attr) slog.Handler      { return d }
func (d discard) WithGroup(string) slog.Handler           { return d }
func record(message string, attrs ...slog.Attr) (r slog.Record) {
	r = slog.NewRecord(time.Unix(0, 0), slog.LevelInfo, message, 0)
	r.AddAttrs(attrs...)
	return r
}

func ordinary() slog.Record {
	return record("mcp call", slog.String("operation", "CallTool"), slog.String("method", "tools/call"), slog.String("tool", "honest_echo"),
		slog.String("outcome", "ok"), slog.Duration("duration", time.Millisecond))
}

func failing() slog.Record {
	return record("mcp call", slog.String("operation", "ListTools"), slog.String("method", "tools/list"), slog.String("outcome", "error"),
		slog.Duration("duration", time.Millisecond), slog.Int("code", -32603),
		slog.String("error", "connect to https://example.com/mcp: the handshake failed: the server said token=abcd-1234; log in again"))
}

func TestRecordWithoutSecretsCostsNoAllocation(t *testing.T) {
	handler, plain := registered().Handler(discard{}), ordinary()
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = handler.Handle(context.Background(), plain) }))
}

func BenchmarkHandler(b *testing.B) {
	for name, r := range map[string]*redact.Redactor{"no value": redact.New(), "300 values": registered()} {
		for kind, what := range map[string]slog.Record{"nothing to mask": ordinary(), "a token in an error": failing()} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				handler := r.Handler(discard{})
				b.ReportAllocs()
				for b.Loop() {
					_ = handler.Handle(b.Context(), what)
				}
			})
		}
	}
}

func BenchmarkText(b *testing.B) {
	const text = "connect to https://example.com/mcp: the handshake failed: dial tcp 192.0.2.1:443: connect: connection refused; check the address, and that the server is running"
	r := registered()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_ = r.Text(text)
	}
}
