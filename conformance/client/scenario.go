package main

import (
	"encoding/json"
	"fmt"
)

// scenario is what the suite hands over in the environment.
type scenario struct {
	Name    string `json:"-"`
	Version string `json:"-"` // of the protocol; empty means that mcp-go negotiates

	// The rest is MCP_CONFORMANCE_CONTEXT.
	ClientID     string     `json:"client_id"`
	ClientSecret string     `json:"client_secret"`
	ToolCalls    []toolCall `json:"toolCalls"`
}

type toolCall struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

func scenarioOf(getenv func(string) string) (scenario, error) {
	var s scenario
	if data := getenv("MCP_CONFORMANCE_CONTEXT"); data != "" {
		if err := json.Unmarshal([]byte(data), &s); err != nil {
			return s, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	s.Name = getenv("MCP_CONFORMANCE_SCENARIO")
	s.Version = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
	return s, nil
}

// listens says whether the server sends requests on a stream that the client
// has to open beforehand.
func (s scenario) listens() bool { return s.Name == "elicitation-sep1034-client-defaults" }

// onlyLists says whether the server has tools but answers no call.
func (s scenario) onlyLists() bool { return s.Name == "json-schema-ref-no-deref" }
