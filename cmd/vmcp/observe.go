package main

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/telemetry"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/redact"
	"github.com/spf13/cobra"
)

// observability is what a command logs, measures and traces with. Whoever made
// it closes it when nothing is logged any more.
type observability struct {
	logger    *slog.Logger
	secrets   *redact.Redactor // to add a configuration's to
	telemetry *telemetry.Telemetry
	logs      *logs
}

// observe sets it up by the flags and the OTEL_* variables; what is wrong with them
// is a matter of usage. From then on the command's standard error can be written by
// several at a time. What mcp-go has to say goes the way of the log.
func observe(command *cobra.Command, o logOptions) (*observability, error) {
	secrets := redact.New(redact.Values(headersOfExporters(os.Environ())...))
	stderr := command.ErrOrStderr()
	shared := &sharedWriter{to: stderr}
	logs, err := openLogs(shared, isTerminal(stderr), o, secrets)
	if err != nil {
		return nil, err
	}
	command.SetErr(shared)
	started, err := telemetry.Start(command.Context(), telemetry.Info{
		Version: version(), Logger: logs.logger(), Mask: secrets.Text, Console: shared,
	})
	if err != nil {
		return nil, closing(err, logs)
	}
	logger := logs.logger()
	if exported := started.LogHandler(); exported != nil {
		logger = logs.logger(exported)
	}
	slog.SetDefault(logger)
	return &observability{logger: logger, secrets: secrets, telemetry: started, logs: logs}, nil
}

// Close sends and writes what waits, for some seconds at most. Telemetry that
// could not be sent is logged and no error.
func (o *observability) Close() error {
	if err := o.telemetry.Shutdown(context.Background()); err != nil {
		o.logs.logger().Warn("telemetry could not be sent", events.KeyEvent, events.TelemetryFailed, events.KeyError, err)
	}
	return o.logs.Close()
}

// headersOfExporters are those that OTLP exporters authenticate with.
func headersOfExporters(environment []string) []string {
	var secrets []string
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") || !strings.HasSuffix(name, "HEADERS") {
			continue
		}
		for header := range strings.SplitSeq(value, ",") {
			_, escaped, _ := strings.Cut(header, "=")
			plain, err := url.PathUnescape(escaped)
			if err != nil {
				plain = escaped
			}
			_, credentials, _ := strings.Cut(plain, " ") // after a scheme such as Bearer
			secrets = append(secrets, escaped, plain, credentials)
		}
	}
	return secrets
}

// sharedWriter is written by the command and by its log.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
