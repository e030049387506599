package redact

import "strings"

// shape is what an issuer gives its tokens to be found by.
type shape struct {
	prefix string
	least  int             // that many bytes follow, or more
	of     func(byte) bool // which
	mixed  bool            // with a digit or a capital: other words begin so too
	also   func(text string) bool
}

// shapes are the known ones by the byte that they begin with.
var shapes = byFirst([]shape{
	{prefix: "eyJ", least: 20, of: isJWT, also: hasParts},                  // JSON Web Token
	{prefix: "ghp_", least: 16, of: isToken},                               // GitHub
	{prefix: "gho_", least: 16, of: isToken},                               //
	{prefix: "ghu_", least: 16, of: isToken},                               //
	{prefix: "ghs_", least: 16, of: isToken},                               //
	{prefix: "ghr_", least: 16, of: isToken},                               //
	{prefix: "github_pat_", least: 16, of: isToken, mixed: true},           //
	{prefix: "glpat-", least: 16, of: isJWT},                               // GitLab
	{prefix: "gldt-", least: 16, of: isToken, mixed: true},                 //
	{prefix: "glrt-", least: 16, of: isJWT, mixed: true},                   //
	{prefix: "glptt-", least: 16, of: isToken, mixed: true},                //
	{prefix: "glcbt-", least: 16, of: isToken, mixed: true},                //
	{prefix: "sk-", least: 16, of: isToken, mixed: true},                   // OpenAI, Anthropic, DeepSeek, OpenRouter
	{prefix: "sk_live_", least: 10, of: isToken},                           // Stripe
	{prefix: "sk_test_", least: 10, of: isToken, mixed: true},              //
	{prefix: "rk_live_", least: 10, of: isToken},                           //
	{prefix: "rk_test_", least: 10, of: isToken, mixed: true},              //
	{prefix: "whsec_", least: 16, of: isBase64, mixed: true},               //
	{prefix: "xoxb-", least: 10, of: isToken},                              // Slack
	{prefix: "xoxp-", least: 10, of: isToken},                              //
	{prefix: "xoxa-", least: 10, of: isToken},                              //
	{prefix: "xoxr-", least: 10, of: isToken},                              //
	{prefix: "xoxs-", least: 10, of: isToken},                              //
	{prefix: "xoxe-", least: 10, of: isToken},                              //
	{prefix: "xoxe.", least: 10, of: isJWT},                                //
	{prefix: "xapp-", least: 10, of: isToken, mixed: true},                 //
	{prefix: "https://hooks.slack.com/", least: 16, of: isBase64},          //
	{prefix: "https://discord.com/api/webhooks/", least: 16, of: isBase64}, // Discord
	{prefix: "AKIA", least: 16, of: isUpperAlphanumeric},                   // AWS
	{prefix: "ASIA", least: 16, of: isUpperAlphanumeric},                   //
	{prefix: "ABSK", least: 40, of: isBase64, mixed: true},                 //
	{prefix: "AIza", least: 30, of: isToken},                               // Google
	{prefix: "ya29.", least: 16, of: isJWT},                                //
	{prefix: "GOCSPX-", least: 16, of: isToken},                            //
	{prefix: "1//0", least: 30, of: isToken},                               //
	{prefix: "npm_", least: 30, of: isAlphanumeric, mixed: true},           // npm
	{prefix: "pypi-", least: 40, of: isToken, mixed: true},                 // PyPI
	{prefix: "rubygems_", least: 40, of: isHex},                            // RubyGems
	{prefix: "hf_", least: 20, of: isAlphanumeric, mixed: true},            // Hugging Face
	{prefix: "gsk_", least: 20, of: isAlphanumeric, mixed: true},           // Groq
	{prefix: "xai-", least: 40, of: isAlphanumeric, mixed: true},           // xAI
	{prefix: "r8_", least: 30, of: isAlphanumeric, mixed: true},            // Replicate
	{prefix: "pplx-", least: 30, of: isAlphanumeric, mixed: true},          // Perplexity
	{prefix: "nvapi-", least: 30, of: isToken, mixed: true},                // NVIDIA
	{prefix: "tvly-", least: 20, of: isToken, mixed: true},                 // Tavily
	{prefix: "SG.", least: 30, of: isJWT, mixed: true},                     // SendGrid
	{prefix: "ATATT3", least: 20, of: isCredential},                        // Atlassian
	{prefix: "ATCTT3", least: 20, of: isCredential},                        //
	{prefix: "pat-na1-", least: 30, of: isToken},                           // HubSpot
	{prefix: "pat-eu1-", least: 30, of: isToken},                           //
	{prefix: "ntn_", least: 30, of: isAlphanumeric, mixed: true},           // Notion
	{prefix: "lin_api_", least: 20, of: isAlphanumeric},                    // Linear
	{prefix: "lin_oauth_", least: 20, of: isAlphanumeric},                  //
	{prefix: "figd_", least: 20, of: isToken, mixed: true},                 // Figma
	{prefix: "shpat_", least: 20, of: isHex},                               // Shopify
	{prefix: "shpss_", least: 20, of: isHex},                               //
	{prefix: "shppa_", least: 20, of: isHex},                               //
	{prefix: "sq0atp-", least: 20, of: isToken},                            // Square
	{prefix: "sq0csp-", least: 20, of: isToken},                            //
	{prefix: "dop_v1_", least: 30, of: isHex},                              // DigitalOcean
	{prefix: "doo_v1_", least: 30, of: isHex},                              //
	{prefix: "dapi", least: 32, of: isHex},                                 // Databricks
	{prefix: "hvs.", least: 20, of: isToken, mixed: true},                  // Vault
	{prefix: "hvb.", least: 20, of: isToken, mixed: true},                  //
	{prefix: "dckr_pat_", least: 20, of: isToken},                          // Docker
	{prefix: "sbp_", least: 30, of: isHex},                                 // Supabase
	{prefix: "glsa_", least: 30, of: isToken},                              // Grafana
	{prefix: "glc_", least: 30, of: isBase64, mixed: true},                 //
	{prefix: "tskey-", least: 20, of: isToken, mixed: true},                // Tailscale
	{prefix: "PMAK-", least: 30, of: isToken},                              // Postman
	{prefix: "sntrys_", least: 30, of: isBase64, mixed: true},              // Sentry
	{prefix: "sntryu_", least: 30, of: isHex},                              //
	{prefix: "CFPAT-", least: 30, of: isToken},                             // Contentful
	{prefix: "AGE-SECRET-KEY-1", least: 30, of: isUpperAlphanumeric},
})

func byFirst(list []shape) [256][]shape {
	var table [256][]shape
	for _, shape := range list {
		table[shape.prefix[0]] = append(table[shape.prefix[0]], shape)
	}
	return table
}

// match returns where a token of this shape that begins at i ends.
func (s *shape) match(text string, i int) (int, bool) {
	if !strings.HasPrefix(text[i:], s.prefix) {
		return 0, false
	}
	from := i + len(s.prefix)
	token := strings.TrimRight(text[from:run(text, from, s.of)], ".")
	if len(token) < s.least || s.mixed && !looksMixed(token) || s.also != nil && !s.also(token) {
		return 0, false
	}
	return from + len(token), true
}

func isJWT(c byte) bool { return isToken(c) || c == '.' }
func isBase64(c byte) bool {
	return isAlphanumeric(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-'
}
func isUpperAlphanumeric(c byte) bool { return isUpper(c) || isDigit(c) }

// hasParts tells a JWT from other JSON in base64, such as a cursor.
func hasParts(token string) bool {
	head, body, ok := strings.Cut(token, ".")
	return ok && len(head) >= 8 && len(body) >= 8
}

// looksMixed is true with a digit or a capital.
func looksMixed(token string) bool {
	for i := range len(token) {
		if isDigit(token[i]) || isUpper(token[i]) {
			return true
		}
	}
	return false
}
