package status_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/middleware"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
)

// evil is what a hostile server may say: markup, an end of each kind of element
// that its text stands in, control characters, marks that turn the direction of
// text, and more than anybody reads.
const evil = `</pre></bdi></title><script>window.owned=1</script><img src=x onerror=owned=1> "'` + "`" + `{{.}} ` +
	"\x00\x1b[2J\x7f\u0085 \u202eexe.txt\u2066 \r\n\r\ndata: x\n"

// hostile is a report with evil in every text of it.
func hostile(now time.Time) vmcp.Report {
	words := evil + strings.Repeat("W", 5_000) + strings.Repeat(" word", 1000)
	b := vmcp.BackendReport{State: vmcp.Degraded, Since: now,
		Contradictions: make([]middleware.Contradiction, 2), LeftOut: make([]vmcp.LeftOut, 300)}
	fill(reflect.ValueOf(&b).Elem(), words)
	b.State = vmcp.Degraded
	return vmcp.Report{Backends: []vmcp.BackendReport{b, {ID: "good", State: vmcp.Ready, Since: now}}}
}

// fill sets every text in a value, so that one that is added is tested as well.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				fill(v.Field(i), text)
			}
		}
	}
}

func TestFillReachesEveryText(t *testing.T) {
	b := hostile(time.Now()).Backends[0]
	assert.True(t, strings.HasPrefix(b.BugReport, "</pre>"))
	assert.True(t, strings.HasPrefix(b.LeftOut[299].Kind, "</pre>"))
	assert.True(t, strings.HasPrefix(b.Contradictions[1].Message, "</pre>"))
}
