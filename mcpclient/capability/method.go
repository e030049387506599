package capability

import "github.com/mark3labs/mcp-go/mcp"

// A Method is one request that a client may send.
type Method struct {
	Name mcp.MCPMethod
	// Of is the capability that it comes with; nil for what every server has.
	Of *Capability
	// Lists is what it lists, such as "resource template"; empty if it is no list.
	Lists string
	// Missing says what becomes of -32601 where the method was promised.
	Missing Leniency
	// Since and Until are the first and the last version of the protocol that
	// have it; empty where there is no bound.
	Since, Until string

	also func(mcp.ServerCapabilities) bool // what else must be said
}

// Leniency is what the rule of tolerance makes of a method that was promised and
// is not there.
type Leniency int

const (
	// Strict says that it is an error.
	Strict Leniency = iota
	// Contradicted says that it is an error that is a contradiction too.
	Contradicted
	// Forgiven says that it is an empty list.
	Forgiven
	// Utility says that it is an error, unless who asks chose to do without.
	Utility
)

const (
	handshakeUntil = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	statelessSince = mcp.ProtocolVersion20260728
)

// Methods is the table. Lists come first in their capability.
var Methods = []Method{
	{Name: mcp.MethodInitialize, Until: handshakeUntil},
	{Name: mcp.MethodPing, Until: handshakeUntil},
	{Name: mcp.MethodServerDiscover, Since: statelessSince},
	{Name: mcp.MethodSubscriptionsListen, Since: statelessSince},

	{Name: mcp.MethodToolsList, Of: Tools, Lists: "tool", Missing: Contradicted},
	{Name: mcp.MethodToolsCall, Of: Tools},

	{Name: mcp.MethodResourcesList, Of: Resources, Lists: "resource", Missing: Forgiven},
	{Name: mcp.MethodResourcesTemplatesList, Of: Resources, Lists: "resource template", Missing: Forgiven},
	{Name: mcp.MethodResourcesRead, Of: Resources},
	{Name: mcp.MethodResourcesSubscribe, Of: Resources, Until: handshakeUntil, also: subscribes},
	{Name: mcp.MethodResourcesUnsubscribe, Of: Resources, Until: handshakeUntil, also: subscribes},

	{Name: mcp.MethodPromptsList, Of: Prompts, Lists: "prompt", Missing: Forgiven},
	{Name: mcp.MethodPromptsGet, Of: Prompts},

	{Name: mcp.MethodCompletionComplete, Of: Completions, Missing: Utility},
	{Name: mcp.MethodSetLogLevel, Of: Logging, Missing: Utility, Until: handshakeUntil},
}

var byName = func() map[mcp.MCPMethod]Method {
	methods := make(map[mcp.MCPMethod]Method, len(Methods))
	for _, method := range Methods {
		methods[method.Name] = method
	}
	return methods
}()

// Of returns the row of a method, and whether there is one.
func Of(name mcp.MCPMethod) (Method, bool) {
	method, ok := byName[name]
	return method, ok
}

// Lists returns the rows of the lists that a server advertises, in their order.
func Lists(has mcp.ServerCapabilities) []Method {
	var lists []Method
	for _, method := range Methods {
		if method.Lists != "" && method.Of.In(has) {
			lists = append(lists, method)
		}
	}
	return lists
}

// IsList says whether the method asks for a list.
func IsList(name mcp.MCPMethod) bool { return byName[name].Lists != "" }

// Promised says whether a server has promised the method in its handshake: it
// advertises the capability, with all that the method needs of it.
func (m Method) Promised(has mcp.ServerCapabilities) bool {
	return m.Of.In(has) && (m.also == nil || m.also(has))
}

// On says whether a version of the protocol has the method. The versions are
// dates, and so in the order of their letters.
func (m Method) On(version string) bool {
	return m.Since <= version && (m.Until == "" || version <= m.Until)
}
