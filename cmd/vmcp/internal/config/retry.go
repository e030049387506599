package config

import "time"

const defaultRetryMax = time.Minute

var retryKey = about{name: "retry", kind: "object", standard: "from 1s to 1m", example: `{"initial": "2s", "max": "5m"}`,
	effect: "How long to wait before a server that failed is tried again: longer each time, with some jitter.",
	below:  abouts(retryTable),
	schema: objectSchema(abouts(retryTable))}

var retryTable = []key[Retry]{
	wait(about{name: "initial", standard: "1s", example: `"2s"`,
		effect: "Before the first new try. Not longer than max."},
		func(r *Retry) *time.Duration { return &r.Initial }),
	wait(about{name: "max", standard: "1m", example: `"5m"`,
		effect: "Before any new try, and at once after a failure that only a person can mend, such as a refused login."},
		func(r *Retry) *time.Duration { return &r.Max }),
}

func (r *reader) retry(e entry, s *Server) {
	readObject(r, e, retryTable, &s.Retry)
	most := s.Retry.Max
	if most == 0 {
		most = defaultRetryMax
	}
	if s.Retry.Initial > most {
		r.problem(e, `"initial" is longer than "max"`, `Make "max" the longer one; without it, it is 1m.`)
	}
}
