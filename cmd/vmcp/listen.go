package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %q: %w; write an address such as 127.0.0.1:4483", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %q is not a loopback address: whoever reaches it could use every tool; write 127.0.0.1:PORT", address)
	}
	return nil
}

// drainTime is how long calls in flight may take to end on shutdown.
const drainTime = 5 * time.Second

// listenAndServe serves over HTTP until ctx ends. It announces the address once
// that is open.
func listenAndServe(ctx context.Context, handler http.Handler, address string, announce func(at string) error) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --listen", err)
	}
	if err := announce(listener.Addr().String()); err != nil {
		return closing(err, listener)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return shutdown(server, served)
	}
}

// shutdown lets calls in flight end, for a while, then ends them.
func shutdown(server *http.Server, served <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
