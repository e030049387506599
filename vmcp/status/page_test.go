package status_test

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown is the text of the page about a report, in one line.
func shown(report vmcp.Report) string {
	page := ask(board(report), http.MethodGet, "/").Body.String()
	text := regexp.MustCompile(`(?s)<svg class="symbols".*?</svg>|<[^>]*>`).ReplaceAllString(page, "")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

func TestThePageTellsAllThatIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := shown(fleet(time.Now()))
		for _, want := range []string{
			"1 of 5 backends ready", "1 failed: drawio", "2 degraded: hubspot, second", "1 connecting: slow",
			"Not ready to serve: a required backend failed. ",
			"everything ready · for 3 h, since 31 Dec 1999, 21:00:00 UTC",
			"13 tools 7 resources 2 templates 4 prompts Server mcp-servers/everything 2.0.0 Protocol 2026-07-28 At node server-everything",
			`advertises resources, but answers resources/list, resources/templates/list with -32601 "Method not found"`,
			"What to do: tell the server's authors", "2 contradictions", "hubspot-mcp-server 0.4.0 does not keep what it advertises",
			"drawio failed · required · for 1 min, since", "Next try: in 12 s (1 Jan 2000, 00:00:12 UTC), after 4 in vain",
			"slow connecting · for less than a minute",
			"Lists are old: last asked for with success 3 min ago (31 Dec 1999, 23:57:00 UTC)",
			"2 left out resource demo://0: backend everything serves it already",
			"0 sessions. Started just now (1 Jan 2000, 00:00:00 UTC).",
		} {
			assert.Contains(t, text, want)
		}
		assert.NotContains(t, text, "0 tools", "of a backend that could not be asked nothing is known")
	})
}

func TestTheHeadline(t *testing.T) {
	t.Parallel()
	ready, failed := vmcp.BackendReport{ID: "a", State: vmcp.Ready}, vmcp.BackendReport{ID: "b", State: vmcp.Failed}
	assert.Contains(t, shown(report()), "No backend is known yet")
	assert.Contains(t, shown(report(ready)), "The backend is ready")
	assert.Contains(t, shown(report(ready, vmcp.BackendReport{ID: "c", State: vmcp.Ready})), "All 2 backends are ready")
	assert.Contains(t, shown(report(ready, failed)), "1 of 2 backends ready")
	assert.Contains(t, shown(report(failed)), "0 of 1 backends ready Not ready to serve: no backend serves.")
	assert.NotContains(t, shown(report(ready, failed)), "Not ready")
}

func TestWhatServersSayIsTextOnThePage(t *testing.T) {
	t.Parallel()
	page := ask(board(hostile(time.Now())), http.MethodGet, "/").Body.String()
	assert.NotContains(t, page, "<script>")
	assert.NotContains(t, page, "<img")
	assert.False(t, strings.ContainsFunc(page, unseen), "control characters and marks that turn the direction of text")
	assert.Contains(t, html.UnescapeString(page), "␀␛[2J␡[U+0085] [U+202E]exe.txt[U+2066] ", "they are seen instead")
	assert.Less(t, len(page), 300_000, "what is too long is cut")
	assert.Contains(t, page, "more characters: see /status)")
	assert.Contains(t, page, "and 200 more: see ")
	assert.Equal(t, 1, strings.Count(page, "<title>"))
	wellFormed(t, page)
}

func unseen(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// wellFormed fails if an element is not closed where it should be. The page is
// written so that it is XML, a few attributes aside.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link"}, xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	assert.Zero(t, depth)
}

func TestEachBackendHasAnAnchorOfItsOwn(t *testing.T) {
	t.Parallel()
	page := ask(board(report(vmcp.BackendReport{ID: "a-1"}, vmcp.BackendReport{ID: "a b"}, vmcp.BackendReport{ID: "a.b"})), http.MethodGet, "/").Body.String()
	seen := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.False(t, seen[id[1]], id[1])
		assert.NotContains(t, id[1], " ")
		seen[id[1]] = true
	}
	assert.True(t, seen["backend-a-1"])
}

func TestThePageIsForEverybody(t *testing.T) {
	t.Parallel()
	page := ask(board(fleet(time.Now())), http.MethodGet, "/").Body.String()
	assert.Contains(t, page, `<html lang="en">`)
	assert.Equal(t, 1, strings.Count(page, "<h1>"))
	assert.Contains(t, page, `<div id="summary" role="status">`, "changes are said aloud")
	for _, landmark := range []string{"<header>", "<main ", "<footer ", "<noscript>"} {
		assert.Contains(t, page, landmark)
	}
	for _, labelled := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		assert.Contains(t, page, ` id="`+labelled[1]+`"`)
	}
	for _, datetime := range regexp.MustCompile(`datetime="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		_, err := time.Parse(time.RFC3339, datetime[1])
		assert.NoError(t, err)
	}
}

// What a report masks stays masked: all that is told of a backend stands in its
// report.
func TestNothingIsToldThatIsNotInTheReport(t *testing.T) {
	t.Parallel()
	const secret = "hush-hush-4711"
	masked := fleet(time.Now())
	masked.Backends[2].Target = "http://user:***@127.0.0.1:3000/mcp?key=***"
	masked.Backends[2].Err = errors.New("connect to http://user:" + secret + "@127.0.0.1:3000/mcp?key=" + secret)
	b := board(masked)
	require.NoError(t, b.Close())
	for _, path := range paths {
		body := ask(b, http.MethodGet, path).Body.String()
		assert.NotContains(t, body, secret, path)
		if path == "/" || path == "/status" || path == "/status/events" {
			assert.Contains(t, body, "user:***@127.0.0.1", path)
		}
	}
}
