#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_events.h"
#include "bindings/core/client/events/event_queue.h"
#include "bindings/core/errors.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Decides on one retry. Without a decision, its destruction decides kDefault.
class Verdict {
 public:
  explicit Verdict(std::function<void(RetryVerdict)> decide) : decide_(std::move(decide)) {}
  ~Verdict() { Decide(RetryVerdict::kDefault); }
  Verdict(const Verdict&) = delete;
  Verdict& operator=(const Verdict&) = delete;

  // Needs the GIL, and releases it: the engine may take a lock whose holder waits for the GIL.
  void Decide(RetryVerdict verdict) {
    if (const auto decide = std::exchange(decide_, nullptr)) {
      const ReleasedGil unlocked;
      decide(verdict);
    }
  }

 private:
  std::function<void(RetryVerdict)> decide_;
};

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

py::object OrNone(const std::string& text) {
  return text.empty() ? py::object(py::none()) : py::object(TextToPython(text));
}

// The fields of penstock.RequestEvent.
py::object ToPython(const RequestEvent& e) {
  const bool responded = e.http_status != 0;
  return py::make_tuple(e.operation, TextToPython(e.bucket), KeyToPython(e.key), e.attempt,
                        responded ? py::object(py::int_(e.http_status)) : py::object(py::none()),
                        OrNone(e.error_code), OrNone(e.request_id), EpochTime(e.started),
                        e.first_byte.count() != 0 ? py::object(py::float_(Seconds(e.first_byte)))
                                                  : py::object(py::none()),
                        Seconds(e.duration), e.bytes_sent, e.bytes_received, e.connection_reused);
}

// The fields of penstock.RetryQuestion.
py::object ToPython(const KeptQuestion& q) {
  return py::make_tuple(q.operation, TextToPython(q.bucket), KeyToPython(q.key), q.attempt,
                        ExceptionOf(q.error), q.retried_by_default);
}

// The level, the time and the line.
py::object ToPython(const LogLine& line) {
  return py::make_tuple(static_cast<int>(line.level), EpochTime(line.logged),
                        TextToPython(line.json));
}

// Lines of the process's log go to the event queue from now on, or to standard error again.
void LogToPython(const std::string& level, bool enabled) {
  LogSink sink;
  if (enabled) {
    sink = [](LogLevel of_line, const std::string& json) {
      EventQueue::PerProcess().Append(LogLine{of_line, SystemClock().Now(), json});
    };
  }
  WithoutGil([&] { SetLogSink(ParseLogLevel(level), std::move(sink)); });
}

// Returns (client or 0 for a log line, fields or None for the last event, Verdict or None) of each
// event.
std::optional<py::list> TakeEvents() {
  std::vector<ClientEvent> events = WithoutGil([] { return EventQueue::PerProcess().Take(); });
  if (events.empty()) return std::nullopt;
  py::list taken;
  for (ClientEvent& event : events) {
    py::object fields = py::none();
    py::object verdict = py::none();
    if (const auto* attempt = std::get_if<RequestEvent>(&event.what)) {
      fields = ToPython(*attempt);
    } else if (const auto* line = std::get_if<LogLine>(&event.what)) {
      fields = ToPython(*line);
    } else if (auto* question = std::get_if<KeptQuestion>(&event.what)) {
      fields = ToPython(*question);
      verdict = py::cast(std::make_unique<Verdict>(std::move(question->decide)));
    }
    taken.append(py::make_tuple(event.client, std::move(fields), std::move(verdict)));
  }
  return taken;
}

}  // namespace

std::function<void(const RequestEvent&)> MakeObserver(std::uint64_t client, DroppedEvents dropped) {
  return [client, dropped = std::move(dropped)](const RequestEvent& event) {
    if (!EventQueue::PerProcess().Append(client, event)) dropped->fetch_add(1);
  };
}

AsyncRetryPolicy MakeRetryPolicy(std::uint64_t client) {
  return [client](const RetryQuestion& question, std::function<void(RetryVerdict)> decide) {
    EventQueue::PerProcess().Ask(client, question, std::move(decide));
  };
}

void BindEvents(py::module_& module) {
  py::class_<Verdict>(module, "Verdict", "The decision of a retry policy, made at most once.")
      .def(
          "decide",
          [](Verdict& self, std::optional<bool> retry) {
            if (!retry) return self.Decide(RetryVerdict::kDefault);
            self.Decide(*retry ? RetryVerdict::kRetry : RetryVerdict::kStop);
          },
          "retry"_a.none(true));
  module.def("take_events", &TakeEvents,
             "Waits for events of clients, and returns all. None: the queue is closed.");
  module.def("events_handled", [](std::size_t count) { EventQueue::PerProcess().Handled(count); });
  module.def("flush_events", [](double seconds) {
    const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
    return WithoutGil([limit] { return EventQueue::PerProcess().Flush(limit); });
  });
  module.def("log_to_python", &LogToPython, "level"_a, "enabled"_a);
  module.def("take_dropped_lines", [] { return EventQueue::PerProcess().TakeDroppedLines(); });
  module.def("end_events", [](std::uint64_t client) { EventQueue::PerProcess().End(client); });
  module.def("close_events", [] { EventQueue::PerProcess().Close(); });
}

}  // namespace penstock::python
