package vmcp

import (
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/instrument"
)

// shared is what the members of a session have in common, those that come later
// included.
type shared struct {
	instruments *instrument.Backends

	mu       sync.Mutex
	heard    []func(backendID string, n mcp.JSONRPCNotification)
	level    mcp.LoggingLevel // "" if nobody set one
	claiming int              // callers of SetLevel that have not said yet whom they tell

	subscribed map[string][]string // the URIs, by the ID of the backend
}

func newShared(b Builder) *shared {
	return &shared{instruments: instrument.NewBackends(instrument.Config{MeterProvider: b.MeterProvider}), subscribed: map[string][]string{}}
}
