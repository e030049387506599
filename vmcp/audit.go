package vmcp

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/middleware"
)

// A Verdict says whether a server keeps one promise of its handshake.
type Verdict string

// The verdicts of an audit.
const (
	// Kept: the method answered as the protocol says.
	Kept Verdict = "kept"
	// Contradicted: the server does not have the method, -32601, its answer has no
	// list, or the list has entries that nobody can ask for: without a name, or of
	// the name of another one (for a resource the URI).
	Contradicted Verdict = "contradicted"
	// Broken: the method failed in another way, which may pass, or its result is not
	// of the shape that the protocol gives it.
	Broken Verdict = "failed"
	// NotAsked: nothing could be asked without side effects or knowledge of
	// the server.
	NotAsked Verdict = "not asked"
)

// A Finding is what came back from one method of an advertised capability.
type Finding struct {
	Capability string        `json:"capability"`
	Method     mcp.MCPMethod `json:"method"`
	Verdict    Verdict       `json:"verdict"`
	Answer     string        `json:"answer"` // what came back, in words

	unaskable bool // it is contradicted by its entries alone
}

// An Audit says what a server promises in its handshake and keeps.
type Audit struct {
	ID              string    `json:"id"`
	Target          string    `json:"target"`
	ServerName      string    `json:"serverName,omitempty"`
	ServerVersion   string    `json:"serverVersion,omitempty"`
	ProtocolVersion string    `json:"protocolVersion,omitempty"`
	Findings        []Finding `json:"findings"`
	// Error and Remedy say why the server could not be asked at all.
	Error  string `json:"error,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Verdict is the worst of the findings: Broken, then Contradicted, then Kept.
func (a Audit) Verdict() Verdict {
	worst := Kept
	for _, finding := range a.Findings {
		switch {
		case finding.Verdict == Broken:
			worst = Broken
		case finding.Verdict == Contradicted && worst == Kept:
			worst = Contradicted
		}
	}
	if a.Error != "" {
		worst = Broken
	}
	return worst
}

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
	client, err := backend.Connector.OpenProving(ctx, a.run, b.chain(backend, a.note, middleware.WithLevel(quiet)))
	if err != nil {
		a.audit.Error, a.audit.Remedy = reasonOf(err), failure.Of(err).Remedy()
		return a.audit
	}
	if err := client.Close(); err != nil { // says nothing about the server's word
		b.logger().WarnContext(ctx, "closing the audited server failed", events.KeyBackendID, backend.ID, events.KeyError, err)
	}
	return a.audit
}
