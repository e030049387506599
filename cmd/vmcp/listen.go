package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/mcp-candor/candor/vmcp/status"
)

// probeEvery is how long a server may be silent before it is asked whether it
// is alive.
const probeEvery = 30 * time.Second

func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %q: %w; write an address such as 127.0.0.1:4483", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %q is not a loopback address: whoever reaches it could use every tool; write 127.0.0.1:PORT, or make callers authenticate with --auth-token-file", address)
	}
	return nil
}

// reachable is where the listener at an address is found on this machine: one
// that listens on all addresses is found on loopback, too.
func reachable(at string) string {
	host, port, err := net.SplitHostPort(at)
	if err != nil || !net.ParseIP(host).IsUnspecified() {
		return at
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// checkTLS reads the files, so that the endpoint does not fail at its first client.
func checkTLS(files config.TLS) error {
	if files == (config.TLS{}) {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(files.Cert, files.Key); err != nil {
		return fmt.Errorf(`gateway.tls: %w. Name a certificate as "cert" and its private key as "key", both in PEM format`, err)
	}
	return nil
}

// httpServer is the endpoint and what is beside it.
type httpServer struct {
	http.Server

	tls config.TLS
}

// server mounts the gateway and the pages. Everybody may ask whether the process
// is alive; all else is for callers.
func (s *service) server(g *gateway.Gateway, board *status.Board) *httpServer {
	pages := status.Handler(board, status.Options{Endpoint: gateway.Path})
	mux := http.NewServeMux()
	mux.Handle(gateway.Path, g)
	mux.Handle("/healthz", pages)
	mux.Handle("/metrics", g.Guard(s.observed.telemetry.Metrics()))
	mux.Handle("GET /metrics", g.Guard(s.observed.telemetry.Metrics()))
	mux.Handle("/", g.Guard(pages))
	return &httpServer{
		Server: http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: int(s.gateway.Header)},
		tls:    s.gateway.TLS,
	}
}

func (h *httpServer) scheme() string {
	if h.tls == (config.TLS{}) {
		return "http"
	}
	return "https"
}

// listenAndServe serves until ctx ends or begun fails, which is told the address
// once it is open. Then it takes no more connections and calls ending, which
// waits for calls in flight and ends the open streams.
func (h *httpServer) listenAndServe(ctx context.Context, address string, begun func(at string) error, ending func() error) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Join(fmt.Errorf("%w; choose another address with --listen", err), ending())
	}
	served := make(chan error, 1)
	go func() { served <- h.serve(listener) }()
	if err := begun(listener.Addr().String()); err != nil {
		return errors.Join(err, h.end(ending), closedOr(<-served))
	}
	select {
	case err := <-served:
		return errors.Join(err, ending())
	case <-ctx.Done():
		return errors.Join(h.end(ending), closedOr(<-served))
	}
}

func (h *httpServer) serve(listener net.Listener) error {
	if h.tls == (config.TLS{}) {
		return h.Serve(listener)
	}
	return h.ServeTLS(listener, h.tls.Cert, h.tls.Key)
}

// partingTime is how long connections may take to close once all is answered.
const partingTime = time.Second

// end closes what is idle at once, and the rest when ending has returned.
func (h *httpServer) end(ending func() error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- ending()
		time.AfterFunc(partingTime, cancel)
	}()
	err := h.Shutdown(ctx)
	if failure.Of(err).Kind == failure.Cancelled {
		err = h.Close()
	}
	return errors.Join(<-ended, err)
}

// closedOr leaves the error that means a proper end out.
func closedOr(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
