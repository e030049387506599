package telemetry

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/contrib/propagators/autoprop"
	"go.opentelemetry.io/otel/propagation"
)

// A VariableError says what is wrong with an environment variable. It does not
// quote the value, which may be a secret.
type VariableError struct {
	Name    string // of the variable
	Problem string
	Remedy  string
	Err     error // nil unless something else said so
}

// Error names the variable, the problem and the remedy.
func (e *VariableError) Error() string {
	return fmt.Sprintf("the environment variable %s %s; %s", e.Name, e.Problem, e.Remedy)
}

// Unwrap returns the cause.
func (e *VariableError) Unwrap() error { return e.Err }

// signals are the middles of the variables' names.
var signals = []string{"TRACES", "METRICS", "LOGS"}

// rule says what a variable must be like, if it is set.
type rule struct {
	good   func(value string) bool
	remedy string
}

// rules are for variables that the SDK would otherwise ignore when they are
// wrong, after it has printed them.
var rules = newRules()

func newRules() map[string]rule {
	milliseconds := rule{isCount, "write milliseconds, such as 10000"}
	count := rule{isCount, "write a whole number"}
	all := map[string]rule{
		"OTEL_METRIC_EXPORT_INTERVAL": milliseconds, "OTEL_METRIC_EXPORT_TIMEOUT": milliseconds,
		"OTEL_BSP_SCHEDULE_DELAY": milliseconds, "OTEL_BSP_EXPORT_TIMEOUT": milliseconds,
		"OTEL_BSP_MAX_QUEUE_SIZE": count, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": count,
		"OTEL_BLRP_SCHEDULE_DELAY": milliseconds, "OTEL_BLRP_EXPORT_TIMEOUT": milliseconds,
		"OTEL_BLRP_MAX_QUEUE_SIZE": count, "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE": count,
		"OTEL_TRACES_SAMPLER":      oneOf("always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"),
		"OTEL_TRACES_SAMPLER_ARG":  {isRatio, "write a number from 0 to 1"},
		"OTEL_TRACES_EXPORTER":     oneOf("otlp", "console", "none"),
		"OTEL_METRICS_EXPORTER":    {oneOf("otlp", "console", "prometheus", "none").good, `write one of otlp, console, prometheus and none; what is scraped from /metrics needs no exporter`},
		"OTEL_LOGS_EXPORTER":       oneOf("otlp", "console", "none"),
		"OTEL_SDK_DISABLED":        {func(value string) bool { return strings.EqualFold(value, "true") || strings.EqualFold(value, "false") }, "write true or false"},
		"OTEL_RESOURCE_ATTRIBUTES": {arePairs, "write name=value,name=value"},
	}
	for _, signal := range append([]string{""}, signals...) {
		prefix := "OTEL_EXPORTER_OTLP_"
		if signal != "" {
			prefix += signal + "_"
		}
		all[prefix+"ENDPOINT"] = rule{isEndpoint, "write a URL such as http://127.0.0.1:4318"}
		all[prefix+"HEADERS"] = rule{arePairs, "write name=value,name=value, with the values escaped as in a URL"}
		all[prefix+"PROTOCOL"] = oneOf("grpc", "http/protobuf")
		all[prefix+"COMPRESSION"] = oneOf("gzip", "none")
		all[prefix+"TIMEOUT"] = milliseconds
	}
	return all
}

func oneOf(values ...string) rule {
	last := len(values) - 1
	return rule{
		func(value string) bool { return slices.Contains(values, value) },
		"write one of " + strings.Join(values[:last], ", ") + " and " + values[last],
	}
}

func isCount(value string) bool {
	n, err := strconv.Atoi(value)
	return err == nil && n >= 0
}

func isRatio(value string) bool {
	ratio, err := strconv.ParseFloat(value, 64)
	return err == nil && ratio >= 0 && ratio <= 1
}

func isEndpoint(value string) bool {
	endpoint, err := url.Parse(value)
	return err == nil && (endpoint.Scheme == "http" || endpoint.Scheme == "https") && endpoint.Host != ""
}

func arePairs(value string) bool {
	for pair := range strings.SplitSeq(value, ",") {
		name, escaped, ok := strings.Cut(pair, "=")
		if _, err := url.PathUnescape(escaped); !ok || err != nil || strings.TrimSpace(name) == "" {
			return false
		}
	}
	return true
}

// checkVariables joins what is wrong with all of them.
func checkVariables() error {
	var problems []error
	for name, rule := range rules {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" && !rule.good(value) {
			problems = append(problems, &VariableError{Name: name, Problem: "has a value that it cannot have", Remedy: rule.remedy})
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

// exporterOf returns the exporter of a signal, "none" unless a variable asks
// for another.
func exporterOf(signal string) string {
	if name := os.Getenv("OTEL_" + signal + "_EXPORTER"); name != "" {
		return strings.TrimSpace(name)
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != "" {
		return "otlp" // the default by the specification
	}
	return "none"
}

// aboutExporter says which variable made an exporter that could not be made.
func aboutExporter(signal string, err error) error {
	if err == nil {
		return nil
	}
	return &VariableError{Name: "OTEL_" + signal + "_EXPORTER", Err: err,
		Problem: "asks for an exporter that cannot be set up: " + err.Error(), Remedy: "check the OTEL_EXPORTER_* variables"}
}

func newPropagator() (propagation.TextMapPropagator, error) {
	names := os.Getenv("OTEL_PROPAGATORS")
	if names == "" {
		return propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}), nil
	}
	propagator, err := autoprop.TextMapPropagator(strings.Split(strings.ReplaceAll(names, " ", ""), ",")...)
	if err != nil {
		return nil, &VariableError{Name: "OTEL_PROPAGATORS", Err: err,
			Problem: "names a propagator that is not known", Remedy: "write tracecontext,baggage, or some of b3, b3multi, jaeger, xray, ottrace and none"}
	}
	return propagator, nil
}
