package config

import (
	"encoding/json"
	"fmt"
	"maps"
)

// schema is a JSON Schema.
type schema map[string]any

// The patterns of what a file may have beside its keys. The first is what isComment says.
const (
	commentPattern = "^(_|//|#)"
	urlPattern     = `^$|^[Hh][Tt][Tt][Pp][Ss]?://[^/?#:\s](.*\S)?$|\$\{`
)

// Schema is the JSON Schema (draft-07) of a configuration file, for editors. It refuses nothing that
// Parse accepts, and of what Parse refuses whatever a schema can see: not, for example, variables
// that are not set, or keys that are there twice.
func Schema() []byte {
	text, err := json.MarshalIndent(fileSchema(), "", "  ")
	if err != nil {
		panic(fmt.Sprintf("config: the schema is no JSON: %v", err)) // it is the same for everybody
	}
	return append(text, '\n')
}

func fileSchema() schema {
	properties := schema{
		"$schema":    schema{"type": "string"},
		"mcpServers": serversSchema(),
		"gateway":    described("The endpoint that vmcp serve offers.", objectSchema(abouts(gatewayTable))),
	}
	for _, name := range append(sortedKeys(otherPrograms), sortedKeys(switches)...) {
		properties[name] = described("Of another program; no effect in vmcp.", schema{})
	}
	s := closed(properties)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "Configuration of vmcp"
	s["required"] = []string{"mcpServers"}
	s["definitions"] = schema{"server": serverSchema()}
	return s
}

func serversSchema() schema {
	return schema{
		"description":       "The servers, by name.",
		"type":              "object",
		"minProperties":     1,
		"patternProperties": schema{idPattern: schema{"$ref": "#/definitions/server"}},
		// A comment, or a server whose name does not matter because it is disabled.
		"additionalProperties": schema{"anyOf": []any{schema{"not": schema{"type": "object"}}, disabledSchema()}},
	}
}

// disabledSchema leaves unchecked what else there is.
func disabledSchema() schema {
	is := func(name string, value bool) schema {
		return schema{"type": "object", "properties": schema{name: schema{"const": value}}, "required": []string{name}}
	}
	return schema{"anyOf": []any{is("disabled", true), is("enabled", false), is("isActive", false)}}
}

func serverSchema() schema {
	return schema{"type": "object", "if": disabledSchema(), "then": true, "else": enabledSchema()}
}

func enabledSchema() schema {
	properties := schema{}
	for _, k := range allServerKeys {
		properties[k.name] = k.describedSchema()
		for _, other := range k.others {
			properties[other] = described(fmt.Sprintf("Another name of %q.", k.name), k.schema)
		}
	}
	for name, instead := range withoutEffect {
		text := "Of another program; no effect in vmcp"
		if instead != "" {
			text += ": " + instead
		}
		properties[name] = described(text+".", schema{})
	}
	s := closed(properties)
	s["anyOf"] = []any{localSchema(), remoteSchema()}
	return s
}

// localSchema is of a server with a command, without what only one with a URL has.
func localSchema() schema {
	properties := schema{"command": schema{"type": "string", "pattern": `\S`}}
	for _, name := range []string{"url", "serverUrl", "httpUrl", "baseUrl", "headers", "forwardHeaders"} {
		properties[name] = blankSchema()
	}
	setTypes(properties, typeStdio)
	return schema{"required": []string{"command"}, "properties": properties}
}

func remoteSchema() schema {
	properties := schema{}
	for _, name := range []string{"command", "args", "env", "cwd", "working_directory", "workingDirectory"} {
		properties[name] = blankSchema()
	}
	setTypes(properties, typeHTTP, typeSSE)
	var addresses []any
	for _, name := range []string{"url", "serverUrl", "httpUrl", "baseUrl"} {
		addresses = append(addresses, schema{"required": []string{name}, "properties": schema{name: schema{"type": "string", "minLength": 1}}})
	}
	return schema{"properties": properties, "anyOf": addresses}
}

// setTypes lets the keys that say the transport say only one of these.
func setTypes(properties schema, types ...string) {
	for _, name := range []string{"type", "transport", "transportType"} {
		properties[name] = schema{"enum": typeValues(types...)}
	}
}

// typeValues are what may stand for the transports, of which none means all.
func typeValues(types ...string) []any {
	values := []any{nil, ""}
	for _, name := range sortedKeys(typeNames) {
		for _, t := range types {
			if typeNames[name] == t {
				values = append(values, name)
			}
		}
		if len(types) == 0 {
			values = append(values, name)
		}
	}
	return values
}

// blankSchema is of what counts as absent.
func blankSchema() schema {
	return schema{"enum": []any{nil, "", []any{}, schema{}}}
}

func stringSchema() schema { return schema{"type": []string{"string", "null"}} }

// objectSchema is of an object that has these keys and comments only.
func objectSchema(keys []about) schema {
	properties := schema{}
	for _, k := range keys {
		properties[k.name] = k.describedSchema()
	}
	s := closed(properties)
	s["type"] = []string{"object", "null"}
	return s
}

// tlsSchema wants both files or none.
func tlsSchema() schema {
	s := objectSchema(abouts(tlsTable))
	s["dependencies"] = schema{"cert": []string{"key"}, "key": []string{"cert"}}
	return s
}

func closed(properties schema) schema {
	properties["comment"], properties["$comment"] = schema{}, schema{}
	return schema{
		"type":                 "object",
		"properties":           properties,
		"patternProperties":    schema{commentPattern: schema{}},
		"additionalProperties": false,
	}
}

func (a about) describedSchema() schema {
	s := described(a.effect+" Default: "+a.standard+".", a.schema)
	s["examples"] = []any{json.RawMessage(a.example)}
	return s
}

func described(text string, s schema) schema {
	s = maps.Clone(s)
	s["description"] = text
	return s
}
