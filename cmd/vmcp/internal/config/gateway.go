package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
)

// Gateway is what a configuration says of the endpoint itself. It is complete: what the file does not
// say has its default, see DefaultGateway.
type Gateway struct {
	// Options are those of the gateway that a file can say: Idle, NoStatusTool, Sessions, Calls and Body.
	gateway.Options

	// Names is how names of tools and prompts come about.
	Names vmcp.Names
	// SoftDeadline is when a session answers with what it has.
	SoftDeadline time.Duration
	// DrainTimeout is how long calls in flight may take to end on shutdown.
	DrainTimeout time.Duration
	// Header bounds a request's headers, and Answer a server's answer, in bytes; neither is zero.
	Header, Answer int64
	// TLS is zero for an endpoint without it.
	TLS TLS
	// Watch says whether the file is read again when it changes.
	Watch bool
}

// TLS are two files in PEM format: both are named, or none.
type TLS struct {
	Cert string // the certificate, with those between it and the root
	Key  string
}

// DefaultGateway is the gateway of a file that says nothing about it.
func DefaultGateway() Gateway {
	return Gateway{
		Options: gateway.Options{
			Idle:     gateway.DefaultIdle,
			Sessions: gateway.DefaultSessions,
			Calls:    gateway.DefaultCalls,
			Body:     gateway.DefaultBody,
		},
		Names:        vmcp.Prefixed,
		SoftDeadline: 5 * time.Second,
		DrainTimeout: 5 * time.Second,
		Header:       64 << 10,
		Answer:       64 << 20,
		Watch:        true,
	}
}

// standard is what the documentation says holds without a key.
var standard = DefaultGateway()

// gatewayTable are the keys of "gateway".
var gatewayTable = []key[Gateway]{
	choice(about{name: "names", standard: strconv.Quote(standard.Names.String()), example: `"priority"`,
		effect: `How names of tools and prompts come about. "prefix": the server's prefix, a "_" and the server's own name. "priority": the server's own name; where several servers have it, the first of the file wins. "none": the server's own name; what several servers have is left out, with a reason.`},
		[]vmcp.Names{vmcp.Prefixed, vmcp.Priority, vmcp.Plain}, func(g *Gateway) *vmcp.Names { return &g.Names }),
	wait(about{name: "softDeadline", standard: brief(standard.SoftDeadline), example: `"2s"`,
		effect: "After so long a session answers with the servers that are there; the others join when they come."},
		func(g *Gateway) *time.Duration { return &g.SoftDeadline }),
	wait(about{name: "idleTimeout", standard: brief(standard.Idle), example: `"1h"`,
		effect: "A session that nobody has used for so long is closed, and its servers with it."},
		func(g *Gateway) *time.Duration { return &g.Idle }),
	wait(about{name: "drainTimeout", standard: brief(standard.DrainTimeout), example: `"30s"`,
		effect: "How long calls in flight may take to end when the gateway shuts down."},
		func(g *Gateway) *time.Duration { return &g.DrainTimeout }),
	toggle(about{name: "statusTool", standard: strconv.FormatBool(!standard.NoStatusTool), example: `false`,
		effect: "Whether there is a tool vmcp_status that tells the model what is missing and why."},
		true, func(g *Gateway) *bool { return &g.NoStatusTool }),
	object(about{name: "limits", standard: "see below", example: `{"sessions": 64, "calls": 256}`,
		effect: "What the gateway takes on. What is beyond it is refused with an error that says so."},
		limitsTable, func(g *Gateway) *Gateway { return g }),
	{tlsKey, (*reader).tls},
	toggle(about{name: "watch", standard: strconv.FormatBool(standard.Watch), example: `false`,
		effect: "Whether the file is read again when it changes. SIGHUP makes vmcp serve read it in any case."},
		false, func(g *Gateway) *bool { return &g.Watch }),
}

var limitsTable = []key[Gateway]{
	count(about{name: "sessions", standard: strconv.Itoa(standard.Sessions), example: `64`,
		effect: "Sessions at the same time."},
		1, 100_000, func(g *Gateway) *int { return &g.Sessions }),
	count(about{name: "calls", standard: strconv.Itoa(standard.Calls), example: `256`,
		effect: "Calls at the same time, of all sessions together."},
		1, 100_000, func(g *Gateway) *int { return &g.Calls }),
	count(about{name: "bodyBytes", standard: numberOf(standard.Body), example: `1048576`,
		effect: "Longest body of a request."},
		1<<10, 1<<30, func(g *Gateway) *int64 { return &g.Body }),
	count(about{name: "headerBytes", standard: numberOf(standard.Header), example: `16384`,
		effect: "Longest headers of a request, all together."},
		1<<10, 1<<24, func(g *Gateway) *int64 { return &g.Header }),
	count(about{name: "responseBytes", standard: numberOf(standard.Answer), example: `8388608`,
		effect: "Longest answer of a server: over HTTP a body or one event, else a line."},
		1<<10, 1<<30, func(g *Gateway) *int64 { return &g.Answer }),
}

var tlsKey = about{name: "tls", kind: "object", standard: "no TLS", example: `{"cert": "/etc/vmcp/tls.crt", "key": "/etc/vmcp/tls.key"}`,
	effect: "The endpoint is served over HTTPS. Needs both of its keys.",
	below:  abouts(tlsTable),
	schema: tlsSchema()}

var tlsTable = []key[TLS]{
	file(about{name: "cert", standard: "none", example: `"/etc/vmcp/tls.crt"`,
		effect: "The certificate and those between it and the root, in PEM format. Variables are replaced."},
		func(t *TLS) *string { return &t.Cert }),
	file(about{name: "key", standard: "none", example: `"/etc/vmcp/tls.key"`,
		effect: "Its private key, in PEM format. Variables are replaced."},
		func(t *TLS) *string { return &t.Key }),
}

// Settings are the paths of the keys that are about how vmcp treats a server, and of those of
// "gateway", of which no other key is a part: required, timeouts.connect, gateway.limits.calls, ...
func Settings() []string {
	return append(paths("", abouts(settingsTable)), paths("gateway.", abouts(gatewayTable))...)
}

func paths(before string, keys []about) []string {
	var all []string
	for _, k := range keys {
		if len(k.below) == 0 {
			all = append(all, before+k.name)
			continue
		}
		all = append(all, paths(before+k.name+".", k.below)...)
	}
	return all
}

// gateway is what the file says, over the defaults.
func (r *reader) gateway(e entry) Gateway {
	g := DefaultGateway()
	if e.path != "" && !e.blank() {
		readObject(r, e, gatewayTable, &g)
	}
	return g
}

func (r *reader) tls(e entry, g *Gateway) {
	before := len(r.problems)
	readObject(r, e, tlsTable, &g.TLS)
	if len(r.problems) > before {
		return
	}
	for _, missing := range []struct{ name, path string }{{"cert", g.TLS.Cert}, {"key", g.TLS.Key}} {
		if missing.path == "" {
			r.problem(e, fmt.Sprintf("there is no %q", missing.name), `Name both files: {"cert": "tls.crt", "key": "tls.key"}.`)
		}
	}
}
