package main

import (
	"net/url"
	"strings"

	"github.com/mcp-candor/candor/cmd/vmcp/internal/config"
)

// secretsOf are what a server was configured with that no log may repeat.
func secretsOf(server config.Server) []string {
	secrets := append([]string(nil), server.Secrets...)
	for _, value := range server.Env {
		if !strings.HasPrefix(value, "/") { // a path, such as that in HOME
			secrets = append(secrets, value)
		}
	}
	for name, value := range server.Headers {
		secrets = append(secrets, value, afterScheme(value))
		if strings.EqualFold(name, "Cookie") {
			secrets = append(secrets, cookies(value)...)
		}
	}
	return append(secrets, secretsOfURL(server.URL)...)
}

func secretsOfURL(address string) []string {
	parsed, err := url.Parse(address)
	if err != nil {
		return []string{address}
	}
	var secrets []string
	for _, values := range parsed.Query() {
		secrets = append(secrets, values...)
	}
	password, _ := parsed.User.Password()
	return append(secrets, parsed.User.Username(), password)
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

// afterScheme is what stands after a scheme such as Bearer.
func afterScheme(value string) string {
	_, credentials, _ := strings.Cut(value, " ")
	return credentials
}
