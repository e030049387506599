package vmcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
)

// CallTool calls a tool by its exposed name. Only the parameters travel to the
// backend, never the request's headers; what the backend may turn to the caller
// with, and which of its headers go on, is for [WithPeer] to say. A tool that
// fails answers with a result whose IsError is set; an error is an
// [*UnknownError], an [*UnavailableError], a [*NotRepeatedError], [ErrClosed] or
// the backend's own, with its type; the secrets of the backend's target are
// masked in its text.
func (s *Session) CallTool(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return routed(s, "tool", request.Params.Name, (*roster).tool, func(m *member, own string) (*mcp.CallToolResult, error) {
		return callTool(ctx, m, own, request.Params)
	})
}

func callTool(ctx context.Context, m *member, own string, params mcp.CallToolParams) (*mcp.CallToolResult, error) {
	ctx, meta, call := m.calls.begin(ctx, params.Meta)
	defer call.end()
	params.Name, params.Meta = own, meta
	params.Task = nil // nobody could ask the session for what becomes of it
	if params.RawArguments != nil {
		params.Arguments = params.RawArguments // as it came: numbers keep their digits
	}
	return ask(ctx, m, (*mcpclient.Client).CallTool, mcp.CallToolRequest{Params: params, Header: m.forwarded(ctx)})
}

// GetPrompt renders a prompt by its exposed name. What travels and which errors
// there are is as with CallTool.
func (s *Session) GetPrompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return routed(s, "prompt", request.Params.Name, (*roster).prompt, func(m *member, own string) (*mcp.GetPromptResult, error) {
		return getPrompt(ctx, m, own, request.Params)
	})
}

func getPrompt(ctx context.Context, m *member, own string, params mcp.GetPromptParams) (*mcp.GetPromptResult, error) {
	ctx, meta, call := m.calls.begin(ctx, params.Meta)
	defer call.end()
	params.Name, params.Meta = own, meta
	return ask(ctx, m, (*mcpclient.Client).GetPrompt, mcp.GetPromptRequest{Params: params, Header: m.forwarded(ctx)})
}

// ReadResource reads a resource from the backend that lists it, or that has a
// template for it, or else from the only backend with resources, if there is
// just one: servers may serve what they do not list. A backend that promised
// resources and does not have the list counts only where no other has it.
func (s *Session) ReadResource(ctx context.Context, request mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return routed(s, "resource", request.Params.URI, (*roster).resource, func(m *member, _ string) (*mcp.ReadResourceResult, error) {
		return readResource(ctx, m, request.Params)
	})
}

func readResource(ctx context.Context, m *member, params mcp.ReadResourceParams) (*mcp.ReadResourceResult, error) {
	ctx, meta, call := m.calls.begin(ctx, params.Meta)
	defer call.end()
	params = mcp.ReadResourceParams{URI: params.URI, Meta: meta}
	return ask(ctx, m, (*mcpclient.Client).ReadResource, mcp.ReadResourceRequest{Params: params, Header: m.forwarded(ctx)})
}

// Complete asks the backend that a prompt or a resource belongs to. The
// reference is a [mcp.PromptReference], with the exposed name, or a
// [mcp.ResourceReference]. A backend that does not advertise completions is not
// asked: it has none, and the result is empty.
func (s *Session) Complete(ctx context.Context, request mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	params := request.Params
	switch ref := params.Ref.(type) {
	case mcp.PromptReference:
		return routed(s, "prompt", ref.Name, (*roster).prompt, func(m *member, own string) (*mcp.CompleteResult, error) {
			ref.Name = own
			params.Ref = ref
			return complete(ctx, m, params)
		})
	case mcp.ResourceReference:
		return routed(s, "resource", ref.URI, (*roster).resource, func(m *member, _ string) (*mcp.CompleteResult, error) {
			return complete(ctx, m, params)
		})
	default:
		return nil, fmt.Errorf("%w: a completion needs a mcp.PromptReference or mcp.ResourceReference, not a %T", mcp.ErrInvalidParams, ref)
	}
}

func complete(ctx context.Context, m *member, params mcp.CompleteParams) (*mcp.CompleteResult, error) {
	if !capability.Completions.In(m.has()) {
		return &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}, nil
	}
	ctx, _, call := m.calls.begin(ctx, nil)
	defer call.end()
	return ask(ctx, m, (*mcpclient.Client).Complete, mcp.CompleteRequest{Params: params, Header: m.forwarded(ctx)})
}

// routed has the backend that has what is asked for do a request, and names that in
// the error. Where the backend has left the session meanwhile somebody else may
// have it.
func routed[Res any](
	s *Session, kind, name string, find func(*roster, string) (*member, string, bool), request func(m *member, own string) (*Res, error),
) (*Res, error) {
	for {
		r := s.roster.Load()
		m, own, ok := find(r, name)
		if !ok {
			return nil, r.missing(kind, name, s.builder.Names)
		}
		if result, err := request(m, own); !s.hasLeft(m, err) {
			return result, named(err, kind, name)
		}
	}
}

// hasLeft says whether a call was not sent since its backend has left the session
// in [Session.Apply].
func (s *Session) hasLeft(m *member, err error) bool {
	_, unavailable := errors.AsType[*UnavailableError](err)
	return unavailable && m.life.Err() != nil && s.life.Err() == nil
}
