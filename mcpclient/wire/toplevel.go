package wire

import (
	"bytes"
	"encoding/json"
)

// maxName is how much of a name, or of an id, is kept: no client sends a longer
// id.
const maxName = 128

// topLevel reads one JSON object as its bytes go by, however long it is, and
// keeps its id. What is no JSON it reads as well, without a meaning.
type topLevel struct {
	depth           int
	inText, escaped bool
	isObject, ended bool

	token   []byte // the name of a member, or the value of the id
	inValue bool
	isID    bool

	id        []byte // empty where there is none
	hasMethod bool
}

// read reads on, and returns the number of bytes up to the end of the object, or
// -1 where it does not end here.
func (t *topLevel) read(p []byte) int {
	for i, c := range p {
		switch {
		case t.ended:
			return -1
		case t.inText:
			t.readText(c)
		default:
			t.readSyntax(c)
		}
		if t.ended {
			return i + 1
		}
	}
	return -1
}

func (t *topLevel) readText(c byte) {
	t.keep(c)
	switch {
	case t.escaped:
		t.escaped = false
	case c == '\\':
		t.escaped = true
	case c == '"':
		t.inText = false
	}
}

func (t *topLevel) readSyntax(c byte) {
	switch c {
	case '{', '[':
		t.isObject = t.isObject || t.depth == 0 && c == '{'
		t.depth++
	case '}', ']':
		if t.depth--; t.depth <= 0 {
			t.endMember()
			t.ended = true
		}
	case ':':
		t.endName()
	case ',':
		t.endMember()
	case ' ', '\t', '\r', '\n':
	default:
		t.inText = c == '"'
		t.keep(c)
	}
}

// keep keeps what stands at the top and may matter.
func (t *topLevel) keep(c byte) {
	if t.depth == 1 && (!t.inValue || t.isID) && len(t.token) < maxName {
		t.token = append(t.token, c)
	}
}

func (t *topLevel) endName() {
	if t.depth != 1 {
		return
	}
	name := t.token
	if bytes.IndexByte(name, '\\') >= 0 {
		var text string
		if json.Unmarshal(name, &text) == nil {
			name = []byte(`"` + text + `"`)
		}
	}
	t.isID = bytes.EqualFold(name, []byte(`"id"`)) // as encoding/json does
	t.hasMethod = t.hasMethod || string(name) == `"method"`
	t.inValue, t.token = true, t.token[:0]
}

// endMember is called at the end of a nested one too, where nothing was kept.
func (t *topLevel) endMember() {
	if t.isID {
		t.id = append(t.id[:0], t.token...)
	}
	t.inValue, t.isID, t.token = false, false, t.token[:0]
}

// next forgets the object.
func (t *topLevel) next() { *t = topLevel{token: t.token[:0], id: t.id[:0]} }
