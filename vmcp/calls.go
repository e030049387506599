package vmcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
)

// CallTool calls a tool by its exposed name. Only the parameters travel to the
// backend, never the request's headers; what the backend may turn to the caller
// with, and which of his headers go on, is for [WithPeer] to say. A tool that
// fails answers with a result whose IsError is set; an error is an
// [*UnknownError], an [*UnavailableError], a [*NotRepeatedError], [ErrClosed] or
// the backend's own, with its type; the secrets of the backend's target are
// masked in its text.
func (s *Session) CallTool(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return untilThere(s, func() (*member, *mcp.CallToolResult, error) { return s.callTool(ctx, request) })
}

func (s *Session) callTool(ctx context.Context, request mcp.CallToolRequest) (*member, *mcp.CallToolResult, error) {
	to, ok := s.routes.Load().toolOwners[request.Params.Name]
	if !ok {
		return nil, nil, s.unknown("tool", request.Params.Name)
	}
	params := request.Params
	ctx, meta, call := to.calls.begin(ctx, params.Meta)
	defer call.end()
	params.Name, params.Meta = to.name, meta
	params.Task = nil // nobody could ask the session for what becomes of it
	if params.RawArguments != nil {
		params.Arguments = params.RawArguments // as it came: numbers keep their digits
	}
	result, err := ask(ctx, s, to.member, (*mcpclient.Client).CallTool, mcp.CallToolRequest{Params: params, Header: to.forwarded(ctx)})
	return to.member, result, about(err, "tool", request.Params.Name)
}

// GetPrompt renders a prompt by its exposed name. What travels and which errors
// there are is as with CallTool.
func (s *Session) GetPrompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return untilThere(s, func() (*member, *mcp.GetPromptResult, error) { return s.getPrompt(ctx, request) })
}

func (s *Session) getPrompt(ctx context.Context, request mcp.GetPromptRequest) (*member, *mcp.GetPromptResult, error) {
	to, ok := s.routes.Load().promptOwners[request.Params.Name]
	if !ok {
		return nil, nil, s.unknown("prompt", request.Params.Name)
	}
	params := request.Params
	ctx, meta, call := to.calls.begin(ctx, params.Meta)
	defer call.end()
	params.Name, params.Meta = to.name, meta
	result, err := ask(ctx, s, to.member, (*mcpclient.Client).GetPrompt, mcp.GetPromptRequest{Params: params, Header: to.forwarded(ctx)})
	return to.member, result, about(err, "prompt", request.Params.Name)
}

// ReadResource reads a resource from the backend that lists it, or that has a
// template for it, or else from the only backend with resources, if there is
// just one: servers may serve what they do not list. A backend that promised
// resources and does not have the list counts only where no other has it.
func (s *Session) ReadResource(ctx context.Context, request mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return untilThere(s, func() (*member, *mcp.ReadResourceResult, error) { return s.readResource(ctx, request) })
}

func (s *Session) readResource(ctx context.Context, request mcp.ReadResourceRequest) (*member, *mcp.ReadResourceResult, error) {
	to, ok := s.ownerOf(request.Params.URI)
	if !ok {
		return nil, nil, s.unknown("resource", request.Params.URI)
	}
	ctx, meta, call := to.calls.begin(ctx, request.Params.Meta)
	defer call.end()
	params := mcp.ReadResourceParams{URI: request.Params.URI, Meta: meta}
	result, err := ask(ctx, s, to, (*mcpclient.Client).ReadResource, mcp.ReadResourceRequest{Params: params, Header: to.forwarded(ctx)})
	return to, result, about(err, "resource", request.Params.URI)
}

// Complete asks the backend that a prompt or a resource belongs to. The
// reference is a [mcp.PromptReference], with the exposed name, or a
// [mcp.ResourceReference]. A backend that does not advertise completions is not
// asked: it has none, and the result is empty.
func (s *Session) Complete(ctx context.Context, request mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	switch ref := request.Params.Ref.(type) {
	case mcp.PromptReference:
		return untilThere(s, func() (*member, *mcp.CompleteResult, error) { return s.completePrompt(ctx, request.Params, ref) })
	case mcp.ResourceReference:
		return untilThere(s, func() (*member, *mcp.CompleteResult, error) { return s.completeResource(ctx, request.Params, ref.URI) })
	default:
		return nil, fmt.Errorf("%w: a completion needs a mcp.PromptReference or mcp.ResourceReference, not a %T", mcp.ErrInvalidParams, ref)
	}
}

func (s *Session) completePrompt(ctx context.Context, params mcp.CompleteParams, ref mcp.PromptReference) (*member, *mcp.CompleteResult, error) {
	to, ok := s.routes.Load().promptOwners[ref.Name]
	if !ok {
		return nil, nil, s.unknown("prompt", ref.Name)
	}
	exposed := ref.Name
	ref.Name = to.name
	params.Ref = ref
	result, err := s.complete(ctx, to.member, params)
	return to.member, result, about(err, "prompt", exposed)
}

func (s *Session) completeResource(ctx context.Context, params mcp.CompleteParams, uri string) (*member, *mcp.CompleteResult, error) {
	to, ok := s.ownerOf(uri)
	if !ok {
		return nil, nil, s.unknown("resource", uri)
	}
	result, err := s.complete(ctx, to, params)
	return to, result, about(err, "resource", uri)
}

func (s *Session) complete(ctx context.Context, to *member, params mcp.CompleteParams) (*mcp.CompleteResult, error) {
	if to.has().Completions == nil {
		return &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}, nil
	}
	ctx, _, call := to.calls.begin(ctx, nil)
	defer call.end()
	return ask(ctx, s, to, (*mcpclient.Client).Complete, mcp.CompleteRequest{Params: params, Header: to.forwarded(ctx)})
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
	return slices.DeleteFunc(slices.Clone(s.all()), func(m *member) bool { return !which(m) })
}

// ask sends one request to a backend and names the backend in the error. If the
// server has forgotten the session it is sent once more, in a new one, where
// that does no harm.
func ask[Req, Res any](ctx context.Context, s *Session, to *member, call func(*mcpclient.Client, context.Context, Req) (*Res, error), request Req) (*Res, error) {
	ctx, done := s.bound(ctx, to)
	defer done()
	var result *Res
	once := func(ctx context.Context, client *mcpclient.Client) (err error) {
		ctx, answer := answering(ctx, client, request)
		result, err = call(client, ctx, request)
		if needed, ok := answer.Required(); ok && err == nil {
			needs(result, needed)
		}
		return refused(to, err, answer)
	}
	c, err := s.over(ctx, to, once)
	switch {
	case c == nil || !c.forgotten(err):
	case to.repeatable(request):
		_, err = s.over(ctx, to, once)
	default:
		err = &NotRepeatedError{Backend: to.ID, Err: to.hide(err)}
	}
	if err != nil {
		return nil, s.blame(to, overdue(ctx, err))
	}
	return result, nil
}

// blame names the backend in an error, with its secrets masked, and the session
// if that ended the call.
func (s *Session) blame(m *member, err error) error {
	_, unavailable := errors.AsType[*UnavailableError](err)
	_, interrupted := errors.AsType[*NotRepeatedError](err)
	switch {
	case errors.Is(err, ErrClosed):
		return err
	case s.life.Err() != nil:
		return fmt.Errorf("%w: backend %q: %w", ErrClosed, m.ID, m.hide(err))
	case unavailable || interrupted: // they name it
		return err
	default:
		return fmt.Errorf("backend %q: %w", m.ID, m.hide(err))
	}
}

// bound gives a call a deadline, if it has none, and ends it with the session:
// not every transport does so when it is closed.
func (s *Session) bound(ctx context.Context, m *member) (context.Context, context.CancelFunc) {
	expire := func() {}
	after := s.builder.callTimeoutOf(m.Backend)
	if _, bounded := ctx.Deadline(); !bounded && !m.calls.limit(ctx, after, patience(after)) {
		ctx, expire = context.WithTimeoutCause(ctx, after, patience(after))
	}
	ctx, cancel := either(ctx, s.life)
	return ctx, func() { cancel(); expire() }
}

// patience is the cause of the end of a call that had no deadline of its own.
type patience time.Duration

func (p patience) Error() string { return "no answer within " + time.Duration(p).String() }

// Unwrap says what it is to those, such as package http, that hand on a cause.
func (p patience) Unwrap() error { return context.DeadlineExceeded }

// overdue says so if it was the session's time-out that ended a call, which its
// caller knows nothing of.
func overdue(ctx context.Context, err error) error {
	if silent, ours := errors.AsType[unanswered](context.Cause(ctx)); ours && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", silent, err)
	}
	if out, ours := errors.AsType[patience](context.Cause(ctx)); ours && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w, which is how long a call without a deadline may take: %w", out, err)
	}
	return err
}
