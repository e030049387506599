package gateway_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// filler gives every field of a value something of its own, so that a field
// that mcp-go adds is part of the golden test without a line here, or makes it
// fail.
type filler struct{ made int }

// filled returns a value whose every field that goes over the wire is set.
func filled[T any](f *filler) T {
	var value T
	f.fill(reflect.ValueOf(&value).Elem(), reflect.TypeFor[T]().Name())
	return value
}

// meant returns a value for a type whose values cannot be just anything, or nil.
func (f *filler) meant(of reflect.Type, name string) any {
	switch of {
	case reflect.TypeFor[mcp.Meta]():
		return mcp.Meta{AdditionalFields: f.object(name)}
	case reflect.TypeFor[mcp.Role]():
		return mcp.RoleAssistant
	case reflect.TypeFor[mcp.TaskSupport]():
		return mcp.TaskSupportOptional
	case reflect.TypeFor[mcp.ResourceContents]():
		return filled[mcp.TextResourceContents](f)
	case reflect.TypeFor[mcp.Content](): // goldenContents has each kind
		return mcp.NewTextContent("")
	case reflect.TypeFor[mcp.URITemplate]():
		return *mcp.NewResourceTemplate("golden://echo/{id}", "").URITemplate
	case reflect.TypeFor[mcp.MultiRoundTripResult](): // asks the client for something: another subject
		return mcp.MultiRoundTripResult{}
	case reflect.TypeFor[mcp.ResultType](): // mcp-go's server says it
		return mcp.ResultType("")
	default:
		return nil
	}
}

func (f *filler) fill(v reflect.Value, name string) {
	f.made++
	if value := f.meant(v.Type(), name); value != nil {
		v.Set(reflect.ValueOf(value))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d <&> é", name, f.made))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.made))
	case reflect.Float64:
		v.SetFloat(float64(f.made) / 1024)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			f.fill(v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(f.object(name)))
	case reflect.Interface:
		v.Set(reflect.ValueOf(f.object(name)))
	case reflect.Struct:
		f.fields(v)
	default:
		panic(fmt.Sprintf("no value for %s, which is %s: add one", name, v.Type()))
	}
}

func (f *filler) fields(v reflect.Value) {
	for field, value := range v.Fields() {
		if field.IsExported() && field.Tag.Get("json") != "-" {
			f.fill(value, field.Name)
		}
	}
}

// object is a JSON object with a value of each kind.
func (f *filler) object(name string) map[string]any {
	f.made++
	return map[string]any{
		"example.com/" + name: map[string]any{
			"text": fmt.Sprint(f.made), "number": 0.5, "large": json.Number("9007199254740993"),
			"true": true, "null": nil, "list": []any{1, "two", []any{}, map[string]any{}},
		},
	}
}

// wireNames are the names that the fields of a type have on the wire.
func wireNames(of reflect.Type) []string {
	var names []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Type == reflect.TypeFor[mcp.MultiRoundTripResult]():
		case field.Anonymous:
			names = append(names, wireNames(field.Type)...)
		case field.IsExported() && name != "-":
			names = append(names, name)
		}
	}
	return names
}
