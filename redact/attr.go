package redact

import (
	"log/slog"
	"net/url"
	"reflect"
)

// untouched are the attributes that say which backend, span or event it was.
func untouched(key string) bool {
	switch key {
	case "backendID", "trace_id", "span_id", "event":
		return true
	default:
		return false
	}
}

// Attr returns the attribute with its secrets masked.
func (r *Redactor) Attr(attr slog.Attr) slog.Attr {
	attr, _ = r.attr(attr, harmless)
	return attr
}

// attr returns the attribute as it may be passed on, and whether that is another.
func (r *Redactor) attr(attr slog.Attr, within kind) (slog.Attr, bool) {
	if within == harmless && untouched(attr.Key) {
		return attr, false
	}
	value := attr.Value
	resolved := value.Kind() == slog.KindLogValuer
	if resolved {
		value = value.Resolve() // and passed on so: the next time it might be another
	}
	if within != harmless || r.kindOf(attr.Key) != harmless {
		value, changed := hidden(value)
		return slog.Attr{Key: attr.Key, Value: value}, changed || resolved
	}
	value, changed := r.value(value)
	return slog.Attr{Key: attr.Key, Value: value}, changed || resolved
}

// hidden masks a value of whatever kind, but for what is not set.
func hidden(value slog.Value) (slog.Value, bool) {
	switch value.Kind() {
	case slog.KindBool:
		return value, false
	case slog.KindString:
		if value.String() == "" || value.String() == Mask {
			return value, false
		}
	case slog.KindAny:
		if value.Any() == nil {
			return value, false
		}
	case slog.KindGroup:
		attrs := make([]slog.Attr, len(value.Group()))
		for i, attr := range value.Group() {
			inner, _ := hidden(attr.Value.Resolve())
			attrs[i] = slog.Attr{Key: attr.Key, Value: inner}
		}
		return slog.GroupValue(attrs...), true
	}
	return slog.StringValue(Mask), true
}

func (r *Redactor) value(value slog.Value) (slog.Value, bool) {
	switch value.Kind() {
	case slog.KindString:
		return r.string(value, value.String())
	case slog.KindGroup:
		return r.group(value)
	case slog.KindAny:
		return r.any(value)
	default:
		return value, false
	}
}

func (r *Redactor) string(value slog.Value, text string) (slog.Value, bool) {
	if masked := r.Text(text); masked != text {
		return slog.StringValue(masked), true
	}
	return value, false
}

func (r *Redactor) group(value slog.Value) (slog.Value, bool) {
	attrs := value.Group()
	var masked []slog.Attr
	for i, attr := range attrs {
		inner, changed := r.attr(attr, harmless)
		if changed && masked == nil {
			masked = append(make([]slog.Attr, 0, len(attrs)), attrs[:i]...)
		}
		if masked != nil {
			masked = append(masked, inner)
		}
	}
	if masked == nil {
		return value, false
	}
	return slog.GroupValue(masked...), true
}

func (r *Redactor) any(value slog.Value) (slog.Value, bool) {
	switch v := value.Any().(type) {
	case nil:
		return value, false
	case error:
		return r.error(value, v)
	case *url.URL:
		if v == nil {
			return value, false
		}
		return slog.StringValue(r.Text(v.String())), true
	case url.URL:
		return slog.StringValue(r.Text(v.String())), true
	case []byte:
		return r.string(value, string(v))
	}
	switch v := reflect.ValueOf(value.Any()); v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return value, false
	case reflect.String:
		return r.string(value, v.String())
	default:
		return slog.AnyValue(r.encoded(value.Any())), true
	}
}

// error keeps the error, which the next handler may know, if its text has no
// secrets.
func (r *Redactor) error(value slog.Value, err error) (_ slog.Value, changed bool) {
	defer func() {
		if recover() != nil { // of a nil pointer, most likely: the next handler will say so
			changed = false
		}
	}()
	return r.string(value, err.Error())
}
