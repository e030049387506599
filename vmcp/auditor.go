package vmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/middleware"
)

// note is called by the chain for what it forgives.
func (a *auditor) note(_ context.Context, contradiction middleware.Contradiction) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.contradiction[contradiction.Method] = contradiction
}

func (a *auditor) begin(client *mcpclient.Client) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.client, a.contradiction = client, map[mcp.MCPMethod]middleware.Contradiction{}
	a.audit.Findings, a.resources, a.templates, a.prompts = []Finding{}, nil, nil, nil
}

// run verifies the connection, so it may run twice. Only a refusal of
// the protocol, or the caller's leaving, fails it: all else is a finding.
func (a *auditor) run(ctx context.Context, client *mcpclient.Client) error {
	a.begin(client)
	server, known := client.Server()
	if !known {
		return errors.New("the handshake told nothing about the server")
	}
	a.audit.ServerName, a.audit.ServerVersion, a.audit.ProtocolVersion = server.ServerInfo.Name, server.ServerInfo.Version, server.ProtocolVersion
	for _, method := range capability.Methods {
		if questions[method.Name] == nil || !method.Promised(server.Capabilities) || !method.On(server.ProtocolVersion) {
			continue
		}
		finding, err := a.ask(ctx, method)
		if failure.Of(err).Kind == failure.Incompatible {
			return err
		}
		if ctx.Err() != nil { // nobody waits any more: what came back says nothing
			return ctx.Err()
		}
		a.audit.Findings = append(a.audit.Findings, finding)
	}
	return nil
}

// ask puts the question about one method and judges the answer.
func (a *auditor) ask(ctx context.Context, method capability.Method) (Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	answer, err := questions[method.Name](a, ctx)
	finding := Finding{Capability: method.Of.Name, Method: method.Name, Verdict: Kept, Answer: answer}
	if skipped, ok := errors.AsType[notAsked](err); ok {
		finding.Verdict, finding.Answer = NotAsked, string(skipped)
	} else if contradiction, ok := a.contradicted(method.Name, err); ok {
		finding.Verdict, finding.Answer = Contradicted, contradiction
	} else if useless, ok := errors.AsType[unaskable](err); ok {
		finding.Verdict, finding.Answer, finding.unaskable = Contradicted, string(useless), true
	} else if err != nil {
		finding.Verdict, finding.Answer = Broken, a.words(err)
	}
	finding.Answer = a.mask(finding.Answer)
	return finding, err
}

// contradicted says whether the answer was a contradiction, forgiven by the
// chain or not, and what it was.
func (a *auditor) contradicted(method mcp.MCPMethod, err error) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if contradiction, ok := a.contradiction[method]; ok {
		return contradiction.Answer(), true
	}
	_, partial := errors.AsType[*middleware.PartialListError](err) // then the server has the method
	if failure.IsMethodNotFound(err) && !partial {
		return a.words(err), true
	}
	return "", false
}

// words are those of a failure, with its code where there is one. What is cut off
// is masked before: half a secret would not be known for one.
func (a *auditor) words(err error) string {
	text := err.Error()
	_, exact := errors.AsType[*failure.RPCError](err)
	if code, ok := failure.Of(err).Code(); ok && !exact { // the transport told nothing
		text = fmt.Sprintf("%d, %s", code, text)
	}
	return failure.Of(&masked{a.mask(text), err}).Words()
}
