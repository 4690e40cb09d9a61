// Metrics in the text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_METRICS_TEXT_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_METRICS_TEXT_H_

#include <string>
#include <string_view>

#include "penstock/emulator.h"

namespace penstock::emulator::server {

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

std::string MetricsText(const EmulatorStats& stats, const EmulatorGauges& gauges);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_METRICS_TEXT_H_
