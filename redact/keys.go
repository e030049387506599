package redact

// kind says what a key tells of its value.
type kind int

const (
	harmless kind = iota
	// weak keys are also words of sentences: "unexpected token: end of file".
	weak
	// strong keys have a secret, whatever it looks like.
	strong
	// whole keys are headers: the secret goes on to the end of the line.
	whole
	// several are sets of variables: of these each value is a secret.
	several
)

// endings are how the names of secrets end, folded, by the last letter.
var endings = byLast(map[string]kind{
	"password": strong, "passwords": strong, "passwd": strong, "pwd": strong, "passphrase": strong, "passcode": strong,
	"secret": strong, "secrets": strong, "apikey": strong, "apikeys": strong, "accesskey": strong, "accesskeyid": strong,
	"secretkey": strong, "privatekey": strong, "signingkey": strong, "encryptionkey": strong, "authkey": strong,
	"subscriptionkey": strong, "masterkey": strong, "sharedkey": strong, "accountkey": strong, "sessionkey": strong,
	"servicekey": strong, "connectionstring": strong, "jwt": strong, "webhookurl": strong,
	"token": weak, "credential": weak, "credentials": weak,
	"authorization": whole, "cookie": whole, "cookies": whole,
})

// words are whole names, folded.
var words = map[string]kind{
	"pass": strong, "pin": weak, "otp": weak, "totp": weak, "pat": weak, "auth": weak, "bearer": weak,
	"codeverifier": strong, "clientassertion": strong, "assertion": weak,
	"env": several, "environ": several,
	// Names of no secrets.
	"progresstoken": harmless, "nexttoken": harmless, "pagetoken": harmless, "nextpagetoken": harmless,
	"continuationtoken": harmless, "canceltoken": harmless, "cancellationtoken": harmless, "synctoken": harmless,
	"starttoken": harmless, "pretoken": harmless, "stoptoken": harmless, "eostoken": harmless, "bostoken": harmless,
	"padtoken": harmless, "pertoken": harmless,
}

// inQuery are names that are secrets in the query of a URL only, folded.
var inQuery = map[string]struct{}{
	"key": {}, "code": {}, "sig": {}, "signature": {}, "auth": {}, "pass": {}, "pw": {}, "session": {}, "sessionid": {}, "sid": {},
	"xamzsignature": {}, "xamzcredential": {}, "xgoogsignature": {}, "xgoogcredential": {}, "hmac": {}, "ticket": {},
}

// longestKey is the length of the longest name that is looked at.
const longestKey = 64

func byLast(endings map[string]kind) [256][]ending {
	var table [256][]ending
	for text, kind := range endings {
		last := text[len(text)-1]
		table[last] = append(table[last], ending{text, kind})
	}
	return table
}

type ending struct {
	text string
	kind kind
}

// kindOf says what a key tells of its value. It does not allocate.
func (r *Redactor) kindOf(key string) kind {
	if len(key) == 0 || len(key) > longestKey {
		return harmless
	}
	var space [longestKey]byte
	folded := appendFolded(space[:0], key)
	if len(folded) == 0 {
		return harmless
	}
	if _, ok := r.keys[string(folded)]; ok {
		return strong
	}
	if kind, ok := words[string(folded)]; ok {
		return kind
	}
	for _, ending := range endings[folded[len(folded)-1]] {
		if len(folded) >= len(ending.text) && string(folded[len(folded)-len(ending.text):]) == ending.text {
			return ending.kind
		}
	}
	return harmless
}

// kindInQuery says it of a parameter of a URL.
func (r *Redactor) kindInQuery(key string) kind {
	if kind := r.kindOf(key); kind != harmless {
		return strong
	}
	if _, ok := inQuery[fold(key)]; ok {
		return strong
	}
	return harmless
}
