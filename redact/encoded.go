package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// jsonText is a value that was encoded as JSON; every handler writes it so.
type jsonText string

// MarshalJSON returns the text.
func (t jsonText) MarshalJSON() ([]byte, error) { return []byte(t), nil }

// MarshalText returns the text.
func (t jsonText) MarshalText() ([]byte, error) { return []byte(t), nil }

// String returns the text.
func (t jsonText) String() string { return string(t) }

// encoded writes a value as JSON with its secrets masked, or as a text if it
// cannot be encoded.
func (r *Redactor) encoded(value any) any {
	data, err := encode(value)
	if err != nil {
		return r.Text(fmt.Sprintf("%+v", value))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return r.Text(string(data))
	}
	masked, changed := r.walk(decoded)
	if !changed {
		return jsonText(data)
	}
	if data, err = encode(masked); err != nil {
		return r.Text(string(data))
	}
	return jsonText(data)
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// walk masks in place what was decoded, and says whether it had to.
func (r *Redactor) walk(value any) (any, bool) {
	switch v := value.(type) {
	case string:
		masked := r.Text(v)
		return masked, masked != v
	case json.Number:
		if masked := r.Text(v.String()); masked != v.String() {
			return masked, true
		}
		return value, false
	case []any:
		return r.list(v)
	case map[string]any:
		return r.object(v)
	default:
		return value, false
	}
}

func (r *Redactor) list(list []any) (any, bool) {
	changed := false
	for i := range list {
		var one bool
		if i > 0 && r.isFlag(list[i-1]) {
			list[i], one = hide(list[i])
		} else {
			list[i], one = r.walk(list[i])
		}
		changed = changed || one
	}
	return list, changed
}

// isFlag says whether the next argument of a command is a secret.
func (r *Redactor) isFlag(value any) bool {
	flag, ok := value.(string)
	return ok && strings.HasPrefix(flag, "-") && r.kindOf(strings.TrimLeft(flag, "-")) != harmless
}

func (r *Redactor) object(object map[string]any) (any, bool) {
	masked, changed := make(map[string]any, len(object)), false
	for key, value := range object {
		var one bool
		if r.kindOf(key) != harmless {
			value, one = hide(value)
		} else {
			value, one = r.walk(value)
		}
		clean := r.Text(key)
		masked[clean] = value
		changed = changed || one || clean != key
	}
	return masked, changed
}

// hide masks all values of a tree and keeps the names.
func hide(value any) (any, bool) {
	switch v := value.(type) {
	case nil, bool:
		return value, false
	case string:
		if v == "" {
			return value, false
		}
		return Mask, true
	case []any:
		for i := range v {
			v[i], _ = hide(v[i])
		}
		return v, true
	case map[string]any:
		for key := range v {
			v[key], _ = hide(v[key])
		}
		return v, true
	default:
		return Mask, true
	}
}
