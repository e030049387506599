package main

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
)

// forAll is what holds for every server.
type forAll struct {
	timeout time.Duration // where the server has none of its own
	answer  int64         // longest answer, in bytes
	logger  *slog.Logger
}

// newBackend makes a backend of what a configuration says of a server.
func newBackend(s config.Server, all forAll) vmcp.Backend {
	backend := s.Backend
	backend.Connector = connect.To(s.Target, connectorOptions(s, all)...)
	backend.Timeout, backend.CallTimeout = backendTimeout(s, all.timeout), s.Timeouts.Call
	return backend
}

func connectorOptions(s config.Server, all forAll) []connect.Option {
	options := []connect.Option{
		connect.WithLogger(all.logger.With(events.KeyBackendID, s.ID)),
		connect.WithClientInfo(identity()),
		connect.WithTimeouts(timeouts(s, all.timeout)),
		connect.WithMaxBody(all.answer),
	}
	if s.ProtocolVersion != "" {
		options = append(options, connect.WithProtocolVersion(s.ProtocolVersion))
	}
	return options
}

// The times for the protocol's probe and for a second try on an older protocol.
const (
	probeTime  = 5 * time.Second
	secondTime = 10 * time.Second
)

// backendTimeout leaves room for a second try on an older protocol. It is zero,
// for the builder's, where the server has no time-out of its own.
func backendTimeout(s config.Server, all time.Duration) time.Duration {
	if s.Timeouts.Connect == 0 && s.Timeouts.Discovery == 0 {
		return 0
	}
	connecting := cmp.Or(s.Timeouts.Connect, all)
	if s.Timeouts.Connect != 0 && s.ProtocolVersion == "" {
		connecting += timeouts(s, all).Handshake
	}
	return connecting + cmp.Or(s.Timeouts.Discovery, all)
}

// timeouts give one attempt the time that the server is said to need. Where
// nothing is said they share out the time for all of them: most of it is for a
// start that is slow, as that of a program that is downloaded first, and some is
// left for a second try on an older protocol.
func timeouts(s config.Server, all time.Duration) connect.Timeouts {
	verification := cmp.Or(s.Timeouts.Discovery, all)
	switch own := s.Timeouts.Connect; {
	case own == 0:
		return connect.Timeouts{Probe: min(probeTime, all), Handshake: max(all-probeTime-secondTime, min(secondTime, all)), Verification: verification}
	case s.ProtocolVersion != "": // there is no probe then
		return connect.Timeouts{Probe: own, Handshake: own, Verification: verification}
	default:
		probe := min(probeTime, own/2)
		return connect.Timeouts{Probe: probe, Handshake: own - probe, Verification: verification}
	}
}
