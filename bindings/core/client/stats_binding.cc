#include "bindings/core/client/client_binding.h"

#include <pybind11/stl.h>

#include <chrono>

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

py::dict ToPython(const TimeHistogram& histogram) {
  py::list buckets;
  for (const TimeHistogram::Bucket& bucket : histogram.buckets) {
    buckets.append(py::make_tuple(Seconds(bucket.begin), Seconds(bucket.end), bucket.count));
  }
  return py::dict("count"_a = histogram.count, "sum"_a = Seconds(histogram.sum),
                  "p50"_a = Seconds(histogram.Quantile(0.5)),
                  "p90"_a = Seconds(histogram.Quantile(0.9)),
                  "p99"_a = Seconds(histogram.Quantile(0.99)), "buckets"_a = buckets);
}

}  // namespace

py::dict StatsToPython(const ClientStats& stats) {
  py::dict operations;
  for (const auto& [name, operation] : stats.operations) {
    operations[py::str(name)] =
        py::dict("requests"_a = operation.requests, "first_byte"_a = ToPython(operation.first_byte),
                 "duration"_a = ToPython(operation.duration));
  }
  const py::dict connections("opened"_a = stats.connections.opened,
                             "reused"_a = stats.connections.reused);
  const py::dict cache("hits"_a = stats.cache.hits, "hit_bytes"_a = stats.cache.hit_bytes,
                       "misses"_a = stats.cache.misses, "miss_bytes"_a = stats.cache.miss_bytes);
  return py::dict("requests"_a = stats.requests, "retries"_a = stats.retries,
                  "retries_by_reason"_a = stats.retries_by_reason, "throttled"_a = stats.throttled,
                  "hedges"_a = stats.hedges, "hedges_won"_a = stats.hedges_won,
                  "failures"_a = stats.failures, "failures_by_kind"_a = stats.failures_by_kind,
                  "exceptions"_a = stats.exceptions, "bytes_sent"_a = stats.bytes_sent,
                  "bytes_received"_a = stats.bytes_received, "operations"_a = operations,
                  "connections"_a = connections, "cache"_a = cache);
}

}  // namespace penstock::python
