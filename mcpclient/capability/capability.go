package capability

import "github.com/mark3labs/mcp-go/mcp"

// A Capability is what a server advertises under one name.
type Capability struct {
	// Name is the member of the handshake's capabilities, such as "tools".
	Name string
	// Since is the first version of the protocol in which a server says it; empty
	// for all. What it stands for may be older: 2024-11-05 has completions and no
	// word for them.
	Since string

	in      func(mcp.ServerCapabilities) bool
	tells   func(mcp.ServerCapabilities) bool
	declare func(*mcp.ServerCapabilities, Details)
}

// Details are what a capability may say beside that it is there.
type Details struct {
	ListChanged bool // the server tells when its list changes
	Subscribe   bool // one can subscribe to single resources
}

// The capabilities that have methods of a client's.
var (
	Tools = &Capability{
		Name:  "tools",
		in:    func(has mcp.ServerCapabilities) bool { return has.Tools != nil },
		tells: func(has mcp.ServerCapabilities) bool { return has.Tools != nil && has.Tools.ListChanged },
		declare: func(to *mcp.ServerCapabilities, with Details) {
			to.Tools = &struct {
				ListChanged bool `json:"listChanged,omitempty"`
			}{with.ListChanged}
		},
	}
	Resources = &Capability{
		Name:  "resources",
		in:    func(has mcp.ServerCapabilities) bool { return has.Resources != nil },
		tells: func(has mcp.ServerCapabilities) bool { return has.Resources != nil && has.Resources.ListChanged },
		declare: func(to *mcp.ServerCapabilities, with Details) {
			to.Resources = &struct {
				Subscribe   bool `json:"subscribe,omitempty"`
				ListChanged bool `json:"listChanged,omitempty"`
			}{with.Subscribe, with.ListChanged}
		},
	}
	Prompts = &Capability{
		Name:  "prompts",
		in:    func(has mcp.ServerCapabilities) bool { return has.Prompts != nil },
		tells: func(has mcp.ServerCapabilities) bool { return has.Prompts != nil && has.Prompts.ListChanged },
		declare: func(to *mcp.ServerCapabilities, with Details) {
			to.Prompts = &struct {
				ListChanged bool `json:"listChanged,omitempty"`
			}{with.ListChanged}
		},
	}
	Completions = &Capability{
		Name:    "completions",
		Since:   mcp.ProtocolVersion20250326,
		in:      func(has mcp.ServerCapabilities) bool { return has.Completions != nil },
		declare: func(to *mcp.ServerCapabilities, _ Details) { to.Completions = &struct{}{} },
	}
	Logging = &Capability{
		Name:    "logging",
		in:      func(has mcp.ServerCapabilities) bool { return has.Logging != nil },
		declare: func(to *mcp.ServerCapabilities, _ Details) { to.Logging = &struct{}{} },
	}
)

// All are the capabilities, in the order in which they are asked about.
var All = []*Capability{Tools, Resources, Prompts, Completions, Logging}

// In says whether it is advertised: a non-nil pointer in mcp-go's type, whatever
// it points to. {} advertises, null does not.
func (c *Capability) In(has mcp.ServerCapabilities) bool { return c != nil && c.in(has) }

// TellsChanges says whether it is advertised with the promise to tell when its
// list changes.
func (c *Capability) TellsChanges(has mcp.ServerCapabilities) bool {
	return c.tells != nil && c.tells(has)
}

// Declare advertises it.
func (c *Capability) Declare(to *mcp.ServerCapabilities, with Details) { c.declare(to, with) }

// subscribes is said inside of the resources.
func subscribes(has mcp.ServerCapabilities) bool {
	return has.Resources != nil && has.Resources.Subscribe
}
