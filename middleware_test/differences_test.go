package middleware_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/middleware"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A comparison is one case over one link: what the caller of mcp-go's plain
// client gets, and what the caller of the default chain does.
type comparison struct {
	realCase
	link
	plain, candor string
}

// TestDifferences compares both clients on every case that the replay carries,
// and docs/differences.md with what came of it. UPDATE=1 writes that anew.
func TestDifferences(t *testing.T) {
	t.Parallel()
	comparisons := compareAll(realCases(t))
	page := differencesPage(comparisons)
	const path = "../docs/differences.md"
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, page, 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(written), string(page), "the page has drifted: UPDATE=1 go test -run TestDifferences ./middleware_test")
}

func compareAll(cases []realCase) []*comparison {
	var all []*comparison
	for _, c := range cases {
		_, isList := c.list()
		for _, w := range links {
			if isList && c.fits(w) || !isList && otherReplays(c) != nil && c.carriedBy(w) {
				all = append(all, &comparison{realCase: c, link: w})
			}
		}
	}
	var running sync.WaitGroup
	lane := make(chan struct{}, 8)
	for _, each := range all {
		running.Go(func() {
			lane <- struct{}{}
			defer func() { <-lane }()
			each.plain = each.outcomeOf(dialPlain)
			each.candor = each.outcomeOf(dialCandor)
		})
	}
	running.Wait()
	return all
}

type dial func(context.Context, realCase, connect.Target) (c client.MCPClient, closing func(), err error)

// dialPlain connects as mcp-go's documentation shows it.
func dialPlain(ctx context.Context, c realCase, target connect.Target) (client.MCPClient, func(), error) {
	own := &http.Transport{}
	var over transport.Interface
	var err error
	if address, ok := target.(connect.HTTP); ok {
		over, err = transport.NewStreamableHTTP(address.URL, transport.WithHTTPBasicClient(&http.Client{Transport: own}))
	} else {
		over, err = target.Dial(ctx)
	}
	if err != nil {
		return nil, func() {}, err
	}
	var options []client.ClientOption
	if c.ID == "J07" {
		options = append(options, client.WithDiscoverTimeout(briefly))
	}
	plain := client.NewClient(over, options...)
	closing := func() { _ = plain.Close(); own.CloseIdleConnections() }
	if err := plain.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, closing, err
	}
	_, err = plain.Initialize(ctx, mcp.InitializeRequest{})
	return plain, closing, err
}

func dialCandor(ctx context.Context, c realCase, target connect.Target) (client.MCPClient, func(), error) {
	opened, err := c.connector(target).OpenVerifying(ctx, unverified, middleware.Default(nil, nil))
	if err != nil {
		return nil, func() {}, err
	}
	return opened, func() { _ = opened.Close() }, nil
}

// outcomeOf replays the case with a client and says what its caller gets, and
// whether the client is of use afterwards.
func (r comparison) outcomeOf(open dial) string {
	server := badserver.New(r.script())
	target, stop := r.serve(server)
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, closing, err := open(ctx, r.realCase, target)
	defer closing()
	if err != nil {
		return "no connection: " + inWords(nil, err)
	}
	untilAsked, done := r.untilAsked(r.link, server)
	defer done()
	l, isList := r.list()
	var got string
	switch {
	case isList:
		listed, err := l.whole(untilAsked, c)
		got = inWords(listed, err)
		if server.Count(r.Method) > endless { // the script ended, not the client
			return fmt.Sprintf("no end after %d pages", endless)
		}
	case handshakes[r.ID].on != nil:
		listed, err := tools.whole(ctx, c)
		return "connected, and " + inWords(listed, err)
	default:
		if err := r.send(untilAsked, c); err != nil {
			got = inWords(nil, err)
		} else {
			got = answered
		}
	}
	return got + r.afterwards(ctx, c)
}

func (r comparison) script() badserver.Script {
	switch _, isList := r.list(); {
	case isList:
		return r.realCase.script(r.era, false)
	case handshakes[r.ID].on != nil:
		return r.greeting(r.era)
	default:
		return r.callScript(r.era)
	}
}

// afterwards asks for something that is in order.
func (r comparison) afterwards(ctx context.Context, c client.MCPClient) string {
	other := tools
	if r.Method == "tools/list" {
		other = prompts
	}
	if r.Method == "initialize" { // a second handshake leaves nothing to rely on
		return ""
	}
	if _, err := other.whole(ctx, c); err != nil {
		return "; every later call fails"
	}
	return ""
}

var ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// inWords is the kind of an outcome, or the text of an error that has none.
func inWords(n names, err error) string {
	kind := kindOf(n, err)
	if kind != otherError {
		return kind
	}
	return fmt.Sprintf("an error without a type: %q", ports.ReplaceAllString(err.Error(), "server"))
}

// differencesPage is docs/differences.md.
func differencesPage(all []*comparison) []byte {
	type row struct{ id, plain, candor string }
	over, same, cases := map[row][]string{}, map[string]int{}, map[string]realCase{}
	differ := map[string]bool{}
	for _, each := range all {
		cases[each.ID] = each.realCase
		if each.plain == each.candor {
			same[each.ID]++
			continue
		}
		differ[each.ID] = true
		key := row{each.ID, each.plain, each.candor}
		over[key] = append(over[key], each.String())
	}
	rows := make([]row, 0, len(over))
	differing := 0
	for key, where := range over {
		rows = append(rows, key)
		differing += len(where)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(over[a][0], over[b][0]), cmp.Compare(a.plain, b.plain))
	})

	var page bytes.Buffer
	fmt.Fprintf(&page, `# What you get without it

Generated by a test, which fails when this page drifts. To write it anew:

    UPDATE=1 go test -run TestDifferences ./middleware_test

Each case of [cases.json](../middleware_test/testdata/cases.json), all from public bug reports, was
replayed twice over each transport and protocol version that can carry it: with the plain client of
mcp-go v1.2.1, and through `+"`connect`"+` with the default chain. Of %d cases in %d replays, %d cases differ,
in %d replays. Errors are named by what a program can test for with `+"`errors.Is` and `errors.As`"+`; what
has no type is quoted, and in the column of candor `+"`error: HTTP n` is a `*wire.StatusError`"+`. "After n
entries" means that what was received comes with the error. A nil list is what a program takes for an
empty one. Each list that is forgiven is also in the log, once, in the metrics and in the session's
report.

| case | what it is about | method | the server answers | plain mcp-go | with candor | over |
|---|---|---|---|---|---|---|
`, len(cases), len(all), len(differ), differing)
	for _, key := range rows {
		c := cases[key.id]
		where := strings.Join(over[key], ", ")
		if len(over[key]) == len(links) {
			where = "all"
		}
		cells := []string{c.ID, c.Title, "`" + c.Method + "`", c.answerInWords(), key.plain, key.candor, where}
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(&page, "| %s |\n", strings.Join(cells, " | "))
	}
	var alike []string
	for id := range cases {
		if !differ[id] {
			alike = append(alike, id)
		}
	}
	slices.Sort(alike)
	fmt.Fprintf(&page, "\nNo difference, as it should be, in %d cases: %s.\n", len(alike), strings.Join(alike, ", "))
	return page.Bytes()
}

// answersInWords are those that the fields of a case do not have.
var answersInWords = map[string]string{
	"D13": "`{\"capabilities\":\"malformed\"}`",
	"L07": "by exiting",
}

// answerInWords is what the server of the case says, in short.
func (c realCase) answerInWords() string {
	said := c.Answer
	var parts []string
	if words, ok := answersInWords[c.ID]; ok {
		return words
	}
	if said.HTTPStatus != 0 && said.HTTPStatus != 200 {
		parts = append(parts, fmt.Sprintf("HTTP %d", said.HTTPStatus))
	}
	if said.Code != nil {
		parts = append(parts, fmt.Sprintf("%d", *said.Code))
	}
	if said.Message != "" {
		parts = append(parts, fmt.Sprintf("%q", said.Message))
	}
	for _, body := range []json.RawMessage{said.Result, said.Body} {
		if body != nil {
			parts = append(parts, "`"+shortened(body)+"`")
		}
	}
	if said.BodyShape != "" {
		parts = append(parts, said.BodyShape)
	}
	if said.BodyBytes != 0 {
		parts = append(parts, fmt.Sprintf("%d bytes, cut", said.BodyBytes))
	}
	if c.hangs() {
		parts = append(parts, "nothing")
	}
	if c.Cursor != "" {
		parts = append(parts, "on a later page")
	}
	return strings.Join(parts, " ")
}

func shortened(body json.RawMessage) string {
	var compact bytes.Buffer
	_ = json.Compact(&compact, body)
	if text := compact.String(); len(text) <= 80 {
		return text
	}
	return compact.String()[:77] + "..."
}
