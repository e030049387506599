// Package redact keeps secrets out of logs: it masks them in messages,
// attributes, groups and error texts before a [log/slog.Handler] sees them, and
// in any text that a program prints.
//
//	secrets := redact.New(redact.Values(token))
//	logger := slog.New(slogmulti.Pipe(secrets.Handler).Handler(slog.NewJSONHandler(os.Stderr, nil)))
//
// It is a middleware as those of github.com/samber/slog-multi, for its Pipe, and
// needs the standard library only.
//
// What is masked becomes [Mask]. A [Redactor] knows a secret by one of five signs:
//
//   - The program registered it, with [Values] or [Redactor.Add]. It is found
//     wherever it stands, also as JSON, Go and URLs escape it; the longest first.
//   - Its key says so: an attribute, a member of a group, a struct, a map or
//     JSON, a header, a query parameter, a flag or a NAME=value whose name ends in
//     password, secret, token, api key, private key, credentials, authorization,
//     cookie and the like, or is env. Names of no secrets that end alike, such as
//     progressToken and nextPageToken, are excepted; [Keys] adds others.
//   - It stands in a URL: the user and password before the host, and parameters
//     that are secrets in a query only, such as key, code and sig.
//   - The word before it says so: Bearer and Basic.
//   - Its shape is one that an issuer made up to be found by: JWTs, PEM private
//     keys, and the tokens of some forty issuers, such as ghp_, glpat-, xoxb-,
//     AKIA, sk- and npm_. The list is in shapes.go.
//
// What it cannot know: a secret that nobody registered, under a name that says
// nothing, in a shape that anything could have (a password in a sentence, half a
// token, a registered value in base64 or reversed), a secret of fewer than
// [Shortest] bytes, a name or another personal datum, a number. It errs on the
// side of masking: "password: too short" loses a word. It is the last line of
// defence and no reason to log what need not be logged.
//
// Names and ids stay as they are: backendID, trace_id, span_id and event are not
// even looked at, and request ids, cursors, hashes and tools' names such as
// reset_password have no sign of a secret.
//
// A text without secrets costs some nanoseconds for each word and no
// allocation, however many values are registered. Values other than texts, errors and numbers,
// such as structs and maps, are encoded as JSON to be looked through, and are
// passed on as that JSON, so that no handler sees more of them than was masked.
package redact
