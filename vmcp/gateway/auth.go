package gateway

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// Tokens say who may call, and as whom.
type Tokens struct {
	known []token
}

type token struct {
	identity string
	digest   [sha256.Size]byte
}

// shortestToken is the fewest characters that a token may have: 128 bits in
// hexadecimal have 32, in base64 22.
const shortestToken = 22

// ReadTokens reads a file of tokens: one a line, each with the name of its
// caller and white space before it if there are several callers. Callers of one
// name share a session. Empty lines and those that begin with # are nothing.
// The errors name the line and never the token.
func ReadTokens(r io.Reader) (*Tokens, error) {
	tokens := &Tokens{}
	scanner := bufio.NewScanner(r)
	for line := 1; scanner.Scan(); line++ {
		text := strings.TrimSpace(scanner.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := tokens.add(strings.Fields(text)); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if len(tokens.known) == 0 {
		return nil, errors.New("there is no token in it; make one with: openssl rand -hex 32")
	}
	return tokens, nil
}

// add takes the words of a line.
func (t *Tokens) add(words []string) error {
	name, secret := "caller", words[len(words)-1]
	if len(words) == 2 {
		name = words[0]
	}
	if len(words) > 2 || len(secret) < shortestToken {
		return fmt.Errorf("a token has %d characters at least and no space; make one with: openssl rand -hex 32", shortestToken)
	}
	if owner, known := t.identify(secret); known && owner != name {
		return errors.New("the token of another caller stands there again; make one for each with: openssl rand -hex 32")
	}
	t.known = append(t.known, token{name, sha256.Sum256([]byte(secret))})
	return nil
}

// identify returns whose token it is. It takes the same time whichever it is.
func (t *Tokens) identify(secret string) (identity string, ok bool) {
	digest := sha256.Sum256([]byte(secret))
	for _, known := range t.known {
		if subtle.ConstantTimeCompare(known.digest[:], digest[:]) == 1 {
			identity, ok = known.identity, true
		}
	}
	return identity, ok
}

// Guard refuses what [Gateway.ServeHTTP] refuses, on behalf of another handler
// beside the endpoint. A browser may send the token as the password of HTTP's
// basic authentication.
func (g *Gateway) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := endpoint.CheckOrigin(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if g.Tokens != nil {
			identity, ok := g.Tokens.identify(secretOf(r))
			if !ok {
				w.Header().Add("WWW-Authenticate", `Bearer realm="vmcp"`)
				w.Header().Add("WWW-Authenticate", `Basic realm="vmcp", charset="UTF-8"`)
				http.Error(w, "this gateway wants a token: send the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
				return
			}
			r = r.WithContext(endpoint.WithIdentity(r.Context(), identity))
		}
		next.ServeHTTP(w, r)
	})
}

func secretOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}
