package badserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Script describes a server completely: what it says of itself, and what it
// does with each method. The zero value is an honest server that has nothing.
// A Script is plain data: it can be written in Go or read from JSON with [Load].
type Script struct {
	// Protocol is the protocol version the server speaks, "2025-06-18" when
	// empty. It is told to every client, whatever version the client asked
	// for. From "2026-07-28" on the server is stateless: it answers
	// server/discover and knows neither initialize nor ping.
	Protocol string `json:"protocol,omitempty"`
	// Session makes the streamable HTTP transport hand out an Mcp-Session-Id
	// with each successful initialize and insist on it: without one a request
	// gets status 400, with an unknown one 404. initialize and
	// server/discover come before any session and need none. It has no
	// meaning on other transports, nor from protocol "2026-07-28" on.
	Session bool `json:"session,omitempty"`
	// Name and Version are the server info, "badserver" and "0" when empty.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Instructions is left out of the handshake when empty.
	Instructions string `json:"instructions,omitempty"`
	// Capabilities is sent as it stands, null and malformed values included;
	// {} when empty. It is a promise only: nothing here makes the server keep
	// it, that is what Answers is for.
	Capabilities json.RawMessage `json:"capabilities,omitempty"`
	// Answers says what the server does with a method, keyed by its name on
	// the wire. Of a method's answers the first that matches the request and
	// is not used up is given; when there is none, the built-in behaviour
	// follows (see the package comment).
	//
	// Three keys are no methods: "GET" and "DELETE" are the HTTP requests of
	// that kind, and "*" stands for every request the server would otherwise
	// call an unknown method.
	Answers map[string][]Answer `json:"answers,omitempty"`
}

// Load reads one JSON script. An unknown field is an error that names it, and
// so is anything but white space after the script: a misspelt script must not
// pass for a well-behaved server.
func Load(r io.Reader) (Script, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var script Script
	if err := decoder.Decode(&script); err != nil {
		return Script{}, fmt.Errorf("badserver: read script: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Script{}, errors.New("badserver: read script: more data after the script")
	}
	return script, nil
}
