package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// asker puts a question of a backend to the client. It has the methods of mcp-go's
// handlers for the three kinds of question.
type asker func(ctx context.Context, question mcp.InputRequest) (mcp.InputResponse, error)

// answerFor makes the peer answer what the client can be asked.
func (a asker) answerFor(peer *vmcp.Peer, can vmcp.Asks) {
	if can.Sampling {
		peer.Sampling = a
	}
	if can.Elicitation {
		peer.Elicitation = a
	}
	if can.Roots {
		peer.Roots = a
	}
}

// CreateMessage asks for a completion by the client's model.
func (a asker) CreateMessage(ctx context.Context, request mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	answer, err := a(ctx, mcp.NewSamplingInputRequest(request.CreateMessageParams))
	return answer.Sampling, err
}

// Elicit asks the user.
func (a asker) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer, err := a(ctx, mcp.NewElicitationInputRequest(request.Params))
	return answer.Elicitation, err
}

// ListRoots asks for the client's roots.
func (a asker) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	answer, err := a(ctx, mcp.NewRootsInputRequest())
	return answer.Roots, err
}

// atOnce asks a client that takes requests while it waits for an answer.
func (c *call) atOnce(ctx context.Context, question mcp.InputRequest) (answer mcp.InputResponse, err error) {
	switch question.Method {
	case mcp.MethodElicitationCreate:
		answer.Elicitation = &mcp.ElicitationResult{}
		err = c.Ask(ctx, question.Method, question.Elicitation, answer.Elicitation)
	case mcp.MethodSamplingCreateMessage:
		answer.Sampling = &mcp.CreateMessageResult{}
		err = c.Ask(ctx, question.Method, question.Sampling, answer.Sampling)
	default:
		answer.Roots = &mcp.ListRootsResult{}
		err = c.Ask(ctx, question.Method, nil, answer.Roots)
	}
	if err != nil {
		return mcp.InputResponse{}, inItsWords(err)
	}
	return answer, check(&answer)
}

// inItsWords gives an error of the client the type by which its code reaches the
// backend.
func inItsWords(err error) error {
	if failure, ok := errors.AsType[*endpoint.Failure](err); ok {
		return fmt.Errorf("the caller's answer: %w", (&mcp.JSONRPCErrorDetails{Code: failure.Code, Message: failure.Message, Data: failure.Data}).AsError())
	}
	return err
}

// check says what is wrong with an answer, and gives what a model has said its
// type.
func check(answer *mcp.InputResponse) (err error) {
	switch {
	case answer.Elicitation != nil:
		if !isAction(answer.Elicitation.Action) {
			err = fmt.Errorf("there is no action %q", answer.Elicitation.Action)
		}
	case answer.Sampling != nil:
		if answer.Sampling.Content, err = mcp.ParseSamplingContent(answer.Sampling.Content); answer.Sampling.Content == nil && err == nil {
			err = errors.New("it has no content")
		}
	case answer.Roots != nil && answer.Roots.Roots != nil:
	default:
		err = errors.New("it has no roots")
	}
	return err
}

func isAction(action mcp.ElicitationResponseAction) bool {
	switch action {
	case mcp.ElicitationResponseActionAccept, mcp.ElicitationResponseActionDecline, mcp.ElicitationResponseActionCancel:
		return true
	default:
		return false
	}
}
