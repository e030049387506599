// Package lifetime has what ends together: goroutines and requests that are
// waited for, a context that ends with either of two, and a pause that ends with
// its context.
package lifetime
