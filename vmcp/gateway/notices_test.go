package gateway_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/badserver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// notice is a log message of the gateway about a backend.
type notice struct {
	Level, Logger string
	Data          struct {
		Event, Message string
		Backend        struct{ ID, State string }
	}
}

func (p *pipe) notice() (n notice) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal(p.until("notifications/message").Params, &n))
	return n
}

func TestAFailureAndAReturnAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		steady, dying := serving("a"), serving("b")
		steady.Answers["logging/setLevel"], dying.Answers["logging/setLevel"] = []badserver.Answer{{}}, []badserver.Answer{{}}
		dying.Answers["tools/call"] = []badserver.Answer{{Exit: true}}
		dying.Answers["initialize"] = []badserver.Answer{{Times: 1}, {Error: broken.Answers["initialize"][0].Error, Times: 1}}
		backends, _ := backendsOf(map[string]badserver.Script{"a": steady, "b": dying}, "a", "b")
		g := over(t, &patient, backends)
		all, quiet := plug(t, g, plain), plug(t, g, plain)
		require.Nil(t, quiet.ask("logging/setLevel", object{"level": "error"}).Error)
		all.begin("tools/call", object{"name": "b_run"}) // the answer may come before the notice, or after it

		failed := all.notice()
		assert.Equal(t, "error", failed.Level)
		assert.Equal(t, "vmcp", failed.Logger)
		assert.Equal(t, "backend_failed", failed.Data.Event)
		assert.Contains(t, failed.Data.Message, `Backend "b" has been failed since `)
		assert.Equal(t, "b", failed.Data.Backend.ID)
		assert.Equal(t, failed, quiet.notice())

		all.until("notifications/message") // the next attempt was in vain, for another reason
		back := all.notice()
		assert.Equal(t, "info", back.Level)
		assert.Equal(t, "backend_ready", back.Data.Event)
		<-time.After(time.Second)
		for !quiet.silent() {
			if m := quiet.next(); m.Method == "notifications/message" {
				assert.Contains(t, string(m.Params), `"level":"error"`)
			}
		}
	})
}
