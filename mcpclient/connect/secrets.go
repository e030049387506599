package connect

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-candor/candor/redact"
)

// shortestSecret is the length from which on a secret is masked. Shorter ones,
// such as "true", are words that occur by chance.
const shortestSecret = 6

// anybody masks what is a secret by its look or by its name, whoever's it is.
var anybody = redact.New()

// mask takes secrets, longest first, out of what a server said.
func mask(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, redact.Mask)
		}
	}
	return anybody.Text(text)
}

// Secrets returns what a target was given that nobody should read, in each form
// in which a server may repeat it: values of headers, of the environment and of
// a query, a user and a password, and [Stdio.Secrets]; the longest first. Some
// may be empty, or words that occur by chance.
func Secrets(target Target) []string {
	if secretive, ok := target.(interface{ secrets() []string }); ok {
		return longestFirst(secretive.secrets())
	}
	return nil
}

// longestFirst is the order to mask in: a secret may be a part of another.
func longestFirst(secrets []string) []string {
	return slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// webSecrets has each in the forms in which a server may repeat it.
func webSecrets(rawURL string, headers map[string]string) []string {
	var secrets []string
	for name, value := range headers {
		_, credentials, _ := strings.Cut(value, " ") // after a scheme such as Bearer
		secrets = append(secrets, value, credentials)
		if strings.EqualFold(name, "Cookie") {
			secrets = append(secrets, cookies(value)...)
		}
	}
	target, err := parseURL(rawURL)
	if err != nil {
		return secrets
	}
	for field := range strings.SplitSeq(target.RawQuery, "&") {
		raw := field[strings.Index(field, "=")+1:]
		value, _ := url.QueryUnescape(raw)
		secrets = append(secrets, raw, value)
	}
	if password, ok := target.User.Password(); ok {
		pair := target.User.Username() + ":" + password
		secrets = append(secrets, password, base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	return append(secrets, target.User.Username())
}

// cookies are the values in the header of that name.
func cookies(header string) []string {
	var values []string
	for cookie := range strings.SplitSeq(header, ";") {
		_, value, _ := strings.Cut(cookie, "=")
		values = append(values, value)
	}
	return values
}
