package middleware_test

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// telling is a target of one's own whose transport tells the call's exchange,
// as the comment of wire.Exchange says.
type telling struct{ connect.Target }

func inProcessTelling(s *badserver.Server) (connect.Target, func()) {
	return telling{s}, func() { _ = s.Close() }
}

func (t telling) Dial(ctx context.Context) (transport.Interface, error) {
	inner, err := t.Target.Dial(ctx)
	return tellingTransport{inner}, err
}

type tellingTransport struct{ transport.Interface }

func (t tellingTransport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	exchange := wire.ExchangeOf(ctx)
	exchange.Sent(fmt.Sprint(request.ID.Value()), t.GetSessionId())
	response, err := t.Interface.SendRequest(ctx, request)
	if err == nil && response.Error != nil {
		exchange.Refused(wire.Refusal{Code: response.Error.Code})
	}
	return response, err
}
