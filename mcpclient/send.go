package mcpclient

import "context"

func (q query[Req, Res]) send(ctx context.Context, c *Client, request *Req) (*Res, error) {
	result, err := c.handle(ctx, Call{q.name, q.method, request, c, q.operation})
	if err != nil {
		return nil, err
	}
	return checked[Res](q.name, "result", result)
}

func (o command[Req]) send(ctx context.Context, c *Client, request *Req) error {
	return o.nothing(c.handle(ctx, Call{o.name, o.method, request, c, o.operation}))
}

func (s signal) send(ctx context.Context, c *Client) error {
	return s.nothing(c.handle(ctx, Call{s.name, s.method, nil, c, s.operation}))
}

// nothing checks the result of an operation that has none.
func (o *operation) nothing(result any, err error) error {
	if err == nil && result != nil {
		return &ContractError{Op: o.name, Part: "result", Want: "nil", Got: describe(result)}
	}
	return err
}
