//go:build unix && !real

package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tlsConfig writes a configuration of a server and of the files for TLS.
func tlsConfig(t *testing.T, cert, key string) string {
	t.Helper()
	return configFileOf(t, map[string]any{"child": childOf(t, `{"capabilities": {"tools": {}}, "answers": {"tools/list": [{"result": {"tools": []}}]}}`)},
		map[string]any{"tls": map[string]string{"cert": cert, "key": key}})
}

func TestServeOverTLSForClientsThatTrustIt(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	p, endpoint := launchEndpoint(t, tlsConfig(t, cert, key))
	require.True(t, strings.HasPrefix(endpoint, "https://"), endpoint)
	address := strings.TrimSuffix(endpoint, "/mcp")

	pem, err := os.ReadFile(cert)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(pem))
	trusting := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	defer trusting.CloseIdleConnections()
	answer, err := (&http.Client{Transport: trusting}).Post(endpoint, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.NotNil(t, answer.TLS)

	plain := get(t, strings.Replace(address, "https", "http", 1)+"/healthz", nil)
	assert.Equal(t, http.StatusBadRequest, plain.status)
	for url, remedy := range map[string]string{address: "SSL_CERT_FILE", strings.Replace(address, "https", "http", 1): "write https://"} {
		got := vmcpWith(t, "status", "--url", url)
		assert.Equal(t, statusFailure, got.status)
		assert.Contains(t, got.err, remedy)
	}
	require.NoError(t, p.Process.Signal(syscall.SIGINT))
	p.ended(t)
}

func TestServeRefusesBadFilesForTLSBeforeItStarts(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	_, foreign := selfSigned(t)
	for name, files := range map[string][2]string{
		"no certificate": {"/no/such/file", key}, "no key": {cert, "/no/such/file"},
		"no PEM": {write(t, "text", "hello"), key}, "another's key": {cert, foreign}, "swapped": {key, cert},
	} {
		got := vmcpWith(t, "serve", "--listen", "127.0.0.1:0", "--config", tlsConfig(t, files[0], files[1]))
		assert.Equal(t, statusUsage, got.status, name)
		assert.Contains(t, got.err, "gateway.tls: ", name)
		assert.Contains(t, got.err, `Name a certificate as "cert" and its private key as "key"`, name)
		assert.Empty(t, got.out, "%s: nothing is announced", name)
	}
}
