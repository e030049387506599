package connect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/stretchr/testify/require"
)

// counted counts the connections to a target, and which of them are open.
type counted struct {
	connect.Target
	dials, open atomic.Int64
	life        atomic.Pointer[context.Context] // that the last one was started with
}

// Dial passes on a transport that must have no methods beyond the interface.
func (c *counted) Dial(ctx context.Context) (transport.Interface, error) {
	t, err := c.Target.Dial(ctx)
	c.dials.Add(1)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &countedTransport{Interface: t, target: c}, nil
}

type countedTransport struct {
	transport.Interface
	target *counted
	once   sync.Once
}

func (t *countedTransport) Start(ctx context.Context) error {
	t.target.life.Store(&ctx)
	return t.Interface.Start(ctx)
}

func (t *countedTransport) Close() error {
	t.once.Do(func() { t.target.open.Add(-1) })
	return t.Interface.Close()
}

// dialed counts the connections to a target and leaves its transport alone.
type dialed struct {
	connect.Target
	dials atomic.Int64
}

func (d *dialed) Dial(ctx context.Context) (transport.Interface, error) {
	d.dials.Add(1)
	return d.Target.Dial(ctx)
}

// String names the target as the target does.
func (d *dialed) String() string { return connect.To(d.Target).String() }

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write takes one record.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// records returns what was logged so far, without the times.
func (j *journal) records(t *testing.T) []map[string]any {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	var records []map[string]any
	for line := range bytes.Lines(j.text.Bytes()) {
		var record map[string]any
		require.NoError(t, json.Unmarshal(line, &record))
		delete(record, slog.TimeKey)
		records = append(records, record)
	}
	return records
}

// count says how often a text was written.
func (j *journal) count(text string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), text)
}
