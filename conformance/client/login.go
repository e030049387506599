package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// redirectURI is where a browser would end up; nobody listens there.
const redirectURI = "http://127.0.0.1:3000/callback"

// login goes through mcp-go's authorization-code flow, which the suite's
// authorization server grants without asking anybody, and returns a
// configuration that holds the token.
func login(ctx context.Context, url, metadataURL string, s scenario) (transport.OAuthConfig, error) {
	httpClient := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	config := transport.OAuthConfig{
		ClientID:                     s.ClientID,
		ClientSecret:                 s.ClientSecret,
		RedirectURI:                  redirectURI,
		TokenStore:                   client.NewMemoryTokenStore(),
		ProtectedResourceMetadataURL: metadataURL,
		PKCEEnabled:                  true,
		HTTPClient:                   httpClient,
	}
	handler := transport.NewOAuthHandler(config)
	handler.SetBaseURL(url)
	if handler.GetClientID() == "" {
		if err := handler.RegisterClient(ctx, "candor-conformance"); err != nil {
			return config, err
		}
	}
	return config, grant(ctx, handler, httpClient)
}

// grant fetches the authorization page as a browser would and exchanges the
// code in the redirect for a token.
func grant(ctx context.Context, handler *transport.OAuthHandler, browser *http.Client) error {
	verifier, err := client.GenerateCodeVerifier()
	if err != nil {
		return err
	}
	state, err := client.GenerateState()
	if err != nil {
		return err
	}
	page, err := handler.GetAuthorizationURL(ctx, state, client.GenerateCodeChallenge(verifier))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	response, err := browser.Do(request)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	callback, err := response.Location()
	if errors.Is(err, http.ErrNoLocation) {
		return fmt.Errorf("the authorization page answered %s without a redirect", response.Status)
	}
	if err != nil {
		return err
	}
	answer := callback.Query()
	return handler.ProcessAuthorizationResponse(ctx, answer.Get("code"), answer.Get("state"), verifier)
}
