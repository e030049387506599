package main

import (
	"fmt"
	"text/tabwriter"
	"time"
)

// report is a table of what was measured: what, how long, the aim, and whether
// it is met.
type report struct{ *tabwriter.Writer }

func (r report) line(what string, s samples, aim ...string) {
	aim = append(aim, "", "")
	fmt.Fprintf(r, "%s\tp50 %s, p99 %s\t%s\t%s\n", what, ms(s.at(0.5)), ms(s.at(0.99)), aim[0], aim[1])
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "MISSED"
}
