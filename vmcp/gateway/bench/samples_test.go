package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPartOfTheSamplesDoesNotExceed(t *testing.T) {
	t.Parallel()
	var s samples
	for i := 100; i >= 1; i-- {
		s = append(s, time.Duration(i))
	}
	assert.Equal(t, time.Duration(51), s.at(0.5))
	assert.Equal(t, time.Duration(100), s.at(0.99))
	assert.Equal(t, time.Duration(100), s.at(1))
	assert.Equal(t, time.Duration(100), s[0], "the order stays")
}

func TestBothThingsAreMeasuredInTurns(t *testing.T) {
	t.Parallel()
	var turns string
	one, other, err := compare(20, func() error { turns += "a"; return nil }, func() error { turns += "b"; return nil })
	require.NoError(t, err)
	assert.Len(t, one, 20)
	assert.Len(t, other, 20)
	assert.Equal(t, "aabbaabb", turns[2*warming:2*warming+8])
}

func TestAFailureEndsTheMeasurement(t *testing.T) {
	t.Parallel()
	failure := errors.New("no")
	_, err := collect(3, func() error { return failure })
	assert.Equal(t, failure, err)
}
