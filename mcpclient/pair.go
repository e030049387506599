package mcpclient

import (
	"fmt"
	"reflect"
	"strings"
)

// pair is what an operation takes and returns. An operation without a result
// has none here either.
type pair struct {
	op              string
	request, result reflect.Type
}

// pairs are those of the table of operations, in its order.
var pairs []pair

// requirePair panics unless a method has this request and this result: a
// middleware for no method would never run, and nobody would notice.
func requirePair(request, result reflect.Type) {
	asked := pair{"", request, result}
	nearest := pairs[0]
	for _, known := range pairs {
		if known.request == request && known.result == result {
			return
		}
		if known.likeness(asked) > nearest.likeness(asked) {
			nearest = known
		}
	}
	panic(fmt.Sprintf("mcpclient: For[%s, %s]: no method has this pair; %s", request, result, nearest.hint()))
}

// hint says how to handle the operation of the pair.
func (p pair) hint() string {
	if p.result == nil {
		return fmt.Sprintf("%s takes a %s and has no result: write a Middleware that looks at Call.Op", p.op, p.request)
	}
	return fmt.Sprintf("%s has For[%s, %s]", p.op, p.request, p.result)
}

// likeness is how much of the pair is in another: a type that both have counts
// for more than any beginning of a name, and the request for more than the result.
func (p pair) likeness(other pair) int {
	return 2*alike(p.request, other.request) + alike(p.result, other.result)
}

func alike(known, other reflect.Type) int {
	if known == nil {
		return 0
	}
	for other.Kind() == reflect.Pointer {
		other = other.Elem()
	}
	if known == other {
		return 100
	}
	return len(commonPrefix(known.Name(), other.Name()))
}

func commonPrefix(a, b string) string {
	for !strings.HasPrefix(b, a) {
		a = a[:len(a)-1]
	}
	return a
}
