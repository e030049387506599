package lifetime

import "context"

// Either returns a context with the values and the deadline of a, which ends
// with a or b, whichever ends first, and then has that one's cause. Calling
// cancel releases what it holds.
func Either(a, b context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() { end(context.Cause(b)) })
	return ctx, func() { stop(); end(nil) }
}
