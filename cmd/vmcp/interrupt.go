package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// withInterrupt returns a context that Ctrl-C and SIGTERM end. Whoever comes
// again, however soon, does not want to wait: that ends the program at once, with
// the exit status that shells give to a program that a signal ended. The caller
// calls stop.
func withInterrupt(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, open := <-received; !open {
			return
		}
		cancel()
		if again, open := <-received; open {
			os.Exit(statusSignalled(again))
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(received)
		<-ended
		cancel()
	}
}

// statusSignalled is 128 and the signal's number.
func statusSignalled(s os.Signal) int {
	number, _ := s.(syscall.Signal)
	return 128 + int(number)
}
