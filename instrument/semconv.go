package instrument

import (
	"github.com/mark3labs/mcp-go/mcp"
	"go.opentelemetry.io/otel/attribute"
)

// AttributeBackendID says which backend of a session a measurement is about.
const AttributeBackendID = "candor.backend.id"

// The names of the OpenTelemetry semantic conventions for the Model Context
// Protocol (docs/gen-ai/mcp.md of semantic-conventions-genai, read at commit
// 0393513c908b, status: development), and our own under "candor.".
const (
	attrMethod          = "mcp.method.name"
	attrProtocolVersion = "mcp.protocol.version"
	attrTool            = "gen_ai.tool.name"
	attrPrompt          = "gen_ai.prompt.name"
	attrGenAIOperation  = "gen_ai.operation.name" // executeTool, with tools/call and nothing else
	attrErrorType       = "error.type"
	attrStatusCode      = "rpc.response.status_code"
	attrTransport       = "network.transport"
	attrNetProtocol     = "network.protocol.name"
	attrNetVersion      = "network.protocol.version"
	attrServerAddress   = "server.address"
	attrServerPort      = "server.port"

	// On spans only: each has as many values as there are requests.
	attrRequestID   = "jsonrpc.request.id"
	attrSessionID   = "mcp.session.id"
	attrResourceURI = "mcp.resource.uri"

	// On the server's spans.
	attrClientAddress = "client.address"
	attrClientPort    = "client.port"

	attrBackendState = "candor.backend.state"
	attrCapability   = "candor.capability"

	executeTool = "execute_tool"
	other       = "_OTHER" // OpenTelemetry's word for what is too rare to have a name
)

// durationBoundaries are the conventions' histogram boundaries, in seconds.
var durationBoundaries = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// knownMethods are the protocol's; any other is measured as _OTHER.
var knownMethods = map[mcp.MCPMethod]bool{
	mcp.MethodInitialize: true, mcp.MethodServerDiscover: true, mcp.MethodPing: true,
	mcp.MethodToolsList: true, mcp.MethodToolsCall: true,
	mcp.MethodResourcesList: true, mcp.MethodResourcesTemplatesList: true, mcp.MethodResourcesRead: true,
	mcp.MethodResourcesSubscribe: true, mcp.MethodResourcesUnsubscribe: true, mcp.MethodSubscriptionsListen: true,
	mcp.MethodPromptsList: true, mcp.MethodPromptsGet: true,
	mcp.MethodCompletionComplete: true, mcp.MethodSetLogLevel: true,
	mcp.MethodElicitationCreate: true, mcp.MethodSamplingCreateMessage: true, mcp.MethodListRoots: true,
	mcp.MethodTasksGet: true, mcp.MethodTasksList: true, mcp.MethodTasksResult: true, mcp.MethodTasksCancel: true,
	mcp.MethodNotificationInitialized: true, mcp.MethodNotificationCancelled: true,
	mcp.MethodNotificationProgress: true, mcp.MethodNotificationMessage: true,
	mcp.MethodNotificationToolsListChanged: true, mcp.MethodNotificationPromptsListChanged: true,
	mcp.MethodNotificationResourcesListChanged: true, mcp.MethodNotificationResourceUpdated: true,
	mcp.MethodNotificationRootsListChanged: true, mcp.MethodNotificationElicitationComplete: true,
}

// methodName is the method as an attribute.
func methodName(method mcp.MCPMethod) string {
	if !knownMethods[method] {
		return other
	}
	return string(method)
}

// text adds an attribute that has a value.
func text(to []attribute.KeyValue, key, value string) []attribute.KeyValue {
	if value == "" {
		return to
	}
	return append(to, attribute.String(key, value))
}
