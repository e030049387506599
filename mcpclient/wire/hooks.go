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
