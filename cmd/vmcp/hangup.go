package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// hangup is what SIGHUP does: it ends the command, until somebody takes it for
// something else.
type hangup struct {
	taken   atomic.Bool
	signals chan struct{}
	end     func()
}

type hangupKey struct{}

// withHangup returns a context that SIGHUP ends, unless takeHangup was called
// for it. A program that was started to outlive its terminal (nohup) ignores
// SIGHUP and is not ended by it. The caller calls stop.
func withHangup(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	h := &hangup{signals: make(chan struct{}, 1), end: cancel}
	if signal.Ignored(syscall.SIGHUP) {
		h.end = func() {}
	}
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range received {
			h.deliver()
		}
	}()
	return context.WithValue(ctx, hangupKey{}, h), func() {
		signal.Stop(received)
		close(received)
		<-ended
		cancel()
	}
}

// deliver needs no more than one signal that waits: it says that something
// changed.
func (h *hangup) deliver() {
	if !h.taken.Load() {
		h.end()
		return
	}
	select {
	case h.signals <- struct{}{}:
	default:
	}
}

// takeHangup makes SIGHUP a value on the channel that it returns, and no longer
// the end. Without withHangup nothing ever comes.
func takeHangup(ctx context.Context) <-chan struct{} {
	h, ok := ctx.Value(hangupKey{}).(*hangup)
	if !ok {
		return nil
	}
	h.taken.Store(true)
	return h.signals
}
