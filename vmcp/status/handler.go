package status

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"
)

//go:embed page.html page.css page.js icon.svg
var files embed.FS

// Options say what a [Handler] cannot know.
type Options struct {
	// Endpoint is where MCP clients connect: a URL, or a path on the host
	// that the page was asked of. "" means /mcp.
	Endpoint string
}

// Handler serves what the board knows, to GET and HEAD only:
//
//	/               the page, for people
//	/status         a [Document]
//	/status/events  the page's changes, as Server-Sent Events
//	/healthz        200 while the process serves
//	/readyz         a [Readiness], 200 if ready, else 503
//
// It trusts the request's Host header, and authenticates nobody: to refuse
// other hosts and origins, and those without a token, is up to who mounts it.
func Handler(board *Board, options Options) http.Handler {
	if options.Endpoint == "" {
		options.Endpoint = "/mcp"
	}
	h := &handler{board: board, endpoint: options.Endpoint, streams: make(chan struct{}, mostStreams)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.page)
	mux.HandleFunc("GET /status", h.status)
	mux.HandleFunc("GET /status/events", h.events)
	mux.HandleFunc("GET /healthz", health)
	mux.HandleFunc("GET /readyz", h.readiness)
	mux.Handle("GET /status/page.css", asset("page.css"))
	mux.Handle("GET /status/page.js", asset("page.js"))
	mux.Handle("GET /status/icon.svg", asset("icon.svg"))
	return guarded(mux)
}

type handler struct {
	board    *Board
	endpoint string
	streams  chan struct{}
}

// guarded lets a browser load and run only what this package serves.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (h *handler) status(w http.ResponseWriter, _ *http.Request) {
	document, _ := h.board.Current()
	writeJSON(w, http.StatusOK, document)
}

func (h *handler) readiness(w http.ResponseWriter, _ *http.Request) {
	document, _ := h.board.Current()
	readiness, status := document.Readiness(), http.StatusOK
	if !readiness.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, readiness)
}

func health(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
}

func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	document, _ := h.board.Current()
	page, err := newView(document, h.address(r), time.Now()).render("page")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, http.StatusOK, "text/html; charset=utf-8", page)
}

// address is the endpoint's, as who asks can reach it.
func (h *handler) address(r *http.Request) string {
	if h.endpoint[0] != '/' {
		return h.endpoint
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + h.endpoint
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, status, "application/json", append(text, '\n'))
}

// write has nobody to tell that the reader left.
func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// asset serves a file of the page, which a browser may keep and has to ask
// about.
func asset(name string) http.Handler {
	content, tag := read(name), `"`+build+`"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}

// build changes with the page's files.
var build = func() string {
	sum := sha256.New()
	for _, name := range []string{"page.html", "page.css", "page.js", "icon.svg"} {
		sum.Write(read(name))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}()

// read reads what is embedded: that it is there is known when this is built.
func read(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return content
}
