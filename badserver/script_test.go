package badserver_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

func TestLoadFile(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/contradiction.json")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	script, err := badserver.Load(file)
	require.NoError(t, err)
	assert.Equal(t, "2025-11-25", script.Protocol)
	assert.Equal(t, badserver.Duration(time.Millisecond), script.Answers["server/discover"][0].Delay)
	assert.JSONEq(t, `{"since":2024}`, string(script.Answers["server/discover"][0].Error.Data))
	assert.Empty(t, *script.Answers["tools/list"][0].Cursor)
	assert.Nil(t, script.Answers["prompts/list"][0].Cursor)
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, problem string }{
		"an unknown field":              {`{"answer":{}}`, `"answer"`},
		"an unknown field of an answer": {`{"answers":{"ping":[{"hangs":true}]}}`, `"hangs"`},
		"an unknown field of an error":  {`{"answers":{"ping":[{"error":{"text":"x"}}]}}`, `"text"`},
		"a second script":               {`{} {}`, "more data"},
		"half a script":                 {`{"name":`, "unexpected EOF"},
		"nothing":                       {``, "EOF"},
		"a duration without a unit":     {`{"answers":{"ping":[{"delay":"5"}]}}`, "missing unit"},
		"a duration that is a number":   {`{"answers":{"ping":[{"delay":5}]}}`, "number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := badserver.Load(strings.NewReader(test.script))
			require.ErrorContains(t, err, test.problem)
		})
	}
}

// full sets every field, so that a field that JSON or a copy forgets is seen.
func full(t *testing.T) badserver.Script {
	t.Helper()
	answer := badserver.Answer{
		Cursor: ptr(""), Protocol: "p", Times: 1,
		Result: json.RawMessage(`null`), ErrorText: "e", Body: ptr(""), ID: json.RawMessage(`null`),
		Error:  &badserver.Error{Code: 1, Message: "m", Data: json.RawMessage(`{"d":1}`)},
		Status: 1, Headers: map[string]string{"h": "v"}, ContentType: "c", SSE: true,
		Noise: "n", Before: []json.RawMessage{json.RawMessage(`1`)}, After: []json.RawMessage{json.RawMessage(`2`)},
		Delay: badserver.Duration(90 * time.Second), Hang: true, Cut: true, Exit: true,
	}
	script := badserver.Script{
		Protocol: "p", Session: true, Name: "n", Version: "v", Instructions: "i",
		Capabilities: json.RawMessage(`null`), Answers: on("m", answer),
	}
	for _, v := range []any{script, answer, *answer.Error} {
		for i := range reflect.ValueOf(v).NumField() {
			require.False(t, reflect.ValueOf(v).Field(i).IsZero(), reflect.TypeOf(v).Field(i).Name)
		}
	}
	return script
}

func TestScriptSurvivesJSON(t *testing.T) {
	t.Parallel()
	want := full(t)
	data, err := json.Marshal(want)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"delay":"1m30s"`)
	got, err := badserver.Load(bytes.NewReader(data))
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestZeroFieldsAreLeftOutOfJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(badserver.Script{Answers: on("m", badserver.Answer{})})
	require.NoError(t, err)
	assert.JSONEq(t, `{"answers":{"m":[{}]}}`, string(data))
}

func TestNewKeepsACopyOfTheScript(t *testing.T) {
	t.Parallel()
	answer := badserver.Answer{
		Cursor: ptr("c"), ID: json.RawMessage(`11`), Headers: map[string]string{"X": "before"},
		Error:  &badserver.Error{Code: 1, Message: "before", Data: json.RawMessage(`11`)},
		Before: []json.RawMessage{json.RawMessage(`11`)}, After: []json.RawMessage{json.RawMessage(`11`)},
	}
	script := badserver.Script{
		Capabilities: json.RawMessage(`11`),
		Answers: map[string][]badserver.Answer{
			"tools/list": {answer}, "a": {{Body: ptr("before")}}, "b": {{Result: json.RawMessage(`11`)}},
		},
	}
	s := badserver.New(script)
	for _, raw := range []json.RawMessage{
		script.Capabilities, answer.ID, answer.Error.Data, answer.Before[0], answer.After[0],
		script.Answers["b"][0].Result,
	} {
		copy(raw, "99")
	}
	*answer.Cursor, answer.Error.Message, answer.Headers["X"] = "x", "after", "after"
	*script.Answers["a"][0].Body = "after"
	answer.Before[0], answer.After[0] = nil, nil
	script.Answers["tools/list"][0] = badserver.Tools()
	clear(script.Answers)

	url := listen(t, s)
	var all strings.Builder
	for _, message := range []string{
		`{"id":1,"method":"tools/list","params":{"cursor":"c"}}`,
		`{"id":1,"method":"a"}`, `{"id":1,"method":"b"}`, `{"id":1,"method":"initialize"}`,
	} {
		got, err := post(t, url, message)
		require.NoError(t, err)
		all.WriteString(got.header.Get("X") + " " + got.body + "\n")
	}
	assert.NotContains(t, all.String(), "after")
	assert.NotContains(t, all.String(), "99")
	assert.Equal(t, 3, strings.Count(all.String(), "before"), all.String())
	assert.Equal(t, 6, strings.Count(all.String(), "11"), all.String())
}
