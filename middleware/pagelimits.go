package middleware

import (
	"errors"
	"time"
)

// PageLimits bound one walk over the pages of a list.
type PageLimits struct {
	Pages int           // most pages, 1,000 by default
	Items int           // most entries, 100,000 by default
	Walk  time.Duration // longest time for all pages together, 2 minutes by default
}

func (l PageLimits) or(defaults PageLimits) PageLimits {
	if l.Pages <= 0 {
		l.Pages = defaults.Pages
	}
	if l.Items <= 0 {
		l.Items = defaults.Items
	}
	if l.Walk <= 0 {
		l.Walk = defaults.Walk
	}
	return l
}

var (
	// ErrTooManyPages ends the walk over a list that goes on after the most
	// pages that [PageLimits] allow.
	ErrTooManyPages = errors.New("too many pages")
	// ErrTooManyItems ends the walk over a list that has more entries than
	// [PageLimits] allow.
	ErrTooManyItems = errors.New("too many entries")
)
