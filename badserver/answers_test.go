package badserver_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-candor/candor/badserver"
)

func TestConstructors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer badserver.Answer
		json   string
	}{
		"Result":      {badserver.Result(map[string]int{"a": 1}), `{"result":{"a":1}}`},
		"Result(nil)": {badserver.Result(nil), `{"result":null}`},
		"Fail":        {badserver.Fail(-32601, "no"), `{"error":{"code":-32601,"message":"no"}}`},
		"Plain":       {badserver.Plain(500, ""), `{"status":500,"body":"","contentType":"text/plain; charset=utf-8"}`},
		"no tools":    {badserver.Tools(), `{"result":{"tools":[]}}`},
		"no resource": {badserver.Resources(), `{"result":{"resources":[]}}`},
		"no template": {badserver.ResourceTemplates(), `{"result":{"resourceTemplates":[]}}`},
		"no prompts":  {badserver.Prompts(), `{"result":{"prompts":[]}}`},
		"modifiers": {
			badserver.Prompts().Once().AtCursor("").WithStatus(201).WithNext("n"),
			`{"times":1,"cursor":"","status":201,"result":{"prompts":[],"nextCursor":"n"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.answer)
			assert.NoError(t, err)
			assert.JSONEq(t, test.json, string(got))
		})
	}
}

func TestModifiersReturnCopies(t *testing.T) {
	t.Parallel()
	list := badserver.Tools("a")
	_, _, _, _ = list.Once(), list.AtCursor("x"), list.WithStatus(500), list.WithNext("n")
	assert.Equal(t, badserver.Tools("a"), list)
}

func TestMistakesInAProgramPanic(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { badserver.Result(func() {}) })
	assert.Panics(t, func() { badserver.Result([]int{1}).WithNext("n") })
	assert.Panics(t, func() { badserver.Result(nil).WithNext("n") })
	assert.Panics(t, func() { badserver.Fail(1, "x").WithNext("n") })
}
