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
