package vmcp

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/middleware"
)

// Audit connects to each server, asks each method of each capability that it
// advertises, and says what came back. It sends only requests that the protocol
// describes as reading, or that concern its own connection only: tools are
// never called. Each request may take as long as Timeout. The result is in the
// order of the backends; a server that cannot be reached has an audit with an
// Error. The error is [ErrBackends], or that of ctx if it ended.
//
// Over a transport of one's own that tells a [github.com/mcp-candor/candor/mcpclient/wire.Exchange] nothing, an audit
// knows no more than mcp-go's client: JSON-RPC codes that no specification names
// are failures without a code, and a result that mcp-go decodes has its shape.
func (b *Builder) Audit(ctx context.Context, backends []Backend) ([]Audit, error) {
	if err := validate(backends); err != nil {
		return nil, err
	}
	audits := make([]Audit, len(backends))
	b.each(backends, func(i int, backend Backend) {
		audits[i] = b.audit(ctx, backend)
	})
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("vmcp: the audit was interrupted: %w", err)
	}
	return audits, nil
}

// quiet is the level of an audit's calls: the audit itself tells what came back,
// and some of its questions are meant to fail.
func quiet(instrument.Outcome) slog.Level { return slog.LevelDebug }

func (b *Builder) audit(ctx context.Context, backend Backend) Audit {
	a := &auditor{timeout: b.timeoutOf(backend), mask: backend.Connector.Mask, audit: Audit{ID: backend.ID, Target: backend.Connector.String(), Findings: []Finding{}}}
	client, err := backend.Connector.OpenVerifying(ctx, a.run, b.chain(backend, a.note, middleware.WithLevel(quiet)))
	if err != nil {
		a.audit.Error, a.audit.Remedy = reasonOf(err), failure.Of(err).Remedy()
		return a.audit
	}
	if err := client.Close(); err != nil { // says nothing about the server's word
		b.logger().WarnContext(ctx, "closing the audited server failed", events.KeyBackendID, backend.ID, events.KeyError, err)
	}
	return a.audit
}
