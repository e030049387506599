package status_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheStateOfAllBackendsTogether(t *testing.T) {
	t.Parallel()
	ready, degraded := vmcp.BackendReport{State: vmcp.Ready}, vmcp.BackendReport{State: vmcp.Degraded}
	failed, connecting := vmcp.BackendReport{State: vmcp.Failed, Reason: "refused"}, vmcp.BackendReport{State: vmcp.Connecting}
	required := vmcp.BackendReport{State: vmcp.Failed, Reason: "refused", Required: true}
	tests := map[string]struct {
		backends []vmcp.BackendReport
		state    vmcp.State
		unready  []string
	}{
		"nothing is known yet":                 {nil, vmcp.Connecting, []string{"no backend serves"}},
		"all are ready":                        {[]vmcp.BackendReport{ready, ready}, vmcp.Ready, nil},
		"one is degraded":                      {[]vmcp.BackendReport{ready, degraded}, vmcp.Degraded, nil},
		"one failed":                           {[]vmcp.BackendReport{ready, failed}, vmcp.Degraded, nil},
		"one is late":                          {[]vmcp.BackendReport{ready, connecting}, vmcp.Degraded, nil},
		"none serves yet":                      {[]vmcp.BackendReport{failed, connecting}, vmcp.Connecting, []string{"no backend serves"}},
		"all failed":                           {[]vmcp.BackendReport{failed, failed}, vmcp.Failed, []string{"no backend serves"}},
		"one that is required failed":          {[]vmcp.BackendReport{ready, required}, vmcp.Failed, []string{"the required backend b1 failed: refused"}},
		"it was the only one":                  {[]vmcp.BackendReport{required}, vmcp.Failed, []string{"no backend serves", "the required backend b0 failed: refused"}},
		"one that is required is late":         {[]vmcp.BackendReport{ready, {State: vmcp.Connecting, Required: true}}, vmcp.Degraded, nil},
		"the only one that serves is degraded": {[]vmcp.BackendReport{degraded}, vmcp.Degraded, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := status.NewBoard("v1")
			for i, backend := range tt.backends {
				backend.ID = "b" + string(rune('0'+i))
				b.Update(backend)
			}
			document, _ := b.Current()
			assert.Equal(t, tt.state, document.State)
			assert.Equal(t, status.Readiness{Ready: tt.unready == nil, Reasons: tt.unready}, document.Readiness())
		})
	}
}

// fieldsOf are the JSON fields of a type, each with its path.
func fieldsOf(kind reflect.Type, path string) []string {
	switch {
	case kind.Kind() == reflect.Slice:
		return fieldsOf(kind.Elem(), path+"[]")
	case kind.Kind() != reflect.Struct || kind == reflect.TypeFor[time.Time]():
		return nil
	}
	var fields []string
	for i := range kind.NumField() {
		name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		name = strings.TrimPrefix(path+"."+name, ".")
		fields = append(append(fields, name), fieldsOf(kind.Field(i).Type, name)...)
	}
	return fields
}

func TestTheDocumentationListsEveryFieldAndNoOther(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/status.md")
	require.NoError(t, err)
	documented := func(heading string) []string {
		_, section, found := strings.Cut(string(page), "\n## "+heading+"\n")
		require.True(t, found, heading)
		section, _, _ = strings.Cut(section, "\n## ")
		var fields []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
			fields = append(fields, row[1])
		}
		return fields
	}
	assert.Equal(t, fieldsOf(reflect.TypeFor[status.Document](), ""), documented("GET /status"))
	assert.Equal(t, fieldsOf(reflect.TypeFor[status.Readiness](), ""), documented("GET /readyz"))
}

func TestTheShapeOfADocument(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.FixedZone("CEST", 7200))
	b := status.NewBoard("v1")
	b.Set(fleet(at))
	document, _ := b.Current()
	document.StartedAt = at.UTC()
	got, err := json.MarshalIndent(document, "", "  ")
	require.NoError(t, err)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile("testdata/status.json", append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile("testdata/status.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got)+"\n", "the format is stable: UPDATE=1 writes it anew after a field was added")

	var read status.Document
	require.NoError(t, json.Unmarshal(want, &read))
	assert.Equal(t, document, read)
}
