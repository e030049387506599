// Package lifetime has what ends together: goroutines and requests that are
// waited for, and a context that ends with either of two.
package lifetime
