package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

// refused returns the StatusError that a means for a POST to url.
func refused(t *testing.T, url string, a answer) *wire.StatusError {
	t.Helper()
	_, _, err := a.roundTrip(request(t, http.MethodPost, url, callTwo))
	var status *wire.StatusError
	require.ErrorAs(t, err, &status)
	return status
}

func TestStatusErrorText(t *testing.T) {
	t.Parallel()
	const url = "http://server.example/mcp"
	tests := map[string]struct {
		answer answer
		want   string
	}{
		"status, words and wait": {
			said(503, `{"message":"unavailable"}`).with("Retry-After", "90"),
			`POST http://server.example/mcp: server answered 503 Service Unavailable: "{\"message\":\"unavailable\"}" (retry after 1m30s)`,
		},
		"no words, no wait": {
			said(405, ""),
			`POST http://server.example/mcp: server answered 405 Method Not Allowed`,
		},
		"a status without a name": {
			said(520, "odd"),
			`POST http://server.example/mcp: server answered 520: "odd"`,
		},
		"control characters stay escaped on one line": {
			said(500, "a\r\nb\x1b[31m\x00\u202e\u2028"),
			`POST http://server.example/mcp: server answered 500 Internal Server Error: "a\r\nb\x1b[31m\x00\u202e\u2028"`,
		},
		"what is no UTF-8 is escaped": {
			said(500, "\xff\xfe"),
			`POST http://server.example/mcp: server answered 500 Internal Server Error: "\xff\xfe"`,
		},
		"long words are cut": {
			said(500, strings.Repeat("x", 201)),
			`POST http://server.example/mcp: server answered 500 Internal Server Error: "` + strings.Repeat("x", 200) + `"...`,
		},
		"two hundred bytes are not cut": {
			said(500, strings.Repeat("x", 200)),
			`POST http://server.example/mcp: server answered 500 Internal Server Error: "` + strings.Repeat("x", 200) + `"`,
		},
		"what is no character anywhere is cut somewhere": {
			said(500, strings.Repeat("\x80", 300)),
			`POST http://server.example/mcp: server answered 500 Internal Server Error: "` + strings.Repeat(`\x80`, 200) + `"...`,
		},
		"long words are cut between characters": {
			said(500, strings.Repeat("x", 199)+"日本"),
			`POST http://server.example/mcp: server answered 500 Internal Server Error: "` + strings.Repeat("x", 199) + `日"...`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := refused(t, url, tt.answer).Error()
			assert.Equal(t, tt.want, text)
			assert.True(t, utf8.ValidString(text))
		})
	}
}

func TestStatusErrorNamesNoSecrets(t *testing.T) {
	t.Parallel()
	status := refused(t, "https://user:hunter2@server.example:8443/a%2Fb?key=sesame#frag", said(500, "no").with("Set-Cookie", "sesame"))
	assert.Equal(t, "https://server.example:8443/a%2Fb", status.URL)
	for _, secret := range []string{"user", "hunter2", "sesame", "frag"} {
		assert.NotContains(t, status.Error(), secret)
		assert.NotContains(t, fmt.Sprintf("%+v", *status), secret)
	}
}

func TestStatusErrorKeepsABoundedBody(t *testing.T) {
	t.Parallel()
	status := refused(t, "http://server.example", said(500, strings.Repeat("y", 70<<10)))
	assert.Equal(t, strings.Repeat("y", 4<<10), status.Body)
}

func TestStatusErrorUnwrapsWhatBrokeOffTheBody(t *testing.T) {
	t.Parallel()
	_, body, err := answer{status: 502, body: brokenAfter("bad gate", context.Canceled)}.roundTrip(streamablePost(t, callTwo))
	require.ErrorIs(t, err, context.Canceled)
	var status *wire.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, "bad gate", status.Body)
	assert.Equal(t, int64(1), body.closes.Load())

	assert.NoError(t, errors.Unwrap(refused(t, "http://server.example", said(502, "whole"))))
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const longest = 9223372036 * time.Second
	tests := map[string]struct {
		date, value string
		want        time.Duration
	}{
		"absent":                            {"", "", 0},
		"seconds":                           {"", "120", 2 * time.Minute},
		"seconds within spaces":             {"", " 5 ", 5 * time.Second},
		"zero":                              {"", "0", 0},
		"negative":                          {"", "-5", 0},
		"fraction":                          {"", "1.5", 0},
		"text":                              {"", "soon", 0},
		"more than a Duration holds":        {"", "10000000000", longest},
		"more than an int64 holds":          {"", "99999999999999999999", longest},
		"less than an int64 holds":          {"", "-99999999999999999999", 0},
		"date, counted from Date":           {"Wed, 29 Jul 2026 10:00:00 GMT", "Wed, 29 Jul 2026 10:00:30 GMT", 30 * time.Second},
		"date before Date":                  {"Wed, 29 Jul 2026 10:00:00 GMT", "Wed, 29 Jul 2026 09:59:59 GMT", 0},
		"date, counted from now":            {"", "Sat, 01 Jan 2000 00:00:10 GMT", 10 * time.Second},
		"date, now where Date is malformed": {"yesterday", "Sat, 01 Jan 2000 00:00:10 GMT", 10 * time.Second},
		"date in the past":                  {"", "Fri, 31 Dec 1999 23:59:59 GMT", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // its clock starts at midnight, 1 January 2000
				status := refused(t, "http://server.example", said(429, "").with("Retry-After", tt.value).with("Date", tt.date))
				assert.Equal(t, tt.want, status.RetryAfter)
			})
		})
	}
}
