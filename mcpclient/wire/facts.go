package wire

import "encoding/json"

// Facts are what is known of the last request of a call; what is not known is
// the zero value.
type Facts struct {
	Sent      bool   // there was a request
	RequestID string // its JSON-RPC id
	SessionID string // the Mcp-Session-Id that it went with
	Refused   bool   // it was answered with a JSON-RPC error
	Code      int    // which; any integer, whatever mcp-go makes of it
	Status    int    // of HTTP, as the server sent it; 0 where there is none
	Peer      Peer
}

// A Peer is the other end of a connection, in the words of the OpenTelemetry
// semantic conventions.
type Peer struct {
	Transport       string // "tcp", "pipe"
	Protocol        string // "http"
	ProtocolVersion string // "1.1", "2"; known with the first answer
	Address         string // the host, without a port
	Port            int
}

// A Refusal is the JSON-RPC error that a request was answered with.
type Refusal struct {
	Code    int // any integer
	Message string
	Data    json.RawMessage // nil where there is none
}
