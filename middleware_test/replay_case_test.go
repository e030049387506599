package middleware_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/require"
)

// A realCase is one exchange with a real server, from a public bug report, and
// the outcome that the default chain owes its caller.
type realCase struct {
	ID         string
	Title      string
	Advertised json.RawMessage // the capabilities, as sent
	Method     string
	Cursor     string // where set, the page before it succeeded
	Answer     struct {
		HTTPStatus  int    `json:"http_status"`
		Code        *int   `json:"jsonrpc_code"`
		Message     string `json:"message"`
		Result      json.RawMessage
		Body        json.RawMessage
		ErrorIsText bool `json:"error_is_string"`
		ID          json.RawMessage
		BodyShape   string `json:"body_shape"`
		BodyBytes   int    `json:"body_bytes"`
	}
	Expect string // "empty", "malformed", "error", "unchanged" or "setting"
}

func realCases(t testing.TB) []realCase {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	require.NoError(t, err)
	var cases []realCase
	require.NoError(t, json.Unmarshal(data, &cases))
	return cases
}

// list is the list that the case is about, if it is about one.
func (c realCase) list() (list, bool) {
	i := slices.IndexFunc(lists, func(l list) bool { return l.method == c.Method })
	if i < 0 {
		return list{}, false
	}
	return lists[i], true
}

// advertises says whether the handshake promises a capability: by a member
// that is not null, whatever it is.
func (c realCase) advertises(capability string) bool {
	var promised map[string]json.RawMessage
	_ = json.Unmarshal(c.Advertised, &promised) // null, or no object at all: nothing
	value, there := promised[capability]
	return there && string(value) != "null"
}

// answers are those to the case's method, the pages before it included.
func (c realCase) answers() []badserver.Answer {
	if special, ok := specialAnswers[c.ID]; ok {
		return special(c)
	}
	if c.Cursor == "" {
		return []badserver.Answer{c.answer()}
	}
	return []badserver.Answer{c.page("first").WithNext(c.Cursor).AtCursor(""), c.answer().AtCursor(c.Cursor)}
}

// answer is what the server of the case says.
func (c realCase) answer() badserver.Answer {
	said := c.Answer
	answer := badserver.Answer{Status: said.HTTPStatus, Result: said.Result}
	switch {
	case said.ErrorIsText:
		answer.ErrorText = said.Message
	case said.Code != nil:
		answer.Error = &badserver.Error{Code: *said.Code, Message: said.Message}
	case said.Body != nil:
		body := string(said.Body)
		answer.Body, answer.ContentType = &body, "application/json"
	case said.Result == nil && said.HTTPStatus >= 300:
		return badserver.Plain(said.HTTPStatus, said.Message)
	case c.hangs():
		answer.Hang = true
	}
	return answer
}

// hangs says whether no answer ever comes: the case tells of none, and is not
// about what comes before the answer.
func (c realCase) hangs() bool {
	said := c.Answer
	return !slices.Contains([]string{"B10", "D03", "J06"}, c.ID) && said.HTTPStatus == 0 && said.Code == nil && said.Result == nil && said.Body == nil &&
		said.Message == "" && said.BodyShape == "" && said.BodyBytes == 0
}

// page is an honest page of the case's list.
func (c realCase) page(names ...string) badserver.Answer {
	l, _ := c.list()
	return badserver.Answer{Result: json.RawMessage(l.of("", names...))}
}

const (
	mostPages = 1_000         // of a walk, by default
	endless   = 2 * mostPages // pages, as many as the longest replay takes
)

// specialAnswers are those that the fields of a case cannot say.
var specialAnswers = map[string]func(realCase) []badserver.Answer{
	// Nothing is said of the answer of a server that is not to be asked.
	"B10": func(realCase) []badserver.Answer {
		return []badserver.Answer{badserver.Fail(-32601, "Method not found")}
	},
	"F04": func(realCase) []badserver.Answer {
		body := `[{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"error":null}]`
		return []badserver.Answer{{Body: &body, ContentType: "application/json"}}
	},
	// The answer is that of the first page, which most clients stop at.
	"G05": func(c realCase) []badserver.Answer {
		return []badserver.Answer{c.answer().AtCursor(""), c.page("last").AtCursor(c.Cursor)}
	},
	// A line that is longer than some readers can take, cut in the middle.
	"G07": func(c realCase) []badserver.Answer {
		cut := c.page(strings.Repeat("x", c.Answer.BodyBytes))
		cut.Cut = true
		return []badserver.Answer{cut}
	},
	// The proxy drops the cursor, so each page is the first one.
	"G08": func(c realCase) []badserver.Answer { return []badserver.Answer{c.answer()} },
	"L05": func(c realCase) []badserver.Answer {
		answer := c.answer()
		answer.ID = c.Answer.ID
		return []badserver.Answer{answer}
	},
	"X07": func(c realCase) []badserver.Answer {
		var pages []badserver.Answer
		for i := range endless {
			pages = append(pages, c.page("ok").WithNext(fmt.Sprint(i+1)).Once())
		}
		return pages
	},
}

// script is the server of a case about a list. Its other lists are honest; a
// healthy one first answers the list of the case once as it should.
func (c realCase) script(era string, healthyFirst bool) badserver.Script {
	answers := map[string][]badserver.Answer{
		"tools/list":               {badserver.Tools("kept")},
		"resources/list":           {badserver.Resources()},
		"resources/templates/list": {badserver.ResourceTemplates()},
		"prompts/list":             {badserver.Prompts()},
	}
	answers[c.Method] = c.answers()
	if healthyFirst {
		answers[c.Method] = append([]badserver.Answer{c.page("before").Once()}, answers[c.Method]...)
	}
	return badserver.Script{Name: c.ID, Version: "1", Protocol: era, Session: true, Capabilities: c.Advertised, Answers: answers}
}
