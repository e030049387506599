package main

import (
	"slices"
	"time"
)

// samples are durations of the same thing.
type samples []time.Duration

// at is the duration that the part of them, 0 to 1, does not exceed.
func (s samples) at(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// collect measures f n times.
func collect(n int, f func() error) (samples, error) {
	all := make(samples, 0, n)
	for range n {
		began := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		all = append(all, time.Since(began))
	}
	return all, nil
}

const (
	warming = 20 // measurements that do not count: the first ones open connections
	parts   = 10 // that the measurements are divided into
)

// compare measures two things n times each. They take turns, so that both meet
// the same machine.
func compare(n int, one, other func() error) (ones, others samples, err error) {
	for _, f := range []func() error{one, other} {
		if _, err := collect(warming, f); err != nil {
			return nil, nil, err
		}
	}
	for range parts {
		more, err := collect(max(1, n/parts), one)
		if err != nil {
			return nil, nil, err
		}
		ones = append(ones, more...)
		if more, err = collect(max(1, n/parts), other); err != nil {
			return nil, nil, err
		}
		others = append(others, more...)
	}
	return ones, others, nil
}
