package connect

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/lifetime"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// OpenVerifying is Open with another verification than [FirstPage], which nil
// stands for. It may run twice, each time with another client; only the second
// one is returned.
func (c *Connector) OpenVerifying(ctx context.Context, verify Verification, middlewares ...mcpclient.Middleware) (*mcpclient.Client, error) {
	if verify == nil {
		verify = c.firstPage
	}
	first := attempt{c, c.firstVersion(), verify, middlewares}
	opened, failed := first.open(ctx)
	if failed == nil {
		c.remember(opened)
		return opened, nil
	}
	if first.version != "" || !mendable(ctx, failed) {
		c.legacy.Store(false)
		return nil, failed
	}
	c.warn(ctx, "the server cannot be used on the newest protocol; trying a fresh connection on an older one", mcp.LATEST_LEGACY_PROTOCOL_VERSION, failed.Err)
	second := attempt{c, mcp.LATEST_LEGACY_PROTOCOL_VERSION, verify, middlewares}
	opened, again := second.open(ctx)
	if again != nil {
		again.First = failed
		return nil, again
	}
	c.remember(opened)
	return opened, nil
}

// firstVersion is the protocol to ask for first; empty means the newest.
func (c *Connector) firstVersion() string {
	if c.options.version == "" && c.legacy.Load() {
		return mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	return c.options.version
}

// remember spares the next connection the probe where it was of no use.
func (c *Connector) remember(opened *mcpclient.Client) {
	server, known := opened.Server()
	c.legacy.Store(known && !mcp.IsModernProtocol(server.ProtocolVersion))
}

func (c *Connector) warn(ctx context.Context, message, version string, reason error) {
	c.options.fellBack(ctx, version)
	level := slog.LevelWarn
	if c.warned.Swap(true) {
		level = slog.LevelDebug
	}
	c.options.logger.LogAttrs(ctx, level, message,
		slog.String(events.KeyEvent, events.ProtocolFallback),
		slog.String(events.KeyServer, nameOf(c.target)),
		slog.String(events.KeyProtocolVersion, version),
		slog.String(events.KeyReason, c.Mask(failure.Of(reason).Words())))
}

// attempt is one connection, on one protocol; empty means that mcp-go
// negotiates, newest first.
type attempt struct {
	*Connector
	version     string
	verify      Verification
	middlewares []mcpclient.Middleware
}

// open returns a client that works, or closes what it began.
func (a attempt) open(ctx context.Context) (*mcpclient.Client, *Error) {
	t, err := a.dial(ctx)
	if err != nil {
		return nil, a.failed(stageTarget, err, t)
	}
	conn := newConnection(t, a.version, a.clientOptions(t, a.version)...)
	wrapped := mcpclient.Wrap(conn, a.middlewares...)
	stage, err := a.establish(ctx, conn, wrapped)
	if err == nil {
		a.listen(conn, wrapped)
		return wrapped, nil
	}
	failed := a.failed(stage, err, t) // first: what a process says when it is closed is no reason
	if closing := conn.bounded(ctx, wrapped.Close); closing != nil {
		failed.Err = fmt.Errorf("%w (and closing it failed: %v)", err, closing) //nolint:errorlint // it is not the cause
	}
	return nil, failed
}

// listen opens the stream of a modern connection; on an older one it is up to
// the transport.
func (a attempt) listen(conn *connection, wrapped *mcpclient.Client) {
	server, known := wrapped.Server()
	if a.options.listening && known && mcp.IsModernProtocol(server.ProtocolVersion) {
		conn.listen(server.Capabilities, a)
	}
}

// establish goes through the stages and names the one that failed.
func (a attempt) establish(ctx context.Context, conn *connection, wrapped *mcpclient.Client) (stage string, err error) {
	if a.version != "" && !mcp.IsValidProtocolVersion(a.version) {
		return stageHandshake, mcp.UnsupportedProtocolVersionError{Version: a.version, Supported: mcp.ValidProtocolVersions}
	}
	bounded, clock := withClock(ctx, a.budget())
	defer clock.End(nil)
	a.awaitLife(bounded, clock, conn)
	if err := conn.start(bounded); err != nil {
		return stageStart, err
	}
	if err := a.initialize(bounded, conn, wrapped); err != nil {
		return stageHandshake, err
	}
	return stageVerification, a.verify(ctx, wrapped)
}

// awaitLife stops the clock until a process shows a first sign of life, where the
// caller's time bounds that: what starts slowly is not silent.
func (a attempt) awaitLife(ctx context.Context, clock *lifetime.Clock, conn *connection) {
	process, ok := conn.transport.(interface {
		alive(ctx context.Context) <-chan struct{}
	})
	if _, bounded := ctx.Deadline(); !ok || !bounded {
		return
	}
	goOn := clock.Halt()
	go func() {
		defer goOn()
		select {
		case <-process.alive(ctx):
		case <-ctx.Done():
		}
	}()
}

func (a attempt) budget() time.Duration {
	if a.version == "" {
		return a.options.timeouts.Probe + a.options.timeouts.Handshake
	}
	return a.options.timeouts.Handshake
}

func (a attempt) initialize(ctx context.Context, conn *connection, wrapped *mcpclient.Client) error {
	ctx, exchange := wire.WithExchange(ctx)
	result, err := wrapped.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{ClientInfo: a.options.info}})
	if err != nil {
		return conn.probe.reason(failure.Exact(err, exchange))
	}
	modern := mcp.IsModernProtocol(result.ProtocolVersion)
	if !modern && conn.probe.unanswered() {
		a.warn(ctx, "the server left the probe for the newest protocol unanswered; going on with an older one", result.ProtocolVersion,
			fmt.Errorf("no answer to %s within %s", mcp.MethodServerDiscover, a.options.timeouts.Probe))
	}
	return nil
}
