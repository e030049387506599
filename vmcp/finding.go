package vmcp

import "github.com/mark3labs/mcp-go/mcp"

// A Verdict says whether a server keeps one promise of its handshake.
type Verdict string

// The verdicts of an audit.
const (
	// Kept: the method answered as the protocol says.
	Kept Verdict = "kept"
	// Contradicted: the server does not have the method, -32601, its answer has no
	// list, or the list has entries that nobody can ask for: without a name, or of
	// the name of another one (for a resource the URI).
	Contradicted Verdict = "contradicted"
	// Broken: the method failed in another way, which may pass, or its result is not
	// of the shape that the protocol gives it.
	Broken Verdict = "failed"
	// NotAsked: nothing could be asked without side effects or knowledge of
	// the server.
	NotAsked Verdict = "not asked"
)

// A Finding is what came back from one method of an advertised capability.
type Finding struct {
	Capability string        `json:"capability"`
	Method     mcp.MCPMethod `json:"method"`
	Verdict    Verdict       `json:"verdict"`
	Answer     string        `json:"answer"` // what came back, in words

	unaskable bool // it is contradicted by its entries alone
}

// An Audit says what a server promises in its handshake and keeps.
type Audit struct {
	ID              string    `json:"id"`
	Target          string    `json:"target"`
	ServerName      string    `json:"serverName,omitempty"`
	ServerVersion   string    `json:"serverVersion,omitempty"`
	ProtocolVersion string    `json:"protocolVersion,omitempty"`
	Findings        []Finding `json:"findings"`
	// Error and Remedy say why the server could not be asked at all.
	Error  string `json:"error,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Verdict is the worst of the findings: Broken, then Contradicted, then Kept.
func (a Audit) Verdict() Verdict {
	worst := Kept
	for _, finding := range a.Findings {
		switch {
		case finding.Verdict == Broken:
			worst = Broken
		case finding.Verdict == Contradicted && worst == Kept:
			worst = Contradicted
		}
	}
	if a.Error != "" {
		worst = Broken
	}
	return worst
}
