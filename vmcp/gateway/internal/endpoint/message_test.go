package endpoint

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"n","params":{}}`,
		`{"jsonrpc":"2.0","id":"a","result":null}`, `{"jsonrpc":"2.0","id":-1.5e3,"error":{"code":1,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":1,"error":"text"}`, `{"jsonrpc":"2.0","id":null,"method":"x"}`, `[]`, `5`, ``, `{`, "{\"ID\":\n1}",
		`{"jsonrpc":"2.0","id":1,"method":5}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parse(raw)
		reply := errorReply(m.replyID(), &Failure{Code: 1, Message: "m"})
		require.True(t, json.Valid(reply.body), "%s", reply.body)
		if err != nil {
			return
		}
		switch m.shape() {
		case request:
			assert.True(t, isIdentifier(m.ID))
			assert.NotEmpty(t, m.Method)
			assert.Equal(t, m.ID, m.replyID())
		case notification:
			assert.Empty(t, m.ID)
			assert.NotEmpty(t, m.Method)
			assert.Equal(t, "null", string(m.replyID()))
		case answer:
			assert.True(t, isIdentifier(m.ID))
			assert.Empty(t, m.Method)
			assert.Equal(t, "null", string(m.replyID()), "the ID is of a question, not of a request")
			new(Client).answered(m)
		default:
			t.Fatalf("an invalid message without an error: %s", raw)
		}
		_, _ = metaOf(m.Params)
		newClient("", "", nil).cancel(m.Params)
	})
}
