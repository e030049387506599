package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// receiver is one of OTLP over HTTP: it keeps what it gets as JSON, by path.
type receiver struct {
	url string

	mu     sync.Mutex
	bodies map[string]string
	header http.Header
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{bodies: map[string]string{}}
	server := httptest.NewServer(r.handler(t))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) handler(t *testing.T) http.Handler {
	messages := map[string]func() proto.Message{
		"/v1/traces":  func() proto.Message { return &tracepb.ExportTraceServiceRequest{} },
		"/v1/metrics": func() proto.Message { return &metricspb.ExportMetricsServiceRequest{} },
		"/v1/logs":    func() proto.Message { return &logspb.ExportLogsServiceRequest{} },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		newMessage, ok := messages[req.URL.Path]
		if !assert.True(t, ok, req.URL.Path) {
			return
		}
		message := newMessage()
		assert.NoError(t, proto.Unmarshal(body, message))
		r.keep(req, protojson.MarshalOptions{}.Format(message))
		w.Header().Set("Content-Type", "application/x-protobuf")
	})
}

func (r *receiver) keep(req *http.Request, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies[req.URL.Path] += body
	r.header = req.Header.Clone()
}

func (r *receiver) got(path string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies[path]
}
