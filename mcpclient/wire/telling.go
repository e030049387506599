package wire

import "encoding/json"

// Sent says that a request is about to be sent. What was known of the one
// before is forgotten.
func (e *Exchange) Sent(requestID, sessionID string) {
	e.each(func(each *Exchange) {
		each.known.owned = true
		each.known.begin(requestID, sessionID)
	})
}

// Refused says that the request was answered with a JSON-RPC error.
func (e *Exchange) Refused(refusal Refusal) {
	e.each(func(each *Exchange) {
		each.known.refusal, each.known.Refused, each.known.Code = refusal, true, refusal.Code
	})
}

// Reached says where the request goes.
func (e *Exchange) Reached(peer Peer) {
	e.each(func(each *Exchange) { each.known.Peer = peer })
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

// Meta returns what the innermost exchange that carries fields asks to put into
// params._meta; nil for nothing. It must not be changed.
func (e *Exchange) Meta() map[string]string {
	for ; e != nil; e = e.outer {
		e.mu.Lock()
		meta := e.meta
		e.mu.Unlock()
		if meta != nil {
			return meta
		}
	}
	return nil
}

// failed says why the answer to the request does not pass.
func (e *Exchange) failed(err error) {
	e.each(func(each *Exchange) { each.known.failure = err })
}
