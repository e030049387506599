package connect

import (
	"context"
	"sync/atomic"

	"github.com/mcp-candor/candor/mcpclient"
)

// A Connector opens connections to one target. It remembers that a server
// needed an older protocol and spares the next connection the detour. It is
// safe for concurrent use.
type Connector struct {
	target  Target
	options options
	secrets []string     // of the target
	legacy  *atomic.Bool // shared with what With made of it
	warned  *atomic.Bool // of a fallback; likewise
}

// To returns a connector for the target, which must not change afterwards. Where
// it is nil, [Connector.Open] says so.
func To(target Target, opts ...Option) *Connector {
	target = usable(target)
	c := &Connector{target: target, secrets: Secrets(target), legacy: new(atomic.Bool), warned: new(atomic.Bool), options: defaults()}
	return c.With(opts...)
}

// With returns a connector to the same target with further settings. The two
// share what they learn about the server.
func (c *Connector) With(opts ...Option) *Connector {
	other := *c
	for _, opt := range opts {
		if opt != nil {
			opt(&other.options)
		}
	}
	return &other
}

// Target returns what the connector connects to, as it was given to [To].
func (c *Connector) Target() Target {
	if none, ok := c.target.(noTarget); ok {
		return none.given
	}
	return c.target
}

// String names the target, without secrets.
func (c *Connector) String() string { return nameOf(c.target) }

// Mask takes the secrets of the target, its headers, environment, query and
// password, out of a text in which the server may have repeated them, and what
// package redact takes for a secret.
func (c *Connector) Mask(text string) string { return mask(text, c.secrets) }

// Open connects to the target with default settings; see [Connector.Open].
func Open(ctx context.Context, target Target, middlewares ...mcpclient.Middleware) (*mcpclient.Client, error) {
	return To(target).Open(ctx, middlewares...)
}

// Open returns a client that has been started, wrapped in the middlewares,
// initialised and verified by [FirstPage]. The caller closes it; it outlives
// ctx, which bounds the opening only. A failure is an [*Error].
func (c *Connector) Open(ctx context.Context, middlewares ...mcpclient.Middleware) (*mcpclient.Client, error) {
	return c.OpenVerifying(ctx, c.firstPage, middlewares...)
}
