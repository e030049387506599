package endpoint

import "errors"

// sink is somewhere to send messages to a client. Sending does not wait for the
// client: who has something to say has other clients too.
type sink interface {
	// send takes a message, or says that it could not.
	send(message any) error
}

var (
	// errEnded says that nothing more can be sent there.
	errEnded = errors.New("the stream has ended")
	errFull  = errors.New("too many questions wait for the client already")
)
