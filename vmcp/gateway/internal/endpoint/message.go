package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
)

// message is any JSON-RPC 2.0 message as it arrives.
type message struct {
	JSONRPC string                   `json:"jsonrpc"`
	ID      json.RawMessage          `json:"id"`
	Method  string                   `json:"method"`
	Params  json.RawMessage          `json:"params"`
	Result  json.RawMessage          `json:"result"`
	Error   *mcp.JSONRPCErrorDetails `json:"error"`
}

// shape is which sort of message it is.
type shape int

const (
	invalid shape = iota
	request
	notification
	answer
)

func (m *message) shape() shape {
	switch {
	case m.JSONRPC != mcp.JSONRPC_VERSION:
		return invalid
	case m.Method != "" && len(m.ID) == 0:
		return notification
	case !isIdentifier(m.ID):
		return invalid
	case m.Method != "":
		return request
	case m.Result != nil || m.Error != nil:
		return answer
	default:
		return invalid
	}
}

// isIdentifier says whether raw is what MCP has for an ID: a string or a
// number.
func isIdentifier(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// replyID is the ID to refuse a message under: null if it has none, or one that
// is not its own but of something that it answers.
func (m *message) replyID() json.RawMessage {
	if m == nil || m.Method == "" && (m.Result != nil || m.Error != nil) || !isIdentifier(m.ID) {
		return json.RawMessage("null")
	}
	return m.ID
}

// parse reads one message. A batch, which protocols after 2025-03-26 do not
// have, is none.
func parse(raw []byte) (*message, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		return nil, &Failure{Code: mcp.INVALID_REQUEST, Message: "batches are not supported; send each message by itself"}
	}
	var m message
	err := json.Unmarshal(raw, &m)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !other {
		return nil, &Failure{Code: mcp.PARSE_ERROR, Message: "the message is not JSON: " + err.Error()}
	}
	if err != nil || m.shape() == invalid {
		return &m, &Failure{Code: mcp.INVALID_REQUEST, Message: "the message is not JSON-RPC 2.0"}
	}
	return &m, nil
}

// reply is the answer to a request, as JSON with a line end.
type reply struct {
	body []byte
	code int // of the error; 0 is none
}

func success(id json.RawMessage, result any) (reply, error) {
	body, err := encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{mcp.JSONRPC_VERSION, id, result})
	return reply{body: body}, err
}

// errorReply answers with an error. The data of one, which comes from elsewhere,
// may not be JSON; it is left out then.
func errorReply(id json.RawMessage, err error) reply {
	details := detailsOf(err)
	answer := struct {
		JSONRPC string                   `json:"jsonrpc"`
		ID      json.RawMessage          `json:"id"`
		Error   *mcp.JSONRPCErrorDetails `json:"error"`
	}{mcp.JSONRPC_VERSION, id, details}
	body, err := encode(answer)
	if err != nil {
		details.Data = nil
		body, _ = encode(answer) // strings and numbers only
	}
	return reply{body, details.Code}
}

// encode writes a message as one line of JSON, the line end included.
func encode(message any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // nobody puts it into a page
	if err := encoder.Encode(message); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}
