//go:build real

package status_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// screenshotsVariable names a folder to keep what the tests saw, for a person
// to look at.
const screenshotsVariable = "STATUS_SCREENSHOTS"

// tab is a page in Chromium.
type tab struct {
	*testing.T

	ctx     context.Context
	board   *status.Board
	url     string
	server  *httptest.Server
	down    *atomic.Bool // the server answers 503
	console iter.Seq2[chromedp.ConsoleMessage, error]
}

type action = chromedp.Action[chromedp.Void]

// TestRealPage sees the page in Chromium: one browser for all, as its start takes
// longer than the rest.
func TestRealPage(t *testing.T) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1000, 900), chromedp.ExecPath("chromium"))
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	browser, end := chromedp.NewContext(allocator)
	t.Cleanup(func() { assert.NoError(t, chromedp.Cancel(browser)); end(); free() })
	require.NoError(t, chromedp.Do(browser), "Chromium is needed: apt-get install chromium")
	for name, test := range map[string]func(*testing.T, context.Context){
		"tells how each backend stands":               tellsHowEachBackendStands,
		"follows the board without a reload":          followsTheBoardWithoutAReload,
		"says when nobody answers and comes back":     saysWhenNobodyAnswersAndComesBack,
		"is dark in dark mode, with contrast in both": isDarkInDarkModeWithContrastInBoth,
		"needs no horizontal scroll on a phone":       needsNoHorizontalScrollOnAPhone,
		"takes no markup from servers":                takesNoMarkupFromServers,
		"shows everything without JavaScript":         showsEverythingWithoutJavaScript,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser) })
	}
}

// open shows a tab, once prepared, the page of a board with the report.
func open(t *testing.T, browser context.Context, report vmcp.Report, prepare ...action) *tab {
	t.Helper()
	board := status.NewBoard("v0.2.0")
	board.Set(report)
	board.SetSessions(3)
	handler, down := status.Handler(board, status.Options{}), new(atomic.Bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { assert.NoError(t, board.Close()); server.Close() })

	ctx, leave := chromedp.NewContext(browser)
	t.Cleanup(func() { assert.NoError(t, chromedp.Cancel(ctx)); leave() })
	require.NoError(t, chromedp.Do(ctx))
	ctx, expire := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(expire)

	p := &tab{t, ctx, board, server.URL, server, down, chromedp.Console(ctx)}
	p.do(prepare...)
	p.do(chromedp.Navigate(server.URL))
	return p
}

// command is a command of the protocol that has no action of its own.
func command[P, R any](c cdp.Command[P, R], params P) action {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, c, params)
		return err
	})
}

func (p *tab) do(actions ...action) {
	p.Helper()
	require.NoError(p, chromedp.Do(p.ctx, actions...))
}

func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// eval is the value of an expression on the page.
func eval[V any](p *tab, expression string) V {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[V](expression))
	require.NoError(p, err, expression)
	return value
}

// text is what can be seen of an element, with or without JavaScript.
func (p *tab) text(selector string) string {
	p.Helper()
	text, err := chromedp.Run(p.ctx, chromedp.Text(chromedp.CSS(selector)))
	require.NoError(p, err, selector)
	return text
}

// eventually waits until an expression is true.
func (p *tab) eventually(expression string) {
	p.Helper()
	require.Eventually(p, func() bool {
		yes, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && yes
	}, 20*time.Second, 20*time.Millisecond, expression)
}

// marker ends what the console says in a test.
const marker = "that is all"

// quiet fails if the console said anything, such as that something broke the
// Content-Security-Policy.
func (p *tab) quiet() {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void]("console.log('" + marker + "')"))
	for message, err := range p.console {
		require.NoError(p, err)
		if message.Text == marker {
			return
		}
		assert.Fail(p, "the console says", "%s: %s", message.Type, message.Text)
	}
}

// keep writes a picture of the whole page for a person, if one asked for it.
func (p *tab) keep(name string) {
	p.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	require.NoError(p, err)
	require.NoError(p, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
}

const live = `document.getElementById('connection').textContent === 'Live'`

func tellsHowEachBackendStands(t *testing.T, browser context.Context) {
	p := open(t, browser, fleet(time.Now()))
	p.eventually(live)
	seen := p.text("body")
	for _, want := range []string{
		"1 of 5 backends ready", "1 failed: drawio", "2 degraded: hubspot, second", "1 connecting: slow",
		"connection refused", "What to do: check the address, and that the server is running", "Next try: in ", "after 4 in vain",
		"for 25 min, since ", "13 tools", "0 prompts", "2 contradictions", "2 left out", p.url + "/mcp", `"url": "` + p.url + `/mcp"`, "3 sessions",
	} {
		assert.Contains(t, seen, want)
	}
	assert.NotContains(t, seen, "does not keep what it advertises", "the report is folded")
	p.keep("light")
	said, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](differentWords, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	assert.Empty(t, said, "the script says times as the server does")
	p.click("#backend-hubspot summary")
	p.click("#backend-second summary")
	assert.Contains(t, p.text("body"), "does not keep what it advertises")
	p.keep("light-open")
	p.click("#backend-hubspot .copyable button")
	p.eventually(`['Copied', 'Selected'].includes(document.querySelector('#backend-hubspot .copyable button').textContent)`)
	p.quiet()
}

// differentWords are the relative times that the page says otherwise than the
// server does at the same time, as far as they do not count seconds.
const differentWords = `fetch('/').then((answer) => answer.text()).then((html) => {
	tick();
	const said = (page) => [...page.querySelectorAll('main article .relative')].map((e) => e.textContent).filter((text) => !/ s$/.test(text));
	const fresh = said(new DOMParser().parseFromString(html, 'text/html'));
	return said(document).filter((text, i) => text !== fresh[i]);
})`

func followsTheBoardWithoutAReload(t *testing.T, browser context.Context) {
	now := time.Now()
	p := open(t, browser, fleet(now))
	p.eventually(live)
	p.click("#backend-hubspot summary")
	p.do(chromedp.Focus(chromedp.CSS("#backend-second summary")))
	eval[string](p, `window.stays = 'the same page'`)
	eval[bool](p, `window.untouched = document.getElementById('backend-everything'), true`)

	drawio := vmcp.BackendReport{ID: "drawio", State: vmcp.Ready, Since: now, Target: "http://127.0.0.1:3000/mcp", Tools: 30}
	p.board.Update(drawio)
	p.eventually(`document.querySelector('#backend-drawio .state b').textContent === 'ready'`)
	assert.Contains(t, eval[string](p, `document.title`), "2 of 5 backends ready")
	assert.NotContains(t, eval[string](p, `document.getElementById('summary').innerText`), "drawio")
	assert.Equal(t, "the same page", eval[string](p, `window.stays`))
	assert.True(t, eval[bool](p, `window.untouched === document.getElementById('backend-everything')`), "what did not change is not touched")

	hubspot, _ := fleet(now).Backend("hubspot")
	hubspot.Tools, hubspot.Reason = 22, "another reason"
	second, _ := fleet(now).Backend("second")
	second.Attempts = 2
	p.board.Set(vmcp.Report{Backends: []vmcp.BackendReport{hubspot, second}})
	p.eventually(`document.getElementById('backend-hubspot').innerText.includes('another reason')`)
	assert.True(t, eval[bool](p, `document.getElementById('backend-hubspot-contradictions').open`), "what was open stays open")
	assert.Equal(t, "backend-second-left-out", eval[string](p, `document.activeElement.parentElement.id`), "the focus stays")

	p.board.Keep([]string{"drawio", "new", "everything"})
	p.eventually(`[...document.querySelectorAll('#backends > article')].map(a => a.id).join() === 'backend-drawio,backend-new,backend-everything'`)
	p.quiet()
}

func saysWhenNobodyAnswersAndComesBack(t *testing.T, browser context.Context) {
	p := open(t, browser, fleet(time.Now()))
	p.eventually(live)
	p.down.Store(true)
	p.server.CloseClientConnections()
	p.eventually(`document.getElementById('connection').textContent.startsWith('Connection lost')`)
	assert.Contains(t, p.text("main"), "drawio", "what was known last stays")
	p.board.Keep([]string{"hubspot"})
	p.down.Store(false)
	p.eventually(live)
	assert.NotContains(t, p.text("main"), "drawio", "and what changed meanwhile is there")
}

func isDarkInDarkModeWithContrastInBoth(t *testing.T, browser context.Context) {
	grounds := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		p := open(t, browser, fleet(time.Now()), command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
		p.eventually(live)
		p.click("#backend-hubspot summary")
		p.click("#backend-second summary")
		grounds[scheme] = eval[string](p, `getComputedStyle(document.body).backgroundColor`)
		assert.Empty(t, eval[[]string](p, poorContrast), scheme)
		p.keep(scheme + "-open")
		p.quiet()
	}
	assert.NotEqual(t, grounds["light"], grounds["dark"])
	assert.Equal(t, "rgb(23, 23, 22)", grounds["dark"])
}

// poorContrast is the texts on the page with less than 4.5 : 1, WCAG 2.2's AA
// (https://www.w3.org/TR/WCAG22/#contrast-minimum).
const poorContrast = `(() => {
	const luminance = (color) => color.match(/[\d.]+/g).slice(0, 3).map((c) => c / 255)
		.map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== 'rgba(0, 0, 0, 0)') return c; } };
	const ratio = (e) => { const [a, b] = [getComputedStyle(e).color, ground(e)].map(luminance).sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
	return [...document.body.querySelectorAll('*')].filter((e) => e.innerText && e.getClientRects().length && ratio(e) < 4.5)
		.map((e) => e.tagName + ' ' + ratio(e).toFixed(2) + ' ' + e.innerText);
})()`

func needsNoHorizontalScrollOnAPhone(t *testing.T, browser context.Context) {
	for name, report := range map[string]vmcp.Report{"phone": fleet(time.Now()), "phone-hostile": hostile(time.Now())} {
		p := open(t, browser, report, chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile))
		p.eventually(live)
		eval[bool](p, `document.querySelectorAll('details').forEach((d) => { d.open = true; }), true`)
		assert.LessOrEqual(t, eval[int](p, `document.documentElement.scrollWidth`), eval[int](p, `window.innerWidth`), name)
		assert.Equal(t, 320, eval[int](p, `window.innerWidth`), name)
		if name == "phone" { // the other is longer than a picture can be
			p.keep(name)
		}
		p.quiet()
	}
}

func takesNoMarkupFromServers(t *testing.T, browser context.Context) {
	p := open(t, browser, hostile(time.Now()))
	p.eventually(live)
	p.board.Update(vmcp.BackendReport{ID: "good", State: vmcp.Failed, Reason: evil})
	p.eventually(`document.querySelector('#backend-good.failed') !== null`)
	assert.Equal(t, 0, eval[int](p, `document.querySelectorAll('img, b b, main script, iframe').length`))
	assert.False(t, eval[bool](p, `'owned' in window`))
	p.keep("hostile")
	p.quiet()
}

func showsEverythingWithoutJavaScript(t *testing.T, browser context.Context) {
	p := open(t, browser, fleet(time.Now()), command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	seen := p.text("body")
	for _, want := range []string{"1 of 5 backends ready", "connection refused", "reloads every 30 seconds", "for 25 min, since ", `"mcpServers"`} {
		assert.Contains(t, seen, want)
	}
	p.click("#backend-hubspot summary")
	p.do(chromedp.WaitVisible(chromedp.CSS("#backend-hubspot pre")))
	assert.NotContains(t, p.text("body"), "Copy", "no button that does nothing")
	p.keep("no-script")
}
