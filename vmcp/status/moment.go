package status

import (
	"fmt"
	"time"
)

// moment is a time as seen from now.
type moment struct{ at, now time.Time }

// Known is false for the zero time.
func (m moment) Known() bool { return !m.at.IsZero() }

// ISO is for programs.
func (m moment) ISO() string { return m.at.UTC().Format(time.RFC3339) }

// Absolute is for people.
func (m moment) Absolute() string { return m.at.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// Relative is coarse in the past, where a second says nothing; page.js says the
// same.
func (m moment) Relative() string {
	if ahead := m.at.Sub(m.now); ahead > 0 {
		return "in " + span(ahead)
	}
	if behind := m.now.Sub(m.at); behind >= time.Minute {
		return span(behind) + " ago"
	}
	return "just now"
}

// Lasting is how long it is since then.
func (m moment) Lasting() string {
	if lasting := m.now.Sub(m.at); lasting >= time.Minute {
		return "for " + span(lasting)
	}
	return "for less than a minute"
}

// span is a duration in its largest unit that is reached.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(1, int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	default:
		return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
	}
}
