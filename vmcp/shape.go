package vmcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A shape is what a result has to be: an object in which the members, each in the
// one before, lead to a list. Without members any object will do.
type shape []string

// misshapen says what is wrong with the shape of a result.
type misshapen string

func (m misshapen) Error() string { return string(m) }

// misfit is nil for a result of the shape.
func (s shape) misfit(result json.RawMessage) *misshapen {
	if s.fits(result) {
		return nil
	}
	said := "a result that is no object"
	if len(s) > 0 {
		said = fmt.Sprintf("a result without the list %q", strings.Join(s, "."))
	}
	if len(result) <= mostQuoted { // a part could be that of a secret
		said += ": " + string(result)
	}
	return new(misshapen(said))
}

// mostQuoted is how many bytes a result has, at most, that is quoted.
const mostQuoted = 100

func (s shape) fits(result json.RawMessage) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(result, &object) != nil || object == nil {
		return false
	}
	switch len(s) {
	case 0:
		return true
	case 1:
		var list []json.RawMessage
		return json.Unmarshal(object[s[0]], &list) == nil && list != nil
	default:
		return s[1:].fits(object[s[0]])
	}
}
