package status

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/mcp-candor/candor/vmcp"
)

var pages = template.Must(template.New("").Funcs(template.FuncMap{"short": short, "text": text, "long": long}).Parse(string(read("page.html"))))

// view is what the page shows of a document.
type view struct {
	Document

	Endpoint string
	Rows     []row
	now      time.Time
}

// row is what the page shows of a backend.
type row struct {
	vmcp.BackendReport

	now time.Time
}

func newView(document Document, endpoint string, now time.Time) view {
	v := view{Document: document, Endpoint: endpoint, now: now}
	for _, backend := range document.Backends {
		v.Rows = append(v.Rows, row{backend, now})
	}
	return v
}

func (v view) render(name string) ([]byte, error) {
	var page bytes.Buffer
	err := pages.ExecuteTemplate(&page, name, v)
	return page.Bytes(), err
}

// Build tells a page from one of another version of the program.
func (view) Build() string { return build }

// Now is when the page was made, for the clock of who reads it may differ.
func (v view) Now() moment { return moment{v.now, v.now} }

// Started is when the program did.
func (v view) Started() moment { return moment{v.StartedAt, v.now} }

// Headline says in one line how things stand.
func (v view) Headline() string {
	switch ready, all := len(v.In(vmcp.Ready)), len(v.Rows); {
	case all == 0:
		return "No backend is known yet"
	case ready == all && all == 1:
		return "The backend is ready"
	case ready == all:
		return fmt.Sprintf("All %d backends are ready", all)
	default:
		return fmt.Sprintf("%d of %d backends ready", ready, all)
	}
}

// Unready is why callers cannot be sent here, or "" if they can: a few words of
// the [Readiness].
func (v view) Unready() string {
	switch {
	case v.Readiness().Ready:
		return ""
	case serves(v.Backends):
		return "a required backend failed"
	default:
		return "no backend serves"
	}
}

// Troubles are the states other than ready, the worst first.
func (view) Troubles() []vmcp.State {
	return []vmcp.State{vmcp.Failed, vmcp.Degraded, vmcp.Connecting}
}

// In returns the backends that are in the state.
func (v view) In(state vmcp.State) []row {
	var rows []row
	for _, r := range v.Rows {
		if r.State == state {
			rows = append(rows, r)
		}
	}
	return rows
}

// Snippet is a client's configuration.
func (v view) Snippet() (string, error) {
	type server struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // the template escapes
	encoder.SetIndent("", "  ")
	err := encoder.Encode(map[string]map[string]server{"mcpServers": {"vmcp": {"http", v.Endpoint}}})
	return strings.TrimSpace(b.String()), err
}

// Anchor is an element's id for the backend, readable where its name allows it.
func (r row) Anchor() string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
	}
	if len(r.ID) > 64 || strings.ContainsFunc(r.ID, func(c rune) bool { return !plain(c) }) {
		sum := sha256.Sum256([]byte(r.ID))
		return "backend_" + hex.EncodeToString(sum[:8])
	}
	return "backend-" + r.ID
}

// Began is since when the backend is in its state.
func (r row) Began() moment { return moment{r.Since, r.now} }

// Stale is since when its lists are old.
func (r row) Stale() moment { return moment{r.StaleSince, r.now} }

// Next is when it is tried again.
func (r row) Next() moment { return moment{r.NextTry, r.now} }

// A count is how many of a kind a backend lists.
type count struct {
	N    int
	Kind string
}

// Counts are all four, as nothing is a count too, but for a backend that could
// not be asked.
func (r row) Counts() []count {
	if asked := serves([]vmcp.BackendReport{r.BackendReport}); !asked && r.Tools+r.Resources+r.ResourceTemplates+r.Prompts == 0 {
		return nil
	}
	counts := []count{{r.Tools, "tool"}, {r.Resources, "resource"}, {r.ResourceTemplates, "template"}, {r.Prompts, "prompt"}}
	for i := range counts {
		if counts[i].N != 1 {
			counts[i].Kind += "s"
		}
	}
	return counts
}

// mostLeftOut is how many things left out the page lists.
const mostLeftOut = 100

// Shown are the first of what is left out.
func (r row) Shown() []vmcp.LeftOut { return r.LeftOut[:min(len(r.LeftOut), mostLeftOut)] }

// Unshown is how many more there are.
func (r row) Unshown() int { return len(r.LeftOut) - len(r.Shown()) }
