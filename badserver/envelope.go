package badserver

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// member is one member of a JSON object; without a value it is left out.
type member struct {
	name  string
	value json.RawMessage
}

// object joins members without looking into them, so that a script can send
// what no encoder would.
func object(members ...member) json.RawMessage {
	var out bytes.Buffer
	separator := "{"
	for _, m := range members {
		if m.value == nil {
			continue
		}
		out.WriteString(separator + strconv.Quote(m.name) + ":")
		out.Write(m.value)
		separator = ","
	}
	out.WriteString("}")
	return out.Bytes()
}

// envelope is the JSON-RPC message that carries the answer to the request id.
func (a Answer) envelope(id json.RawMessage) []byte {
	if a.ID != nil {
		id = a.ID
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	result, failure := a.Result, a.failure()
	if result == nil && failure == nil {
		result = json.RawMessage("{}")
	}
	return object(
		member{"jsonrpc", json.RawMessage(`"2.0"`)},
		member{"id", id},
		member{"result", result},
		member{"error", failure},
	)
}

// failure is the error member, nil when the answer is none.
func (a Answer) failure() json.RawMessage {
	switch {
	case a.ErrorText != "":
		return marshal(a.ErrorText)
	case a.Error != nil:
		return object(
			member{"code", marshal(a.Error.Code)},
			member{"message", marshal(a.Error.Message)},
			member{"data", a.Error.Data},
		)
	default:
		return nil
	}
}

// speaks reports whether the script sets what the JSON-RPC message says.
func (a Answer) speaks() bool {
	return a.Result != nil || a.ID != nil || a.failure() != nil
}
