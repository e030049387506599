package instrument

import (
	"context"
	"reflect"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// A tracerSource knows whether there is somebody to trace for: starting a span
// that nobody records costs allocations, and OpenTelemetry's API cannot be
// asked.
type tracerSource struct {
	fixed  *sourced // nil to follow the global provider
	latest atomic.Pointer[sourced]
}

// sourced is a provider and its tracer, nil where it has no SDK.
type sourced struct {
	provider trace.TracerProvider
	tracer   trace.Tracer
}

func newTracerSource(provider trace.TracerProvider) *tracerSource {
	// What the API calls global before an SDK is set passes on to the one that
	// will be.
	if provider == nil || packageOf(provider) == "go.opentelemetry.io/otel/internal/global" {
		return &tracerSource{}
	}
	return &tracerSource{fixed: sourcedBy(provider)}
}

// tracer returns nil where nobody records.
func (s *tracerSource) tracer() trace.Tracer {
	if s.fixed != nil {
		return s.fixed.tracer
	}
	global := otel.GetTracerProvider()
	latest := s.latest.Load()
	if latest == nil || !reflect.TypeOf(global).Comparable() || latest.provider != global {
		latest = sourcedBy(global)
		s.latest.Store(latest)
	}
	return latest.tracer
}

func sourcedBy(provider trace.TracerProvider) *sourced {
	tracer := provider.Tracer(scope)
	if from := packageOf(provider); strings.HasPrefix(from, "go.opentelemetry.io/otel/trace") || strings.HasPrefix(from, "go.opentelemetry.io/otel/internal") {
		_, probe := tracer.Start(context.Background(), "probe") // never ended, so never exported
		if !probe.SpanContext().IsValid() {
			tracer = nil
		}
	}
	return &sourced{provider, tracer}
}

func packageOf(value any) string { return typeOfPointed(reflect.TypeOf(value)).PkgPath() }

func typeOfPointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
