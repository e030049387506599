package config

import (
	"reflect"
	"time"
)

// Timeouts are how long a server may take; zero is for what holds for every server.
type Timeouts struct {
	Connect   time.Duration // one attempt at its start and the handshake
	Discovery time.Duration // its lists
	Call      time.Duration // a call whose caller sets no limit
}

// Tolerance says what of a server is not forgiven. The zero value forgives as much as there is.
type Tolerance struct {
	StrictResources bool // an advertised list of resources or templates that it does not have
	StrictPrompts   bool // an advertised list of prompts that it does not have
	StrictUtilities bool // advertised completion or logging that it does not have
}

// Retry says how long to wait before a failed server is tried again: Initial at first, then longer
// each time, Max at last. Zero is for the default, 1 s and 1 min.
type Retry struct {
	Initial time.Duration
	Max     time.Duration // not below Initial
}

// Breaker says when calls to a server stop before they start.
type Breaker struct {
	Failures int64 // so many transport failures and time-outs in a row; 0 for the default, 5
}

// Changed names the settings that are not the default, in the order of the documentation.
func (s Server) Changed() []string {
	var names []string
	for _, set := range []struct {
		name  string
		value any
	}{
		{"required", s.Required}, {"prefix", s.Prefix}, {"timeouts", s.Timeouts}, {"tools", s.Tools}, {"tolerance", s.Tolerance},
		{"protocolVersion", s.ProtocolVersion}, {"retry", s.Retry}, {"breaker", s.Breaker}, {"forwardHeaders", s.ForwardHeaders},
	} {
		if !reflect.ValueOf(set.value).IsZero() {
			names = append(names, set.name)
		}
	}
	return names
}
