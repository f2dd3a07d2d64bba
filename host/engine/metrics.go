package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gantry-packs/gantry/registry"
)

type metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer, g *gate) *metrics {
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gantry_pack_calls_total", Help: "Pack calls that have ended, by pack and error code (ok when none).",
		}, []string{"pack", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gantry_pack_call_seconds", Help: "Time from a call's arrival at the engine to its end.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60, 300},
		}, []string{"pack"}),
	}
	r.MustRegister(m.calls, m.seconds,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gantry_calls_running", Help: "Pack calls running now."},
			func() float64 { n, _ := g.load(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gantry_calls_waiting", Help: "Pack calls waiting for a place."},
			func() float64 { _, n := g.load(); return float64(n) }))
	return m
}

// ended counts a call. A name that is no pack's is counted without it: callers must not be able to make time series.
func (m *metrics) ended(p *registry.Pack, code string, took time.Duration) {
	name := "unknown"
	if p != nil {
		name = p.Name
		m.seconds.WithLabelValues(name).Observe(took.Seconds())
	}
	if code == "" {
		code = "ok"
	}
	m.calls.WithLabelValues(name, code).Inc()
}
