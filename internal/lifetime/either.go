package lifetime

import "context"

// Either returns a context with the values and the deadline of one, which ends
// with the other as well. The caller releases it.
func Either(one, other context.Context) (ctx context.Context, release context.CancelFunc) {
	ctx, cancel := context.WithCancel(one)
	stop := context.AfterFunc(other, cancel)
	return ctx, func() { stop(); cancel() }
}
