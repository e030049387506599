package vmcp_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/require"
)

// person answers what servers ask, and hears what they tell.
type person struct {
	name string

	mu    sync.Mutex
	heard []mcp.JSONRPCNotification
}

func (p *person) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{
		SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent("sampled by " + p.name)}, Model: "model of " + p.name,
	}, nil
}

func (p *person) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"name": p.name},
	}}, nil
}

func (p *person) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{Name: p.name, URI: "file:///home/" + p.name}}}, nil
}

func (p *person) notify(n mcp.JSONRPCNotification) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, n)
}

// progress returns the tokens and the steps that were told.
func (p *person) progress() (tokens, steps []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.heard {
		tokens, steps = append(tokens, n.Params.AdditionalFields["progressToken"]), append(steps, n.Params.AdditionalFields["progress"])
	}
	return tokens, steps
}

// peer is the person as one who makes calls.
func (p *person) peer() vmcp.Peer {
	return vmcp.Peer{Sampling: p, Elicitation: p, Roots: p, Notify: p.notify}
}

// calling is a context for the person's calls.
func (p *person) calling(t *testing.T) context.Context { return vmcp.WithPeer(soon(t), p.peer()) }

// anything may be asked for.
var anything = vmcp.Asks{Sampling: true, Elicitation: true, Roots: true}

// notices collects what a session hears.
func notices(s *vmcp.Session) <-chan mcp.JSONRPCNotification {
	all := make(chan mcp.JSONRPCNotification, 1000)
	s.OnNotification(func(_ string, n mcp.JSONRPCNotification) {
		select {
		case all <- n:
		default:
		}
	})
	return all
}

// hear waits for one with the method.
func hear(t *testing.T, all <-chan mcp.JSONRPCNotification, method string) mcp.JSONRPCNotification {
	t.Helper()
	limit := soon(t)
	for {
		select {
		case n := <-all:
			if n.Method == method {
				return n
			}
		case <-limit.Done():
			require.FailNow(t, "it was not told", method)
		}
	}
}

func withProgress(name string, token mcp.ProgressToken, arguments map[string]any) mcp.CallToolRequest {
	request := callOf(name)
	if arguments != nil {
		request.Params.Arguments = arguments
	}
	request.Params.Meta = &mcp.Meta{ProgressToken: token}
	return request
}

// callable has what its calls need, too.
func callable(script badserver.Script) badserver.Script {
	done := badserver.Answer{Result: json.RawMessage(`{"content":[]}`)}
	if script.Answers["tools/call"] == nil {
		script.Answers["tools/call"] = []badserver.Answer{done}
	}
	script.Answers["resources/read"] = []badserver.Answer{{Result: json.RawMessage(`{"contents":[]}`)}}
	script.Answers["prompts/get"] = []badserver.Answer{{Result: json.RawMessage(`{"messages":[]}`)}}
	script.Answers["completion/complete"] = []badserver.Answer{{Result: json.RawMessage(`{"completion":{"values":[]}}`)}}
	return script
}
