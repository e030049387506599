package badserver

import (
	"bytes"
	"encoding/json"
	"maps"
)

// clone copies the script so deeply that its author may go on changing it.
func (s Script) clone() Script {
	answers := make(map[string][]Answer, len(s.Answers))
	for method, list := range s.Answers {
		for _, answer := range list {
			answers[method] = append(answers[method], answer.clone())
		}
	}
	s.Answers = answers
	s.Capabilities = compact(s.Capabilities)
	return s
}

func (a Answer) clone() Answer {
	a.Cursor, a.Body = copyOf(a.Cursor), copyOf(a.Body)
	a.Result, a.ID = compact(a.Result), compact(a.ID)
	a.Before, a.After = compactAll(a.Before), compactAll(a.After)
	a.Headers = maps.Clone(a.Headers)
	if a.Error = copyOf(a.Error); a.Error != nil {
		a.Error.Data = compact(a.Error.Data)
	}
	return a
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// compact copies raw and takes the line breaks out of it, which would end the
// message on stdio. What is no JSON stays as it is: a bad server may say so.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return bytes.Clone(raw)
	}
	return out.Bytes()
}

func compactAll(messages []json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	for _, message := range messages {
		out = append(out, compact(message))
	}
	return out
}
