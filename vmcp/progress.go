package vmcp

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// tokenPrefix begins the progress tokens that a session gives to backends: two
// callers may choose the same one.
const tokenPrefix = "vmcp-"

// issue returns a progress token that no other call to the backend has had.
func (c *calls) issue() string {
	c.issued++
	return tokenPrefix + strconv.FormatUint(c.issued, 10)
}

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

// onward returns what of a request's _meta goes on to the backend, with the
// progress token for it, if any: not what the protocol says about the hop that
// it came over.
func onward(meta *mcp.Meta, token string) *mcp.Meta {
	kept := &mcp.Meta{AdditionalFields: map[string]any{}}
	if token != "" {
		kept.ProgressToken = token
	}
	if meta != nil {
		for key, value := range meta.AdditionalFields {
			if key != "progressToken" && !IsHop(key) {
				kept.AdditionalFields[key] = value
			}
		}
	}
	if kept.ProgressToken == nil && len(kept.AdditionalFields) == 0 {
		return nil
	}
	return kept
}

// IsHop says whether a key of _meta is the protocol's own, about one
// connection: such keys are not handed on.
func IsHop(key string) bool { return strings.HasPrefix(key, "io.modelcontextprotocol/") }
