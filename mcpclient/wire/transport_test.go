package wire_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/mcpclient/wire"
)

func TestZeroTransportUsesTheDefault(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(server.Close)
	httpClient := &http.Client{Transport: &wire.Transport{}}
	t.Cleanup(httpClient.CloseIdleConnections)

	resp, err := httpClient.Get(server.URL)
	require.NoError(t, err)
	assert.Equal(t, "hello", readAndClose(t, resp))
}

func TestErrorOfBasePasses(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	body := &trackedBody{Reader: strings.NewReader("")}
	tests := map[string]*http.Response{
		"without a response":         nil,
		"with a response, closed":    {StatusCode: 200, Body: body},
		"with a response, body less": {StatusCode: 200},
	}
	for name, resp := range tests {
		base := roundTripFunc(func(*http.Request) (*http.Response, error) { return resp, refused })
		got, err := (&wire.Transport{Base: base}).RoundTrip(streamablePost(t, callTwo))
		assert.Nil(t, got, name)
		require.ErrorIs(t, err, refused, name)
	}
	assert.Equal(t, int64(1), body.closes.Load())
}

func TestBaseThatSaysNothing(t *testing.T) {
	t.Parallel()
	base := roundTripFunc(func(*http.Request) (*http.Response, error) { return nil, nil })
	_, err := (&http.Client{Transport: &wire.Transport{Base: base}}).Do(streamablePost(t, callTwo))
	require.ErrorContains(t, err, "nil *Response")
}

func TestResponseWithoutABody(t *testing.T) {
	t.Parallel()
	for status, fails := range map[int]bool{200: false, 404: false, 503: true} {
		base := roundTripFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status}, nil
		})
		resp, err := (&wire.Transport{Base: base}).RoundTrip(streamablePost(t, callTwo))
		assert.Equal(t, fails, err != nil, status)
		if !fails {
			assert.Equal(t, status != 404, resp.Body == http.NoBody)
			assert.Empty(t, readAndClose(t, resp))
		}
	}
}

func TestRequestIsNotModified(t *testing.T) {
	t.Parallel()
	first := request(t, http.MethodPost, "http://first.example/mcp", callTwo)
	req := request(t, http.MethodPost, "http://user:pass@other.example/mcp", callTwo)
	req.Header = http.Header{"Accept": {streamableAccept}, "X-Api-Key": {"sesame"}}
	req.Response = &http.Response{Request: first}
	before := req.Clone(req.Context())

	for _, status := range []int{200, 404, 503} {
		resp, _, err := said(status, notFoundTwo).roundTrip(req)
		if err == nil {
			assert.Same(t, req, resp.Request)
		}
		assert.Equal(t, before.Header, req.Header)
		assert.Equal(t, before.URL, req.URL)
		assert.Same(t, first, req.Response.Request)
		assert.Equal(t, before.Body, req.Body)
	}
}

func TestSwitchingProtocolsKeepsItsConnection(t *testing.T) {
	t.Parallel()
	body := struct {
		io.ReadCloser
		io.Writer
	}{io.NopCloser(strings.NewReader("")), io.Discard}
	base := roundTripFunc(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: body}, nil
	})
	resp, err := (&wire.Transport{Base: base}).RoundTrip(streamablePost(t, callTwo))
	require.NoError(t, err)
	assert.Implements(t, (*io.Writer)(nil), resp.Body)
}

// idleCloser is a Base that counts CloseIdleConnections.
type idleCloser struct {
	roundTripFunc
	calls int
}

func (c *idleCloser) CloseIdleConnections() { c.calls++ }

func TestCloseIdleConnectionsReachesBase(t *testing.T) {
	t.Parallel()
	base := &idleCloser{}
	(&http.Client{Transport: &wire.Transport{Base: base}}).CloseIdleConnections()
	assert.Equal(t, 1, base.calls)

	without := &wire.Transport{Base: roundTripFunc(nil)}
	assert.NotPanics(t, without.CloseIdleConnections)
}

func TestTransportIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	base := roundTripFunc(func(req *http.Request) (*http.Response, error) {
		resp, _ := said(404, notFoundTwo).response(req)
		return resp, nil
	})
	shared := &wire.Transport{Base: base}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			resp, err := shared.RoundTrip(streamablePost(t, callTwo))
			if assert.NoError(t, err) {
				assert.Equal(t, http.StatusOK, resp.StatusCode)
				assert.Equal(t, notFoundTwo, readAndClose(t, resp))
			}
		})
	}
	all.Wait()
}
