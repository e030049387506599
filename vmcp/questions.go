package vmcp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/middleware"
)

// notAsked is why a question was not put.
type notAsked string

func (n notAsked) Error() string { return string(n) }

// A question is put about one method, and is answered in words. Its errors are
// those of [put], notAsked and unaskable.
type question func(*auditor, context.Context) (answer string, err error)

// questions are asked in the order of the methods in [capability.Methods].
var questions = map[mcp.MCPMethod]question{
	mcp.MethodToolsList:              (*auditor).listTools,
	mcp.MethodToolsCall:              (*auditor).callTool,
	mcp.MethodResourcesList:          (*auditor).listResources,
	mcp.MethodResourcesTemplatesList: (*auditor).listTemplates,
	mcp.MethodResourcesRead:          (*auditor).readResource,
	mcp.MethodResourcesSubscribe:     (*auditor).subscribe, // and unsubscribes
	mcp.MethodPromptsList:            (*auditor).listPrompts,
	mcp.MethodPromptsGet:             (*auditor).getPrompt,
	mcp.MethodCompletionComplete:     (*auditor).complete,
	mcp.MethodSetLogLevel:            (*auditor).setLevel,
}

// What a result has to have, where it is not a list.
var (
	aResource   = shape{"contents"}
	aPrompt     = shape{"messages"}
	completions = shape{"completion", "values"}
)

func (a *auditor) listTools(ctx context.Context) (string, error) {
	listed, err := put(ctx, nil, a.client.ListTools, mcp.ListToolsRequest{})
	if err != nil {
		return "", err
	}
	return toolKey.check(listed.Tools)
}

func (a *auditor) callTool(context.Context) (string, error) {
	return "", notAsked("calling a tool may have effects")
}

func (a *auditor) listResources(ctx context.Context) (string, error) {
	listed, err := put(ctx, nil, a.client.ListResources, mcp.ListResourcesRequest{})
	if err != nil {
		return "", err
	}
	a.resources = resourceKey.askable(listed.Resources)
	return resourceKey.check(listed.Resources)
}

func (a *auditor) listTemplates(ctx context.Context) (string, error) {
	listed, err := put(ctx, nil, a.client.ListResourceTemplates, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return "", err
	}
	a.templates = templateKey.askable(listed.ResourceTemplates)
	return templateKey.check(listed.ResourceTemplates)
}

func (a *auditor) readResource(ctx context.Context) (string, error) {
	if len(a.resources) == 0 {
		_, err := put(ctx, aResource, a.client.ReadResource, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "candor://no-such-resource"}})
		return asOfNothing("resource", err)
	}
	read, err := put(ctx, aResource, a.client.ReadResource, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: a.resources[0].URI}})
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
	if _, err := put(ctx, nil, onlyError(a.client.Subscribe), mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: uri}}); err != nil {
		return "", err
	}
	if _, err := put(ctx, nil, onlyError(a.client.Unsubscribe), mcp.UnsubscribeRequest{Params: mcp.UnsubscribeParams{URI: uri}}); err != nil {
		return "", fmt.Errorf("subscribed to the first resource, but %s: %w", mcp.MethodResourcesUnsubscribe, err)
	}
	return "subscribed to the first resource and unsubscribed", nil
}

func (a *auditor) listPrompts(ctx context.Context) (string, error) {
	listed, err := put(ctx, nil, a.client.ListPrompts, mcp.ListPromptsRequest{})
	if err != nil {
		return "", err
	}
	a.prompts = promptKey.askable(listed.Prompts)
	return promptKey.check(listed.Prompts)
}

// getPrompt prefers a prompt that needs no argument. One that does is asked for
// without: a complaint about that shows that the method is there.
func (a *auditor) getPrompt(ctx context.Context) (string, error) {
	if len(a.prompts) == 0 {
		_, err := put(ctx, aPrompt, a.client.GetPrompt, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "no-such-prompt"}})
		return asOfNothing("prompt", err)
	}
	prompt := a.prompts[max(0, slices.IndexFunc(a.prompts, func(p mcp.Prompt) bool { return !needsArguments(p) }))]
	_, err := put(ctx, aPrompt, a.client.GetPrompt, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: prompt.Name}})
	if needsArguments(prompt) && refusedWith(err, mcp.INVALID_PARAMS, mcp.INTERNAL_ERROR) {
		return fmt.Sprintf("the prompt %q, asked for without its arguments: %v", prompt.Name, err), nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the prompt %q", prompt.Name), nil
}

// asOfNothing judges the answer to a question about something that does not
// exist, which is put where the server lists nothing to ask about: a JSON-RPC
// error shows that the method is there, unless it is -32601.
func asOfNothing(what string, err error) (string, error) {
	switch {
	case err == nil:
		return fmt.Sprintf("something for a %s that does not exist", what), nil
	case failure.Of(err).Kind == failure.Refused && !failure.IsMethodNotFound(err):
		return fmt.Sprintf("for a %s that does not exist: %v", what, err), nil
	default:
		return "", err
	}
}

// refusedWith says whether the answer is a JSON-RPC error with one of the codes.
func refusedWith(err error, codes ...int) bool {
	failed := failure.Of(err)
	code, _ := failed.Code()
	return failed.Kind == failure.Refused && slices.Contains(codes, code)
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
	completed, err := put(ctx, completions, a.client.Complete, mcp.CompleteRequest{Params: mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteArgument{Name: argument}}})
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
		if variables := template.URITemplate.Varnames(); len(variables) > 0 {
			return mcp.ResourceReference{Type: "ref/resource", URI: template.URITemplate.Raw()}, variables[0], true
		}
	}
	return nil, "", false
}

func (a *auditor) setLevel(ctx context.Context) (string, error) {
	_, err := put(ctx, nil, onlyError(a.client.SetLevel), mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: mcp.LoggingLevelWarning}})
	return "the level was set", err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// auditor asks one server and keeps what it found.
type auditor struct {
	timeout time.Duration
	mask    func(string) string
	audit   Audit
	client  *mcpclient.Client

	// What the server lists and can be asked for.
	resources []mcp.Resource
	templates []mcp.ResourceTemplate
	prompts   []mcp.Prompt

	mu            sync.Mutex
	contradiction map[mcp.MCPMethod]middleware.Contradiction
}
