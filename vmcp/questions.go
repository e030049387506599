package vmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// notAsked is why a question was not put.
type notAsked string

func (n notAsked) Error() string { return string(n) }

// question is about one method of one capability.
type question struct {
	capability string
	method     mcp.MCPMethod
	advertised func(*mcp.InitializeResult) bool
	put        func(*auditor, context.Context) (answer string, err error)
}

// questions are put in this order: lists first, then what they are about.
var questions = []question{
	{"tools", mcp.MethodToolsList, hasTools, (*auditor).listTools},
	{"tools", mcp.MethodToolsCall, hasTools, (*auditor).callTool},
	{"resources", mcp.MethodResourcesList, hasResources, (*auditor).listResources},
	{"resources", mcp.MethodResourcesTemplatesList, hasResources, (*auditor).listTemplates},
	{"resources", mcp.MethodResourcesRead, hasResources, (*auditor).readResource},
	{"resources", mcp.MethodResourcesSubscribe, hasSubscriptions, (*auditor).subscribe},
	{"prompts", mcp.MethodPromptsList, hasPrompts, (*auditor).listPrompts},
	{"prompts", mcp.MethodPromptsGet, hasPrompts, (*auditor).getPrompt},
	{"completions", mcp.MethodCompletionComplete, hasCompletions, (*auditor).complete},
	{"logging", mcp.MethodSetLogLevel, hasLogging, (*auditor).setLevel},
}

func hasTools(s *mcp.InitializeResult) bool       { return s.Capabilities.Tools != nil }
func hasResources(s *mcp.InitializeResult) bool   { return s.Capabilities.Resources != nil }
func hasPrompts(s *mcp.InitializeResult) bool     { return s.Capabilities.Prompts != nil }
func hasCompletions(s *mcp.InitializeResult) bool { return s.Capabilities.Completions != nil }

// Protocol 2026-07-28 has no logging/setLevel and no resources/subscribe:
// mcp-go sends nothing there.
func hasLogging(s *mcp.InitializeResult) bool {
	return s.Capabilities.Logging != nil && !mcp.IsModernProtocol(s.ProtocolVersion)
}

func hasSubscriptions(s *mcp.InitializeResult) bool {
	return hasResources(s) && s.Capabilities.Resources.Subscribe && !mcp.IsModernProtocol(s.ProtocolVersion)
}

func (a *auditor) listTools(ctx context.Context) (string, error) {
	listed, err := a.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return "", err
	}
	return count(len(listed.Tools), "tool"), nil
}

func (a *auditor) callTool(context.Context) (string, error) {
	return "", notAsked("calling a tool may have effects")
}

func (a *auditor) listResources(ctx context.Context) (string, error) {
	listed, err := a.client.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return "", err
	}
	a.resources = listed.Resources
	return count(len(listed.Resources), "resource"), nil
}

func (a *auditor) listTemplates(ctx context.Context) (string, error) {
	listed, err := a.client.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return "", err
	}
	a.templates = listed.ResourceTemplates
	return count(len(listed.ResourceTemplates), "resource template"), nil
}

func (a *auditor) readResource(ctx context.Context) (string, error) {
	if len(a.resources) == 0 {
		_, err := a.client.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "candor://no-such-resource"}})
		return asOfNothing("resource", err)
	}
	read, err := a.client.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: a.resources[0].URI}})
	if err != nil {
		return "", err
	}
	return "the first resource, " + count(len(read.Contents), "content"), nil
}

func (a *auditor) subscribe(ctx context.Context) (string, error) {
	if len(a.resources) == 0 {
		return "", notAsked("no resource is listed")
	}
	uri := a.resources[0].URI
	if err := a.client.Subscribe(ctx, mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri}}); err != nil {
		return "", err
	}
	if err := a.client.Unsubscribe(ctx, mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: uri}}); err != nil {
		return "", fmt.Errorf("subscribed to the first resource, but %s: %w", mcp.MethodResourcesUnsubscribe, err)
	}
	return "subscribed to the first resource and unsubscribed", nil
}

func (a *auditor) listPrompts(ctx context.Context) (string, error) {
	listed, err := a.client.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return "", err
	}
	a.prompts = listed.Prompts
	return count(len(listed.Prompts), "prompt"), nil
}

// getPrompt prefers a prompt that needs no argument. One that does is asked for
// without: a complaint about that shows that the method is there.
func (a *auditor) getPrompt(ctx context.Context) (string, error) {
	if len(a.prompts) == 0 {
		_, err := a.client.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "no-such-prompt"}})
		return asOfNothing("prompt", err)
	}
	prompt := a.prompts[max(0, slices.IndexFunc(a.prompts, func(p mcp.Prompt) bool { return !needsArguments(p) }))]
	_, err := a.client.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: prompt.Name}})
	if needsArguments(prompt) && (errors.Is(err, mcp.ErrInvalidParams) || errors.Is(err, mcp.ErrInternalError)) {
		return fmt.Sprintf("the prompt %q, asked for without its arguments: %v", prompt.Name, err), nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the prompt %q", prompt.Name), nil
}

// asOfNothing judges the answer to a question about something that does not
// exist, which is put where the server lists nothing to ask about: an error of
// the server's own shows that the method is there, unless it is -32601.
func asOfNothing(what string, err error) (string, error) {
	var broken *transport.Error
	switch {
	case err == nil:
		return fmt.Sprintf("something for a %s that does not exist", what), nil
	case errors.Is(err, mcp.ErrMethodNotFound) || errors.As(err, &broken) || undecodable(err):
		return "", err
	default:
		return fmt.Sprintf("for a %s that does not exist: %v", what, err), nil
	}
}

// undecodable says whether mcp-go could not read the answer.
func undecodable(err error) bool {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &shape)
}

func needsArguments(prompt mcp.Prompt) bool {
	return slices.ContainsFunc(prompt.Arguments, func(a mcp.PromptArgument) bool { return a.Required })
}

// complete asks for completions of the first argument of a prompt, or the
// first variable of a resource template.
func (a *auditor) complete(ctx context.Context) (string, error) {
	ref, argument, ok := a.completable()
	if !ok {
		return "", notAsked("no prompt with an argument and no resource template is listed")
	}
	completed, err := a.client.Complete(ctx, mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteArgument{Name: argument}}})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s for the argument %q", count(len(completed.Completion.Values), "completion"), argument), nil
}

func (a *auditor) completable() (ref any, argument string, ok bool) {
	for _, prompt := range a.prompts {
		if len(prompt.Arguments) > 0 {
			return mcp.PromptReference{Type: "ref/prompt", Name: prompt.Name}, prompt.Arguments[0].Name, true
		}
	}
	for _, template := range a.templates {
		if template.URITemplate == nil || template.URITemplate.Template == nil {
			continue
		}
		if variables := template.URITemplate.Varnames(); len(variables) > 0 {
			return mcp.ResourceReference{Type: "ref/resource", URI: template.URITemplate.Raw()}, variables[0], true
		}
	}
	return nil, "", false
}

func (a *auditor) setLevel(ctx context.Context) (string, error) {
	err := a.client.SetLevel(ctx, mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: mcp.LoggingLevelWarning}})
	return "the level was set", err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
