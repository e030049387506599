// Package failure is the one reading of what went wrong: every error of a call,
// of a connection or of the wire is put, once, into a small closed set of kinds,
// and one table says of each kind all that anybody wants to know of it.
//
//	switch failed := failure.Of(err); {
//	case failed.NotSent() && failed.Transient():
//		// ask again after failed.RetryAfter: nothing was done yet
//	case failed.Transient():
//		// later it may work; whether the request had an effect is not known
//	default:
//		return errors.New(failed.Words() + "; " + failed.Remedy())
//	}
//
//	error -> recognised (the ordered table of causes) -> Kind -> traits (the table of kinds)
//
// A cause is recognised by its type or its code and never by its text, but for
// one that mcp-go v1.2.1 has no type for. What a status or an error leaves open, a
// request in the same session has to decide: see [Doubt].
//
// Package connect, the middlewares, the session, the gateway, the audit and the
// command read this package; nobody else judges a status, a code or a text.
package failure
