package wire

import "encoding/json"

// Hooks see and change what mcp-go's client sends and decodes, where its types
// do not hold all that a caller or a server wrote. Either may be nil. They are
// called on the goroutine of the request, for side-by-side requests of one call at
// once, and must not block. What they are given is not theirs to change.
type Hooks struct {
	// Params returns the parameters to send in the place of these.
	Params func(method string, params any) (any, error)
	// Result is given the result of each answer, as the server wrote it, and
	// returns what mcp-go is to decode in its place. Under a client of mcp-go's
	// own transport, where Transport tells the exchange, nothing takes its place.
	Result func(method string, result json.RawMessage) json.RawMessage
}

// Hook sets the hooks of the requests of the call. It is to be called before it.
func (e *Exchange) Hook(hooks Hooks) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hooks = &hooks
}

// Params passes the parameters of a request through the hooks, the outermost
// first, for who does the request.
func (e *Exchange) Params(method string, params any) (any, error) {
	if e == nil {
		return params, nil
	}
	params, err := e.outer.Params(method, params)
	if hooks := e.hooked(); err == nil && hooks != nil && hooks.Params != nil {
		return hooks.Params(method, params)
	}
	return params, err
}

// Answered says that the request was answered with a result, and returns what is
// to be decoded in its place: the result has passed the hooks, the innermost first.
func (e *Exchange) Answered(method string, result json.RawMessage) json.RawMessage {
	for ; e != nil; e = e.outer {
		if hooks := e.hooked(); hooks != nil && hooks.Result != nil {
			result = hooks.Result(method, result)
		}
	}
	return result
}

// wantsResults says whether a hook is given results.
func (e *Exchange) wantsResults() bool {
	for ; e != nil; e = e.outer {
		if hooks := e.hooked(); hooks != nil && hooks.Result != nil {
			return true
		}
	}
	return false
}

func (e *Exchange) hooked() *Hooks {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hooks
}
