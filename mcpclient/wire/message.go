package wire

import (
	"encoding/json"
	"net/http"
)

// message is the JSON-RPC message that a request carries.
type message struct {
	ID     messageID `json:"id"`
	Method string    `json:"method"`
}

// messageOf returns the message that req carries; an empty one when it carries
// something else or does not keep its body.
func messageOf(req *http.Request) message {
	if req.GetBody == nil {
		return message{}
	}
	body, err := req.GetBody()
	if err != nil {
		return message{}
	}
	defer func() { _ = body.Close() }()
	var sent message
	if err := json.NewDecoder(body).Decode(&sent); err != nil || sent.Method == "" {
		return message{}
	}
	return sent
}

func (m message) isNotification() bool { return m.Method != "" && m.ID.value == nil }
