package middleware

// The names of the OpenTelemetry semantic conventions for the Model Context
// Protocol (docs/gen-ai/mcp.md of semantic-conventions-genai v0.1.0, status:
// development), and our own under "candor.".
const (
	scope = "github.com/mcp-candor/candor/middleware"

	metricOperationDuration = "mcp.client.operation.duration"
	metricSessionDuration   = "mcp.client.session.duration"
	metricContradictions    = "candor.contradictions"

	attrMethod          = "mcp.method.name"
	attrProtocolVersion = "mcp.protocol.version"
	attrTool            = "gen_ai.tool.name"
	attrPrompt          = "gen_ai.prompt.name"
	attrErrorType       = "error.type"
	attrStatusCode      = "rpc.response.status_code"
	attrCapability      = "candor.capability"
	attrEvent           = "candor.event"
)

// durationBoundaries are the conventions' histogram boundaries, in seconds.
var durationBoundaries = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
