package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

const (
	methodNotFound = -32601 // JSON-RPC 2.0, section 5.1
	internalError  = -32603
)

// response is the envelope of a JSON-RPC response. It decodes what mcp-go
// v1.2.1 decodes, to the same values, leniencies and all (names in any case,
// the last of two equal names wins): what one takes for an error the other
// must not take for a success.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      messageID       `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *responseError  `json:"error"`
}

// decodeError returns the error response that data holds; nil when it holds
// anything else.
func decodeError(data []byte) *response {
	var r response
	if err := json.Unmarshal(data, &r); err != nil || r.Error == nil {
		return nil
	}
	return &r
}

// hasResult says whether the response claims to be a success as well.
func (r *response) hasResult() bool {
	return len(r.Result) > 0 && string(r.Result) != "null"
}

// saysMethodNotFound says whether the response, which may be nil, is a -32601
// and nothing else.
func (r *response) saysMethodNotFound() bool {
	return r != nil && r.Error.Code == methodNotFound && !r.hasResult()
}

// responseError is the error member: an object, or with some servers a string.
type responseError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// UnmarshalJSON takes both shapes.
func (e *responseError) UnmarshalJSON(data []byte) error {
	type object responseError
	if json.Unmarshal(data, (*object)(e)) == nil {
		return nil
	}
	e.Code = internalError
	return json.Unmarshal(data, &e.Message)
}

// messageID is the id of a JSON-RPC message: a string, a [json.Number], or nil
// where there is none.
type messageID struct{ value any }

// UnmarshalJSON takes a string, a number or null.
func (id *messageID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		id.value = nil
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		id.value = text
		return nil
	}
	if data[0] != '-' && (data[0] < '0' || data[0] > '9') {
		return errors.New("a JSON-RPC id is a string, a number or null")
	}
	id.value = json.Number(data)
	return nil
}

// String is the id as JSON.
func (id messageID) String() string {
	text, err := json.Marshal(id.value)
	if err != nil { // it is a text or a number
		return fmt.Sprint(id.value)
	}
	return string(text)
}

// equal compares two ids as JSON values: 1 is 1.0 and is not "1". No id equals
// nothing.
func (id messageID) equal(other messageID) bool {
	a, aIsNumber := id.value.(json.Number)
	b, bIsNumber := other.value.(json.Number)
	if aIsNumber && bIsNumber {
		return a == b || sameInteger(a.String(), b.String())
	}
	return id.value != nil && id.value == other.value
}

// sameInteger compares two spellings of a number. Beyond 2^53 a float64 does
// not tell neighbours apart, so there nothing is the same.
func sameInteger(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y && math.Abs(x) < 1<<53
}
