package vmcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// CallTool calls a tool by its exposed name. Only the parameters travel to the
// backend, never the request's headers. A tool that fails answers with a
// result whose IsError is set; an error is an [*UnknownError], [ErrClosed] or
// the backend's own, with its type.
func (s *Session) CallTool(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	to, ok := s.routes.Load().toolOwners[request.Params.Name]
	if !ok {
		return nil, s.unknown("tool", request.Params.Name)
	}
	params := request.Params
	params.Name, params.Meta = to.name, onward(params.Meta)
	params.Task = nil // nobody could ask the session for what becomes of it
	if params.RawArguments != nil {
		params.Arguments = params.RawArguments // as it came: numbers keep their digits
	}
	return ask(ctx, s, to.member, (*mcpclient.Client).CallTool, mcp.CallToolRequest{Params: params})
}

// GetPrompt renders a prompt by its exposed name. What travels and which errors
// there are is as with CallTool.
func (s *Session) GetPrompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	to, ok := s.routes.Load().promptOwners[request.Params.Name]
	if !ok {
		return nil, s.unknown("prompt", request.Params.Name)
	}
	params := request.Params
	params.Name, params.Meta = to.name, onward(params.Meta)
	return ask(ctx, s, to.member, (*mcpclient.Client).GetPrompt, mcp.GetPromptRequest{Params: params})
}

// ReadResource reads a resource from the backend that lists it, or that has a
// template for it, or else from the only backend with resources, if there is
// just one: servers may serve what they do not list. A backend that promised
// resources and does not have the list counts only where no other has it.
func (s *Session) ReadResource(ctx context.Context, request mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	to, ok := s.ownerOf(request.Params.URI)
	if !ok {
		return nil, s.unknown("resource", request.Params.URI)
	}
	params := mcp.ReadResourceParams{URI: request.Params.URI, Meta: onward(request.Params.Meta)}
	return ask(ctx, s, to, (*mcpclient.Client).ReadResource, mcp.ReadResourceRequest{Params: params})
}

// Complete asks the backend that a prompt or a resource belongs to. The
// reference is a [mcp.PromptReference], with the exposed name, or a
// [mcp.ResourceReference]. A backend that does not advertise completions is not
// asked: it has none, and the result is empty.
func (s *Session) Complete(ctx context.Context, request mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	params := request.Params
	switch ref := params.Ref.(type) {
	case mcp.PromptReference:
		to, ok := s.routes.Load().promptOwners[ref.Name]
		if !ok {
			return nil, s.unknown("prompt", ref.Name)
		}
		ref.Name = to.name
		params.Ref = ref
		return s.complete(ctx, to.member, params)
	case mcp.ResourceReference:
		to, ok := s.ownerOf(ref.URI)
		if !ok {
			return nil, s.unknown("resource", ref.URI)
		}
		return s.complete(ctx, to, params)
	default:
		return nil, fmt.Errorf("%w: a completion needs a mcp.PromptReference or mcp.ResourceReference, not a %T", mcp.ErrInvalidParams, params.Ref)
	}
}

func (s *Session) complete(ctx context.Context, to *member, params mcp.CompleteParams) (*mcp.CompleteResult, error) {
	if to.server.Capabilities.Completions == nil {
		return &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}, nil
	}
	return ask(ctx, s, to, (*mcpclient.Client).Complete, mcp.CompleteRequest{Params: params})
}

func (s *Session) ownerOf(uri string) (*member, bool) {
	if owner, ok := s.routes.Load().ownerOf(uri); ok {
		return owner, true
	}
	if serving := s.those((*member).servesResources); len(serving) > 0 {
		return serving[0], len(serving) == 1
	}
	// One that does not have the list may still have the resource.
	promising := s.those((*member).advertisesResources)
	if len(promising) != 1 {
		return nil, false
	}
	return promising[0], true
}

func (s *Session) those(which func(*member) bool) []*member {
	return slices.DeleteFunc(slices.Clone(s.members), func(m *member) bool { return !which(m) })
}

// ask sends one request to a backend and names the backend in the error.
func ask[Req, Res any](ctx context.Context, s *Session, to *member, call func(*mcpclient.Client, context.Context, Req) (*Res, error), request Req) (*Res, error) {
	ctx, done := s.bound(ctx)
	defer done()
	if s.life.Err() != nil {
		return nil, ErrClosed
	}
	result, err := call(to.client, ctx, request)
	if err != nil {
		return nil, s.blame(to, err)
	}
	return result, nil
}

// blame names the backend in an error, and the session if that ended the call.
func (s *Session) blame(m *member, err error) error {
	if s.life.Err() != nil {
		return fmt.Errorf("%w: backend %q: %w", ErrClosed, m.ID, err)
	}
	return fmt.Errorf("backend %q: %w", m.ID, err)
}

// bound gives a call a deadline, if it has none, and ends it with the session:
// not every transport does so when it is closed.
func (s *Session) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	expire := func() {}
	if _, bounded := ctx.Deadline(); !bounded {
		ctx, expire = context.WithTimeout(ctx, s.callTimeout)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() { stop(); cancel(); expire() }
}

// onward returns what of a request's _meta goes on to the backend: not what
// the protocol says about the hop that it came over, and not its progress
// token, since progress is not handed back.
func onward(meta *mcp.Meta) *mcp.Meta {
	if meta == nil {
		return nil
	}
	kept := map[string]any{}
	for key, value := range meta.AdditionalFields {
		if key != "progressToken" && !strings.HasPrefix(key, "io.modelcontextprotocol/") {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return &mcp.Meta{AdditionalFields: kept}
}
