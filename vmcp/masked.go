package vmcp

// masked is an error whose text has no secrets in it. Its types and values are
// still reached through it.
type masked struct {
	text string
	err  error
}

func (m *masked) Error() string { return m.text }

func (m *masked) Unwrap() error { return m.err }

// hide masks what an error says, where there is something to mask.
func (b Backend) hide(err error) error {
	text := err.Error()
	if hidden := b.Connector.Mask(text); hidden != text {
		return &masked{hidden, err}
	}
	return err
}
