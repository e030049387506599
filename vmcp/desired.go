package vmcp

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// desired is what the callers of a session want of a backend beyond their calls,
// over each of its connections.
type desired struct {
	level mcp.LoggingLevel // "" if nobody set one
	uris  []string         // of the resources that are subscribed to
}

func (d desired) equal(other desired) bool {
	return d.level == other.level && len(d.without(other)) == 0 && len(other.without(d)) == 0
}

// without returns the resources that are not in the other.
func (d desired) without(other desired) []string {
	return slices.DeleteFunc(slices.Clone(d.uris), func(uri string) bool { return slices.Contains(other.uris, uri) })
}
