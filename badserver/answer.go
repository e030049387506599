package badserver

import (
	"encoding/json"
	"time"
)

// Answer is one scripted reaction to a request, a notification or an HTTP GET.
// Cursor, Protocol and Times say when it applies, the other fields what
// happens then, in this order: Noise, Before, Delay, the answer itself (or
// Hang, Cut or Exit in its place), After.
//
// With no payload set (Result, Error, ErrorText or Body) the answer is the
// built-in result of initialize, server/discover or ping, so that a delay can
// be put before an honest handshake, and an empty object for any other method.
// A notification gets no payload unless one is set.
type Answer struct {
	// Cursor restricts the answer to requests for one page: the empty string
	// matches the first page only, nil matches any.
	Cursor *string `json:"cursor,omitempty"`
	// Protocol restricts the answer to requests that declare this protocol
	// version in their _meta, as those of "2026-07-28" do and older ones do
	// not.
	Protocol string `json:"protocol,omitempty"`
	// Times is how often the answer is given before the next one in the slice
	// takes its turn. Zero means without limit. It is counted over all
	// connections of the server.
	Times int `json:"times,omitempty"`

	// Result is the result member, sent as it stands.
	Result json.RawMessage `json:"result,omitempty"`
	// Error is the error member. With Result set too, both are sent.
	Error *Error `json:"error,omitempty"`
	// ErrorText is an error member that is a bare string, as some servers
	// send it. It takes the place of Error.
	ErrorText string `json:"errorText,omitempty"`
	// Body takes the place of the whole JSON-RPC message: an HTTP body, the
	// data of an SSE event, a line on stdio (a missing line end is added), or
	// in-process the bytes that are decoded into a response.
	Body *string `json:"body,omitempty"`
	// ID takes the place of the request's id in the answer.
	ID json.RawMessage `json:"id,omitempty"`

	// Status is the HTTP status: 200 for requests and 202 for notifications
	// when zero. Over HTTP+SSE a status from 300 on makes the POST itself the
	// answer. Other transports have no status and ignore it.
	Status int `json:"status,omitempty"`
	// Headers are HTTP response headers; they win over all others. Over
	// HTTP+SSE they only go with an answer of the POST itself, as does
	// ContentType.
	Headers map[string]string `json:"headers,omitempty"`
	// ContentType is the HTTP content type; application/json or
	// text/event-stream when empty.
	ContentType string `json:"contentType,omitempty"`
	// SSE frames a streamable HTTP answer as text/event-stream. Before and
	// After imply it.
	SSE bool `json:"sse,omitempty"`

	// Noise is a line on stdout before everything else, on stdio only.
	Noise string `json:"noise,omitempty"`
	// Before and After are whole JSON-RPC messages around the answer, on its
	// own stream. In-process only notifications are delivered, After just
	// before the call returns. Many clients stop reading an HTTP answer once
	// they have it, and then never see After.
	Before []json.RawMessage `json:"before,omitempty"`
	After  []json.RawMessage `json:"after,omitempty"`

	// Delay is how long the server is silent before the answer. It ends early,
	// without an answer, with the request's context, the connection, or the
	// server.
	Delay Duration `json:"delay,omitempty"`
	// Hang means that no answer ever comes. HTTP and in-process calls are held
	// until their context, the connection or the server ends. Held HTTP
	// streams (SSE or Before set) carry the messages of [Server.Notify].
	Hang bool `json:"hang,omitempty"`
	// Cut breaks the connection in the middle of the answer: half of the HTTP
	// body, SSE event or stdio line is sent. [Server.Serve] returns nil then;
	// over HTTP+SSE the event stream breaks, not the POST; an in-process call
	// fails with [io.ErrUnexpectedEOF], and later ones go on.
	Cut bool `json:"cut,omitempty"`
	// Exit means that the server program is gone, without an answer. Over HTTP
	// and HTTP+SSE this and every later request to the server is cut before
	// its first byte. A stdio or in-process connection is a program of its
	// own: [Server.Serve] returns [ErrExit], or this and all later calls fail
	// with transport.ErrTransportClosed; a new connection is a new start.
	Exit bool `json:"exit,omitempty"`
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	// Data is sent as it stands, and left out when empty.
	Data json.RawMessage `json:"data,omitempty"`
}

// Duration is a [time.Duration] that is a string such as "1.5s" in JSON.
type Duration time.Duration

// MarshalText writes the form of [time.Duration.String].
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// UnmarshalText reads what [time.ParseDuration] does; a bare number is an
// error, because its unit would be a guess.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}
