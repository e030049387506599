package vmcp

import "time"

// What holds where a field of a [Builder], a [Retry] or a [Breaker] is zero.
const (
	DefaultConcurrency = 64               // Builder.Concurrency
	DefaultTimeout     = 30 * time.Second // Builder.Timeout
	DefaultCallTimeout = 5 * time.Minute  // Builder.CallTimeout
	DefaultStaleFor    = 5 * time.Minute  // Builder.StaleFor

	DefaultRetryInitial    = time.Second // Retry.Initial
	DefaultRetryMax        = time.Minute // Retry.Max
	DefaultBreakerFailures = 5           // Breaker.Failures
)
