package endpoint

import "context"

type identityKey struct{}

// WithIdentity says who authenticated, to a [Endpoint.ServeHTTP] further in. A
// session belongs to the identity that began it; to all others it is unknown.
func WithIdentity(ctx context.Context, identity string) context.Context {
	return context.WithValue(ctx, identityKey{}, identity)
}

func identityOf(ctx context.Context) string {
	identity, _ := ctx.Value(identityKey{}).(string)
	return identity
}
