package vmcp

import "context"

// either returns a context with the values and the deadline of one, which ends
// with the other as well.
func either(one, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(one)
	stop := context.AfterFunc(other, cancel)
	return ctx, func() { stop(); cancel() }
}
