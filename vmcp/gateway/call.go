package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// call is a request of a caller, and its session.
type call struct {
	*endpoint.Request
	ctx     context.Context
	gateway *Gateway
	caller  *caller
	session *vmcp.Session
}

// subject is what a request asks: the client may not change its mind in between.
func (c *call) subject() string {
	name, _ := mcp.ExtractHeaderName(c.Method, c.Params())
	return string(c.Method) + "\n" + name
}

// said gives an error of a session the JSON-RPC code that the caller's protocol
// has for it. Those of backends keep theirs.
func (c *call) said(err error) error { return c.Client.InEra(failureOf(err)) }

func failureOf(err error) error {
	if errors.Is(err, vmcp.ErrClosed) {
		return errShut // nothing else closes a session that is in use
	}
	if unknown, ok := errors.AsType[*vmcp.UnknownError](err); ok {
		return notFound(unknown)
	}
	if gone, ok := errors.AsType[*vmcp.UnavailableError](err); ok {
		return unavailable(gone)
	}
	if refused, ok := errors.AsType[*vmcp.RefusedError](err); ok {
		return &endpoint.Failure{Code: refused.Code, Message: fmt.Sprintf("backend %q: %s", refused.Backend, refused.Message), Data: refused.Data}
	}
	return err
}

// notFound says that nobody has something; of a resource both eras want its URI.
func notFound(err *vmcp.UnknownError) error {
	if err.Kind == "resource" {
		return &endpoint.Failure{Code: mcp.RESOURCE_NOT_FOUND, Message: err.Error(), Data: map[string]any{"uri": err.Name}}
	}
	return &endpoint.Failure{Code: mcp.INVALID_PARAMS, Message: err.Error()}
}

func unknownMethod(request *endpoint.Request) error {
	return &endpoint.Failure{Code: mcp.METHOD_NOT_FOUND, Message: "there is no method " + string(request.Method) + " on protocol " + request.Client.Version()}
}
