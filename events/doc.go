// Package events is the dictionary of what this project writes into logs: the
// keys of records, the names of events, and the tables [All] and [Keys] that say
// what they mean. Whoever writes a record takes the words from here, and who
// filters records or writes alert rules can, too.
//
// A record that is about more than a call has the key [KeyEvent] with a name that
// never changes; its message may. A record has more than its event's fields where
// its logger brings them, such as [KeyBackendID], and [KeyTraceID] and
// [KeySpanID] where it is written within a span.
package events
