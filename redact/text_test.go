package redact_test

import (
	"strings"
	"testing"

	"github.com/mcp-candor/candor/redact"
	"github.com/stretchr/testify/assert"
)

// The tokens of the tests are put together here, so that no file holds one that
// a scanner would take for real.
const (
	hex32   = "0123456789abcdef0123456789abcdef"
	mixed36 = "Abcdefghij0123456789ABCDEFGHIJklmnop"
)

func TestTextMasksTokensByTheirShape(t *testing.T) {
	t.Parallel()
	tokens := map[string]string{
		"JWT":              "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0",
		"GitHub":           "ghp_" + mixed36,
		"GitHub fine":      "github_pat_" + mixed36,
		"GitLab":           "glpat-" + "xYz12345678901234567",
		"OpenAI":           "sk-proj-" + mixed36,
		"Anthropic":        "sk-ant-api03-" + mixed36,
		"Stripe":           "sk_live_" + mixed36,
		"Slack":            "xoxb-" + "123456789012-abcdefghijkl",
		"Slack webhook":    "https://hooks.slack.com/services/" + "T000/B000/XXXXXXXX",
		"Discord webhook":  "https://discord.com/api/webhooks/" + "123456789/abcdefgh",
		"AWS":              "AKIA" + "ABCDEFGHIJKLMNOP",
		"Google":           "AIza" + mixed36,
		"Google OAuth":     "ya29." + mixed36,
		"npm":              "npm_" + mixed36,
		"PyPI":             "pypi-" + mixed36 + mixed36,
		"Hugging Face":     "hf_" + mixed36,
		"SendGrid":         "SG." + mixed36 + "." + mixed36,
		"Atlassian":        "ATATT3" + mixed36 + "=1A2B",
		"HubSpot":          "pat-na1-" + "11111111-2222-3333-4444-555555555555",
		"Shopify":          "shpat_" + hex32,
		"DigitalOcean":     "dop_v1_" + hex32,
		"Databricks":       "dapi" + hex32,
		"Vault":            "hvs." + mixed36,
		"Linear":           "lin_api_" + mixed36,
		"private key":      "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
		"escaped":          "-----BEGIN PRIVATE " + `KEY-----\nMIIEow\n-----END PRIVATE KEY-----`,
		"truncated":        "-----BEGIN OPENSSH PRIVATE " + "KEY-----\nb3BlbnNz",
		"age":              "AGE-SECRET-KEY-1" + "QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ",
		"refresh (Google)": "1//0" + mixed36,
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redact.New()
			assert.Equal(t, "***", r.Text(token))
			if name == "truncated" {
				return
			}
			assert.Equal(t, "the server said ***. Then", r.Text("the server said "+token+". Then"))
			assert.Equal(t, `{"x":"***"}`, r.Text(`{"x":"`+token+`"}`))
			assert.Equal(t, `{"x":"a\n***\n"}`, r.Text(`{"x":"a\n`+token+`\n"}`), "after an escaped line break")
			assert.Equal(t, "a%20***", r.Text("a%20"+token), "after an escaped space")
		})
	}
}

func TestTextMasksWhatStandsAfterAKey(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"header":                     {"Authorization: Bearer abcd", "Authorization: ***"},
		"header in lower case":       {"proxy-authorization: Digest a, b=c\nHost: x", "proxy-authorization: ***\nHost: x"},
		"cookies":                    {"Cookie: a=b; c=d\r\nHost: x", "Cookie: ***\r\nHost: x"},
		"a cookie that is set":       {`Set-Cookie: a=b; HttpOnly`, "Set-Cookie: ***"},
		"header in quotes":           {`curl -H 'Authorization: Bearer abcd' https://x/`, `curl -H 'Authorization: ***' https://x/`},
		"API key header":             {"X-Api-Key: hunter2", "X-Api-Key: ***"},
		"headers of Go":              {"map[Authorization:[Bearer abcd] Host:[x]]", "map[Authorization:[***] Host:[x]]"},
		"headers in JSON":            {`{"Authorization":["Bearer abcd","b"],"Host":["x"]}`, `{"Authorization":[***],"Host":["x"]}`},
		"JSON":                       {`{"apiKey": "abcd", "n": 1}`, `{"apiKey": "***", "n": 1}`},
		"JSON in JSON":               {`"{\"client_secret\":\"abcd\",\"n\":1}"`, `"{\"client_secret\":\"***\",\"n\":1}"`},
		"JSON with a quote":          {`{"password":"a\"b","n":1}`, `{"password":"***","n":1}`},
		"JSON that was cut off":      {`{"password":"abc`, `{"password":"***`},
		"struct of Go":               {"{Password:hunter2 Name:x}", "{Password:*** Name:x}"},
		"assignment":                 {"DB_PASSWORD=hunter2 other=1", "DB_PASSWORD=*** other=1"},
		"assignment in quotes":       {"password='a b' user=x", "password='***' user=x"},
		"camel case":                 {"accessToken=abcd", "accessToken=***"},
		"prose with a strong key":    {"password: swordfish", "password: ***"},
		"prose with a weak key":      {"token: abc123", "token: ***"},
		"connection string":          {"Server=x;Password=abcd;Timeout=3", "Server=x;Password=***;Timeout=3"},
		"query":                      {"GET /a?token=abcd&n=1 HTTP/1.1", "GET /a?token=***&n=1 HTTP/1.1"},
		"query, key":                 {"https://x/?n=1&key=abcd", "https://x/?n=1&key=***"},
		"query, code":                {"https://x/cb?code=abcd&state=s", "https://x/cb?code=***&state=s"},
		"query, sig":                 {"https://x/?sv=1&sig=a%2Fb%3D&se=2", "https://x/?sv=1&sig=***&se=2"},
		"query, HTML":                {"?a=1&amp;key=abcd", "?a=1&amp;key=***"},
		"query, JSON":                {`?a=1\u0026key=abcd\u0026b=2`, `?a=1\u0026key=***\u0026b=2`},
		"query in a query":           {"?to=https%3A%2F%2Fx%2F%3Ftoken%3Dabcd%26b%3D2", "?to=https%3A%2F%2Fx%2F%3Ftoken%3D***%26b%3D2"},
		"fragment":                   {"https://x/#access_token=abcd&n=1", "https://x/#access_token=***&n=1"},
		"user and password":          {"dial https://joe:hunter2@x:80/a", "dial https://***@x:80/a"},
		"token as a user":            {"https://abcd@x/a?q=joe@y", "https://***@x/a?q=joe@y"},
		"password with an at sign":   {"postgres://joe:a@b@x/db", "postgres://***@x/db"},
		"bearer":                     {"sent bearer abcd1234 to it", "sent bearer *** to it"},
		"basic":                      {"Basic am9lOmh1bnRlcjI= is wrong", "Basic *** is wrong"},
		"bearer in a query":          {"?h=Bearer%20abcd1234", "?h=Bearer%20***"},
		"flag":                       {"run --api-key abcd --verbose", "run --api-key *** --verbose"},
		"flag with an equals sign":   {"run --token=abcd x", "run --token=*** x"},
		"flags in JSON":              {`["--password","abcd","x"]`, `["--password","***","x"]`},
		"AWS":                        {"?X-Amz-Credential=AK%2F1&X-Amz-Signature=ab", "?X-Amz-Credential=***&X-Amz-Signature=***"},
		"two on a line":              {"token=a secret=b", "token=*** secret=***"},
		"environment of Go":          {"{Env:map[A:b C:d] Dir:x}", "{Env:map[***] Dir:x}"},
		"after an escaped line":      {`a\ntoken=abcd`, `a\ntoken=***`},
		"what is masked stays so":    {"token=*** https://***@x/ password: ***", "token=*** https://***@x/ password: ***"},
		"more after what was masked": {"token=*** secret=abc", "token=*** secret=***"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := redact.New().Text(tt[0])
			assert.Equal(t, tt[1], got)
			assert.Equal(t, tt[1], redact.New().Text(got), "a second time")
		})
	}
}

func TestTextLeavesAloneWhatIsNoSecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		"mcp call",
		"4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 id 17",
		"tools get_token, reset_password, list_api_keys, sk_list, npm_install, hf_search_models, ghp_x, eyJ",
		"sk-learn-train-test-split-model", // of tools' names
		"github_pat_management_enterprise_settings",
		"https://example.com:8443/mcp?page=2&code_of_conduct=1#top",
		"http://[::1]:4483/mcp",
		"dial tcp 127.0.0.1:1: connect: connection refused",
		`jsonrpc error code=-32601 message="Method not found"`,
		`{"code":-32601,"key":"value","nextCursor":"eyJwYWdlIjoyfQ=="}`,
		"unexpected token: end of file",
		"the token has expired; log in again",
		"missing credentials: none given",
		`WWW-Authenticate: Bearer realm="mcp", error="invalid_token"`,
		"Basic authentication is not supported, bearer token required",
		"progressToken=7 nextPageToken=abc maxTokens=100 tokens: 5",
		"use --token to set it",
		"password= ",
		"mail joe@example.com, see demo://resource/1",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"honest_echo boastful_brag capability_contradiction backend-ready",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"2026-07-28 v1.2.1 application/json; charset=utf-8",
		"AKIA and ASIA are prefixes", "desk-ghp_", "task-abcdefghijklmnopqrstuvwxyz0123456789",
		`{"env":"prod"} env=prod, environment=prod`,
		`put {"Authorization": "Bearer ${TOKEN}"} into headers, or token=${TOKEN}`,
		"::::====%3D%%%---", "\\", "token=", "a=b=c", "=", "Bearer ", "basic", "--", "--token", "://@",
	} {
		assert.Equal(t, text, redact.New().Text(text))
	}
}

func TestTextMasksRegisteredValues(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Values("hunter-two", "hunter-two-and-more", `a"b\c d/é&`, "short", "swordfish", " padded-value\n"), nil)
	for text, want := range map[string]string{
		"xhunter-twox":                            "x***x",
		"hunter-two-and-more":                     "***", // the longest first
		"hunter-two-and-":                         "***-and-",
		`a"b\c d/é&`:                              "***",
		`{"said":"a\"b\\c d/é&"}`:                 `{"said":"***"}`,
		`{"said":"a\"b\\c d/é\u0026"}`:            `{"said":"***"}`,
		"?q=a%22b%5Cc+d%2F%C3%A9%26":              "?q=***",
		"/a%22b%5Cc%20d%2F%C3%A9&":                "/***",
		"short":                                   "short",
		"a swordfish!":                            "a ***!",
		"swordfish_list swordfishes a.swordfish.": "swordfish_list swordfishes a.***.",
		"padded-value":                            "***",
	} {
		assert.Equal(t, want, r.Text(text))
	}
	r.Add("later-value")
	assert.Equal(t, "*** and ***", r.Text("later-value and hunter-two"))
}

func TestZeroRedactorWorks(t *testing.T) {
	t.Parallel()
	var r redact.Redactor
	assert.Equal(t, "token=***", r.Text("token=abc"))
	r.Add("registered")
	assert.Equal(t, "***", r.Text("registered"))
}

func TestKeysAddNames(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Keys("tenant-key", "licence"))
	assert.Equal(t, "Tenant_Key=*** LICENCE: *** tenant=x", r.Text("Tenant_Key=abc LICENCE: abc tenant=x"))
}

func FuzzTextNeverShowsARegisteredValue(f *testing.F) {
	f.Add("token=", "&x", "s3cret-value")
	f.Add(`{"password":"`, `"}`, `a"b\c`)
	f.Add("-----BEGIN ", "-----", "https://a:b@c/")
	f.Fuzz(func(t *testing.T, before, after, value string) {
		value = strings.TrimSpace(value)
		if len(value) < 16 {
			return
		}
		got := redact.New(redact.Values(value)).Text(before + value + after)
		if strings.Contains(strings.ReplaceAll(got, redact.Mask, ""), value) && !strings.Contains(before+after, value) {
			t.Errorf("%q is in %q", value, got)
		}
	})
}
