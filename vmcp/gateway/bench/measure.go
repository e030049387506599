package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

// The aims.
const (
	aimCall    = 2.5 // times the direct one, p50
	aimSession = 40 * time.Millisecond
	aimMemory  = 60 // MB
)

func (p plan) run(ctx context.Context) (err error) {
	targets, stop, err := p.targets(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	out := report{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	defer func() { err = errors.Join(err, out.Flush()) }()
	if err := p.measureSessions(ctx, out, targets); err != nil {
		return err
	}
	c, err := p.startChild(ctx, targets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	for _, protocol := range []string{mcp.ProtocolVersion20251125, mcp.ProtocolVersion20260728} {
		if err := p.measureProtocol(ctx, out, targets[0], c, protocol); err != nil {
			return fmt.Errorf("protocol %s: %w; vmcp serve says: %q", protocol, err, c.log)
		}
	}
	now, most := c.memory()
	fmt.Fprintf(out, "memory of the gateway\t%.0f MB, at most %.0f MB\taim < %d MB\t%s\n", now, most, aimMemory, met(now < aimMemory))
	return nil
}

// measureSessions builds sessions as the gateway does.
func (p plan) measureSessions(ctx context.Context, out report, targets []connect.Target) error {
	backends := make([]vmcp.Backend, len(targets))
	for i, target := range targets {
		backends[i] = vmcp.Backend{ID: backendID(i), Connector: connect.To(target)}
	}
	var took samples
	before := cpu("self")
	for range p.sessions {
		began := time.Now()
		session, err := new(vmcp.Builder).Build(ctx, backends)
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
		if err := session.Close(); err != nil {
			return err
		}
	}
	used := (cpu("self") - before) / time.Duration(p.sessions)
	if p.stdio { // starting the processes takes most of it: no aim
		out.line("set-up of a session", took)
	} else {
		out.line("set-up of a session", took, fmt.Sprintf("aim p50 < %s", aimSession), met(took.at(0.5) < aimSession))
	}
	fmt.Fprintf(out, "processor time for it, and its end\t%s\t\t\n", ms(used))
	return nil
}

// measureProtocol measures what a caller of the gateway meets, and one of a
// backend itself.
func (p plan) measureProtocol(ctx context.Context, out report, backend connect.Target, c *child, protocol string) (err error) {
	gateway := connect.HTTP{URL: c.url}
	exposed := backendID(0) + "_" + toolName(0)
	greeting, err := p.measureGreeting(ctx, gateway, protocol)
	if err != nil {
		return err
	}
	out.line(protocol+"  a new caller, up to its list", greeting)
	direct, err := newCaller(ctx, backend, protocol, toolName(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, direct.Close()) }()
	through, err := newCaller(ctx, gateway, protocol, exposed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, through.Close()) }()
	if err := p.measureCalls(ctx, out, direct, through, c, protocol); err != nil {
		return err
	}
	return p.measureLists(ctx, out, direct, through, protocol)
}

func (p plan) measureCalls(ctx context.Context, out report, direct, through *caller, c *child, protocol string) error {
	call := func(c *caller) func() error { return func() error { return c.call(ctx) } }
	before := c.cpu()
	one, other, err := compare(p.calls, call(direct), call(through))
	if err != nil {
		return err
	}
	used := (c.cpu() - before) / time.Duration(len(other)+warming)
	ratio := float64(other.at(0.5)) / float64(one.at(0.5))
	out.line(protocol+"  call, directly", one)
	out.line(protocol+"  call, through the gateway", other,
		fmt.Sprintf("aim p50 <= %.1f x direct", aimCall), fmt.Sprintf("%.2f x: %s", ratio, met(ratio <= aimCall)))
	fmt.Fprintf(out, "%s  the gateway's processor time for a call\t%s\t\t\n", protocol, ms(used))
	return nil
}

func (p plan) measureLists(ctx context.Context, out report, direct, through *caller, protocol string) error {
	one, other, err := compare(p.calls/20,
		func() error { return direct.list(ctx, p.tools) },
		func() error { return through.list(ctx, p.tools*p.backends) })
	if err != nil {
		return err
	}
	out.line(fmt.Sprintf("%s  list of %d tools, directly", protocol, p.tools), one)
	out.line(fmt.Sprintf("%s  list of %d tools, through the gateway", protocol, p.tools*p.backends), other)
	return nil
}

// measureGreeting measures callers that have never been there, up to their
// first list of tools.
func (p plan) measureGreeting(ctx context.Context, gateway connect.Target, protocol string) (samples, error) {
	return collect(p.sessions, func() error {
		c, err := newCaller(ctx, gateway, protocol, "")
		if err != nil {
			return err
		}
		return errors.Join(c.list(ctx, p.tools*p.backends), c.Close())
	})
}
