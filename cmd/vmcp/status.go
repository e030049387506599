package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
	"github.com/mcp-candor/candor/internal/plain"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/spf13/cobra"
)

// inquiry is what vmcp status asks, and whom.
type inquiry struct {
	address   string
	tokenFile string
	timeout   time.Duration
	asJSON    bool
}

func newStatus() *cobra.Command {
	var i inquiry
	command := &cobra.Command{
		Use:   "status",
		Short: "Tell how the backends of a running endpoint stand",
		Long: `Asks a vmcp serve that is running how its backends stand, and prints that: what
is missing, why, since when and what can be done about it.

Exit status: 0 if all are ready, 10 if one is degraded or connecting, 11 if one
failed, 1 if the endpoint cannot be reached, 2 on wrong usage.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return i.run(command) },
	}
	flags := command.Flags()
	flags.StringVar(&i.address, "url", "http://127.0.0.1:4483", "where vmcp serve listens, as a `URL`")
	flags.StringVar(&i.tokenFile, "auth-token-file", "", "`FILE` with the token that the endpoint asks for")
	flags.DurationVar(&i.timeout, "timeout", 10*time.Second, "longest `TIME` to wait for the answer")
	flags.BoolVar(&i.asJSON, "json", false, "print the JSON that the endpoint answers")
	return command
}

func (i inquiry) run(command *cobra.Command) error {
	request, err := i.request(command.Context(), command.Flags().Changed("auth-token-file"))
	if err != nil {
		return usage{err}
	}
	answer, err := i.ask(request)
	if err != nil {
		return err
	}
	document, err := read(answer)
	if err != nil {
		return fmt.Errorf("%s is not the status of a vmcp serve: %w; check --url", request.URL, err)
	}
	if err := i.print(command.OutOrStdout(), document, answer); err != nil {
		return err
	}
	return statusOf(document)
}

// request names what is wrong without the address, which may hold secrets.
func (i inquiry) request(ctx context.Context, withToken bool) (*http.Request, error) {
	if i.timeout <= 0 {
		return nil, fmt.Errorf("--timeout %s is no time to wait; write one such as 10s", i.timeout)
	}
	at, err := url.Parse(i.address)
	if err != nil || !config.GoodURL(at) || at.User != nil || at.RawQuery != "" {
		return nil, errors.New("--url is not the address of a vmcp serve; write it like http://127.0.0.1:4483, and a token into a file for --auth-token-file")
	}
	at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/"), "/mcp") + "/status" // vmcp serve prints it with /mcp
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if withToken {
		token, err := firstToken(i.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("--auth-token-file: %w; name the file that vmcp serve was given", err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

// firstToken reads a file as vmcp serve does, and takes the first token of it,
// without the name of its caller.
func firstToken(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, token, named := strings.Cut(line, " "); named {
			line = strings.TrimSpace(token)
		}
		return line, nil
	}
	return "", fmt.Errorf("there is no token in %s", name)
}

// longestStatus is the most that an answer may have, in bytes.
const longestStatus = 16 << 20

// ask follows no redirect: a token would go along.
func (i inquiry) ask(request *http.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(request.Context(), i.timeout, fmt.Errorf("no answer within %s", i.timeout))
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, unreachable(ctx, request, err)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, longestStatus+1))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, unreachable(ctx, request, err)
	}
	return answer, refused(request, response.StatusCode, len(answer))
}

func unreachable(ctx context.Context, request *http.Request, err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the address, which stands before it
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("cannot trust %s: %w; name the certificate of who issued it in the environment variable SSL_CERT_FILE", request.URL, err)
	}
	return fmt.Errorf("cannot reach %s: %w; is vmcp serve running, and is that where it listens (--url)?", request.URL, err)
}

func refused(request *http.Request, code, length int) error {
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("%s answers %d %s; name the file with its token with --auth-token-file", request.URL, code, http.StatusText(code))
	case code == http.StatusBadRequest && request.URL.Scheme == "http":
		return fmt.Errorf("%s answers 400 Bad Request; write https:// if it has a certificate, and check --url", request.URL)
	case code != http.StatusOK:
		return fmt.Errorf("%s answers %d %s, which a vmcp serve does not; check --url", request.URL, code, http.StatusText(code))
	case length > longestStatus:
		return fmt.Errorf("%s answers more than %d MiB; check --url", request.URL, longestStatus>>20)
	default:
		return nil
	}
}

func read(answer []byte) (status.Document, error) {
	var document status.Document
	if err := json.Unmarshal(answer, &document); err != nil {
		return document, err
	}
	if document.StartedAt.IsZero() || document.State == "" {
		return document, errors.New("it does not say since when it runs and how it stands")
	}
	return document, nil
}

// print prints JSON as it came: a newer endpoint may say more than this program
// knows.
func (i inquiry) print(out io.Writer, document status.Document, answer []byte) error {
	if i.asJSON {
		var indented bytes.Buffer
		if err := json.Indent(&indented, bytes.TrimSpace(answer), "", "  "); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, plain.Text(indented.String()))
		return err
	}
	fmt.Fprintf(out, "vmcp %s: %s, sessions: %d, started %s\n\n",
		plain.Line(document.Version, 80), plain.Line(string(document.State), 20), document.Sessions, day(document.StartedAt))
	if err := printBackends(out, vmcp.Report{Backends: document.Backends}); err != nil {
		return err
	}
	return printTimes(out, document.Backends)
}

// printTimes says of each backend that is not ready since when, and how it goes on.
func printTimes(out io.Writer, backends []vmcp.BackendReport) error {
	var text strings.Builder
	for _, b := range backends {
		if b.State == vmcp.Ready {
			continue
		}
		fmt.Fprintf(&text, "%s: %s since %s", plain.Line(b.ID, 80), plain.Line(string(b.State), 20), day(b.Since))
		if !b.StaleSince.IsZero() {
			fmt.Fprintf(&text, ", lists old since %s", day(b.StaleSince))
		}
		if b.Attempts > 0 {
			fmt.Fprintf(&text, ", tried %s in vain", counted(b.Attempts, "time"))
		}
		if !b.NextTry.IsZero() {
			fmt.Fprintf(&text, ", next try %s", day(b.NextTry))
		}
		text.WriteString("\n")
	}
	if text.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprint(out, "\n", text.String())
	return err
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func statusOf(document status.Document) error {
	worst := statusOK
	if document.State != vmcp.Ready {
		worst = statusDegraded
	}
	for _, b := range document.Backends {
		switch b.State {
		case vmcp.Failed:
			worst = statusFailed
		case vmcp.Ready:
		default:
			worst = max(worst, statusDegraded)
		}
	}
	if worst == statusOK {
		return nil
	}
	return verdict(worst)
}
