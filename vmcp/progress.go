package vmcp

import (
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// progress hands the progress of a call to its caller, and drops that of one
// that is over. It says whether the token was one of this session's.
func (c *calls) progress(notification mcp.JSONRPCNotification) bool {
	token, ok := notification.Params.AdditionalFields["progressToken"].(string)
	if !ok || !strings.HasPrefix(token, tokenPrefix) {
		return false
	}
	c.mu.Lock()
	i := slices.IndexFunc(c.open, func(o *call) bool { return o.ours == token })
	if i < 0 {
		c.mu.Unlock()
		return true
	}
	about := c.open[i]
	c.mu.Unlock()
	about.tell(notification)
	return true
}

// tell gives the notification the caller's own token.
func (c *call) tell(notification mcp.JSONRPCNotification) {
	fields := maps.Clone(notification.Params.AdditionalFields)
	fields["progressToken"] = c.token
	notification.Params.AdditionalFields = fields
	c.telling.Lock()
	defer c.telling.Unlock()
	if !c.over {
		c.peer.Notify(handedOn(notification))
	}
}
