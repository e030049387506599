package main

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcp-candor/candor/events"
)

const (
	sinkQueue = 1024            // records that wait while a place is slow
	sinkFlush = 2 * time.Second // for what waits when the command ends
)

// sink writes records to a place that may fail or block, such as a full disk or
// a pipe that nobody reads. Whoever logs never waits for it: records that find
// its queue full are dropped and counted. It says on the other sinks when it
// begins to fail, and everywhere how many records were lost once it works again.
// It is safe for concurrent use.
type sink struct {
	name string
	to   io.Writer
	// others and all log on the other sinks and on every sink.
	others, all func(level slog.Level, message string, attrs ...slog.Attr)

	lines   chan []byte
	closing chan struct{}
	closed  chan struct{}
	dropped atomic.Int64

	failure error // since the last success; the writing goroutine's
	failed  int64 // records
}

func newSink(name string, to io.Writer) *sink {
	nobody := func(slog.Level, string, ...slog.Attr) {}
	return &sink{name: name, to: to, others: nobody, all: nobody,
		lines: make(chan []byte, sinkQueue), closing: make(chan struct{}), closed: make(chan struct{})}
}

// Write takes one record, as slog's handlers write it. It never fails.
func (s *sink) Write(line []byte) (int, error) {
	select {
	case s.lines <- slices.Clone(line):
	default:
		s.dropped.Add(1)
	}
	return len(line), nil
}

// run writes until the sink is closed and nothing waits any more.
func (s *sink) run() {
	defer close(s.closed)
	for {
		select {
		case line := <-s.lines:
			s.write(line)
		case <-s.closing:
			s.drain()
			return
		}
	}
}

func (s *sink) drain() {
	for {
		select {
		case line := <-s.lines:
			s.write(line)
		default:
			return
		}
	}
}

func (s *sink) write(line []byte) {
	if _, err := s.to.Write(line); err != nil {
		s.fail(err)
		return
	}
	if len(s.lines) > 0 {
		return // it still catches up
	}
	if lost := s.failed + s.dropped.Swap(0); lost > 0 {
		s.failure, s.failed = nil, 0
		s.all(slog.LevelWarn, "log records were lost", slog.String(events.KeyEvent, events.LogLost), slog.String(events.KeyPlace, s.name), slog.Int64(events.KeyRecords, lost))
	}
}

func (s *sink) fail(err error) {
	first := s.failure == nil
	s.failure = err
	s.failed++
	if first {
		s.others(slog.LevelError, "the log cannot be written", slog.String(events.KeyEvent, events.LogLost), slog.String(events.KeyPlace, s.name), slog.String(events.KeyError, err.Error()),
			slog.String(events.KeyRemedy, "make room for it or name another place; what is lost is counted"))
	}
}

// Close writes what waits, for 2 s at most. It returns an error if records were
// lost and nobody was told yet how many.
func (s *sink) Close() error {
	close(s.closing)
	timeout := time.NewTimer(sinkFlush)
	defer timeout.Stop()
	select {
	case <-s.closed:
	case <-timeout.C:
		return fmt.Errorf("%s: it takes no more; at least %d records were not written", s.name, int64(len(s.lines))+s.dropped.Load()+1)
	}
	if lost := s.failed + s.dropped.Load(); lost > 0 {
		return fmt.Errorf("%s: %d records were not written: %w", s.name, lost, s.failure)
	}
	return nil
}
