package gateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/vmcp"
)

func (c *call) initialize() (any, error) {
	return &mcp.InitializeResult{
		ProtocolVersion: c.Client.Version(),
		Capabilities:    c.capabilities(),
		ServerInfo:      c.gateway.Info,
		Instructions:    c.instructions(),
	}, nil
}

func (c *call) discover() (any, error) {
	return &mcp.DiscoverResult{
		SupportedVersions: mcp.ValidProtocolVersions,
		Capabilities:      c.capabilities(),
		Instructions:      c.instructions(),
	}, nil
}

// capabilities declare what the session has something of, or may have soon,
// since a backend is not there yet, or not any more. A forgiven backend does not make the
// gateway repeat its empty promise.
func (c *call) capabilities() mcp.ServerCapabilities {
	has := c.offers()
	c.caller.promise(has)
	var capabilities mcp.ServerCapabilities
	for declared, there := range map[*capability.Capability]bool{
		capability.Tools: has.tools, capability.Prompts: has.prompts, capability.Resources: has.resources,
		capability.Completions: has.completions, capability.Logging: true,
	} {
		if there {
			declared.Declare(&capabilities, capability.Details{ListChanged: true, Subscribe: has.subscriptions})
		}
	}
	return capabilities
}

// offers are what there is or may be soon. A client that is not told of a kind
// in its handshake does not look when a backend comes that has it.
func (c *call) offers() kinds {
	coming := slices.ContainsFunc(c.session.Report().Backends, mayCome)
	return kinds{
		tools:         coming || !c.gateway.NoStatusTool || len(c.session.Tools()) > 0,
		prompts:       coming || len(c.session.Prompts()) > 0,
		resources:     coming || len(c.session.Resources())+len(c.session.ResourceTemplates()) > 0,
		subscriptions: coming || c.session.HasSubscriptions(),
		completions:   coming || c.session.HasCompletions(),
	}
}

// mayCome says whether a backend may have more soon than it has.
func mayCome(backend vmcp.BackendReport) bool {
	return backend.State == vmcp.Connecting || backend.State == vmcp.Failed || !backend.StaleSince.IsZero()
}

// promise takes down what a client was told of.
func (c *caller) promise(has kinds) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promised = c.promised.or(has)
}

// keeps are the kinds whose lists are answered: what there is, and what was
// promised before it left. A list without anything in it keeps a promise; an
// error does not.
func (c *call) keeps() kinds {
	has := c.offers()
	c.caller.mu.Lock()
	defer c.caller.mu.Unlock()
	return has.or(c.caller.promised)
}

// instructions are the backends' own, and what is missing, if something is.
func (c *call) instructions() string {
	var parts, lacking []string
	for _, backend := range c.session.Report().Backends {
		if backend.State != vmcp.Ready {
			lacking = append(lacking, "- "+sentence(backend))
		}
	}
	if len(lacking) > 0 {
		where := ""
		if c.hasStatusTool() {
			where = " The tool " + StatusTool + " says how things stand now."
		}
		parts = append(parts, "Not all of what this server puts together is there."+where+"\n"+strings.Join(lacking, "\n"))
	}
	for _, said := range c.session.Instructions() {
		parts = append(parts, fmt.Sprintf("Instructions of %q:\n%s", said.Backend, said.Text))
	}
	return strings.Join(parts, "\n\n")
}
