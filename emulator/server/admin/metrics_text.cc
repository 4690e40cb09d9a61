#include "emulator/server/admin/metrics_text.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>

namespace penstock::emulator::server {
namespace {

// With a decimal point in every locale.
std::string Seconds(std::chrono::nanoseconds time) {
  char text[64];
  const double value = std::chrono::duration<double>(time).count();
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

// Escapes a label value.
std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') text += "\\n";
    else text += c;
  }
  return text;
}

// Appends one metric: its HELP and TYPE lines, then its samples.
class Metric {
 public:
  Metric(std::string& text, std::string_view name, std::string_view type, std::string_view help)
      : text_(text), name_("penstock_emulator_" + std::string(name)) {
    text_.append("# HELP ").append(name_).append(" ").append(help);
    text_.append("\n# TYPE ").append(name_).append(" ").append(type).append("\n");
  }

  void Sample(std::string_view suffix, std::string_view labels, std::string_view value) {
    text_.append(name_).append(suffix);
    if (!labels.empty()) text_.append("{").append(labels).append("}");
    text_.append(" ").append(value).append("\n");
  }

  template <class Key>
  void Samples(std::string_view label, const std::map<Key, std::uint64_t>& counts) {
    for (const auto& [key, count] : counts) {
      Sample("", std::string(label) + "=\"" + Escaped(Text(key)) + "\"", std::to_string(count));
    }
  }

 private:
  static const std::string& Text(const std::string& key) { return key; }
  static std::string Text(int key) { return std::to_string(key); }

  std::string& text_;
  const std::string name_;
};

void AppendDurations(std::string& text, const std::map<std::string, RequestDurations>& classes) {
  Metric metric(text, "request_duration_seconds", "histogram",
                "Time from the end of a request's head to the end of its response.");
  for (const auto& [name, durations] : classes) {
    const std::string label = "class=\"" + Escaped(name) + "\"";
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < durations.counts.size(); ++i) {
      count += durations.counts[i];
      const bool bounded = i < RequestDurations::kUpperBounds.size();
      const std::string bound = bounded ? Seconds(RequestDurations::kUpperBounds[i]) : "+Inf";
      metric.Sample("_bucket", label + ",le=\"" + bound + "\"", std::to_string(count));
    }
    metric.Sample("_sum", label, Seconds(durations.sum));
    metric.Sample("_count", label, std::to_string(count));
  }
}

}  // namespace

std::string MetricsText(const EmulatorStats& stats, const EmulatorGauges& gauges) {
  std::string text;
  const auto single = [&](std::string_view name, std::string_view type, std::string_view help,
                          std::uint64_t value) {
    Metric(text, name, type, help).Sample("", "", std::to_string(value));
  };
  Metric(text, "build_info", "gauge", "The version; the value is always 1.")
      .Sample("", "version=\"" + Escaped(PENSTOCK_VERSION) + "\"", "1");
  Metric(text, "start_time_seconds", "gauge", "Start of the emulator, in seconds since the epoch.")
      .Sample("", "", Seconds(gauges.started.time_since_epoch()));
  Metric(text, "requests_total", "counter", "Requests by S3 operation.")
      .Samples("operation", stats.requests);
  Metric(text, "responses_total", "counter", "Responses by HTTP status code.")
      .Samples("code", stats.statuses);
  AppendDurations(text, stats.durations);
  single("received_bytes_total", "counter", "Bytes of request bodies.", stats.bytes_in);
  single("sent_bytes_total", "counter", "Bytes of response bodies.", stats.bytes_out);
  single("injected_failures_total", "counter", "Failures from --fail-rate.",
         stats.injected_failures);
  Metric(text, "diagnostics_total", "counter", "Errors that the process survived, by event.")
      .Samples("event", stats.diagnostics);
  single("open_connections", "gauge", "Open connections on the S3 port.", gauges.open_connections);
  single("memory_used_bytes", "gauge", "Bytes charged to the memory limit.",
         gauges.memory_used_bytes);
  single("memory_limit_bytes", "gauge", "The memory limit.", gauges.memory_limit_bytes);
  single("namespaces", "gauge", "Namespaces, with the default one.", gauges.namespaces);
  single("journal_bytes", "gauge", "Memory of the journals of all namespaces.",
         gauges.journal_bytes);
  return text;
}

}  // namespace penstock::emulator::server
