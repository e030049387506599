package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
)

// settingsTable are the keys of a server that are about how vmcp treats it.
var settingsTable = []key[Server]{
	toggle(about{name: "required", standard: "false", example: `true`,
		effect: "Without this server there is no session: when it cannot be reached, building one fails."},
		false, func(s *Server) *bool { return &s.Required }),
	{about{name: "prefix", kind: "name", standard: "the server's name", example: `"gh"`, schema: schema{"type": []string{"string", "null"}, "pattern": "^$|" + idPattern},
		effect: `What the names of the server's tools and prompts begin with, before a "_". Several servers may have the same one; what would then have one name ends in a hash.`}, (*reader).prefix},
	object(about{name: "timeouts", standard: "--timeout for start, handshake and lists together", example: `{"connect": "60s", "discovery": "10s", "call": "2m"}`,
		effect: "How long the server may take."}, timeoutsTable, func(s *Server) *Timeouts { return &s.Timeouts }),
	{toolsKey, (*reader).tools},
	object(about{name: "tolerance", standard: "all of it, but for failures", example: `{"resources": true, "prompts": false, "utilities": true, "failures": "degrade"}`,
		effect: `What is forgiven of a server that advertises something and answers "Method not found", or fails, when it is asked for it.`},
		toleranceTable, func(s *Server) *vmcp.Tolerance { return &s.Tolerance }),
	choice(about{name: "protocolVersion", standard: "the newest that both sides speak", example: `"2025-11-25"`,
		effect: "The version of the protocol that is asked for, without any fallback."},
		mcp.ValidProtocolVersions, func(s *Server) *string { return &s.ProtocolVersion }),
	{retryKey, (*reader).retry},
	object(about{name: "breaker", standard: fmt.Sprintf("%d failures", vmcp.DefaultBreakerFailures), example: `{"failures": 3}`,
		effect: "When calls to the server stop before they start, until it has come back."},
		breakerTable, func(s *Server) *vmcp.Breaker { return &s.Breaker }),
	words(about{name: "forwardHeaders", kind: "array of header names", standard: "none", example: `["X-Request-Id"]`,
		effect: `Headers of the caller's request that travel on to the server. Only for a server with a "url"; a name that is in "headers" as well, or that belongs to one connection, is refused.`},
		vmcp.HeaderNamePattern, forwardable, func(s *Server) *[]string { return &s.ForwardHeaders }),
}

var timeoutsTable = []key[Timeouts]{
	wait(about{name: "connect", standard: "--timeout", example: `"60s"`,
		effect: "Longest time for one attempt to start the server and to shake hands. Where it fails on the newest protocol, another on an older one may follow."},
		func(t *Timeouts) *time.Duration { return &t.Connect }),
	wait(about{name: "discovery", standard: "--timeout", example: `"10s"`,
		effect: "Longest time for the server's lists, and what connecting left of its own time: both together end in time."},
		func(t *Timeouts) *time.Duration { return &t.Discovery }),
	wait(about{name: "call", standard: brief(vmcp.DefaultCallTimeout), example: `"2m"`,
		effect: "Longest time for a call whose caller sets no limit."},
		func(t *Timeouts) *time.Duration { return &t.Call }),
}

var toleranceTable = []key[vmcp.Tolerance]{
	toggle(about{name: "resources", standard: "true", example: `false`,
		effect: "Lists of resources and of resource templates. With false, a server that lacks one that it advertises fails."},
		true, func(t *vmcp.Tolerance) *bool { return &t.StrictResources }),
	toggle(about{name: "prompts", standard: "true", example: `false`,
		effect: "The list of prompts. With false, a server that lacks it although it advertises it fails."},
		true, func(t *vmcp.Tolerance) *bool { return &t.StrictPrompts }),
	toggle(about{name: "utilities", standard: "true", example: `false`,
		effect: "Completion and the logging level. With false, the caller gets the server's error."},
		true, func(t *vmcp.Tolerance) *bool { return &t.StrictUtilities }),
	option(about{name: "failures", standard: `"fail"`, example: `"degrade"`,
		effect: `What becomes of a server whose list of resources or of prompts fails in another way than by "Method not found". "fail": it fails. "degrade": it keeps its tools and whatever else it has, as it does in any case where the list is that of the resource templates.`},
		"fail", "degrade", func(t *vmcp.Tolerance) *bool { return &t.DegradeFailures }),
}

var breakerTable = []key[vmcp.Breaker]{
	count(about{name: "failures", standard: strconv.Itoa(vmcp.DefaultBreakerFailures), example: `3`,
		effect: `After so many transport failures and time-outs in a row the server counts as failed. Errors that it answers with do not count.`},
		1, 1000, func(b *vmcp.Breaker) *int { return &b.Failures }),
}
