package vmcp

import (
	"bytes"
	"encoding/json"
)

// A Change says which kinds of what a session offers are not what they were.
type Change struct {
	Tools, Prompts, Resources, ResourceTemplates bool
}

func (c Change) any() bool { return c != Change{} }

// changeTo compares what a caller would see.
func (c *catalogue) changeTo(other *catalogue) Change {
	return Change{
		Tools:             !sameJSON(c.tools, other.tools),
		Prompts:           !sameJSON(c.prompts, other.prompts),
		Resources:         !sameJSON(c.resources, other.resources),
		ResourceTemplates: !sameJSON(c.templates, other.templates),
	}
}

// sameJSON compares two lists as they are written.
func sameJSON[T any](one, two []T) bool {
	if len(one) != len(two) || len(one) == 0 {
		return len(one) == len(two)
	}
	before, errBefore := json.Marshal(one)
	after, errAfter := json.Marshal(two)
	return errBefore == nil && errAfter == nil && bytes.Equal(before, after)
}
