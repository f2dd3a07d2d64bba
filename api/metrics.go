package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics counts requests by the route's pattern, never by the path that was asked for: callers must not be able to make
// time series.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gantry_http_requests_total", Help: "Requests answered, by route, method and class of status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gantry_http_request_seconds", Help: "Time from a request's headers to the end of its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60, 300},
		}, []string{"route"}),
	}
	r.MustRegister(m.requests, m.seconds)
	return m
}

func (m *metrics) ended(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "unknown"
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status/100)+"xx").Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// metricsPage shows the metrics of the whole service.
func metricsPage(g prometheus.Gatherer) http.HandlerFunc {
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{}).ServeHTTP
}
