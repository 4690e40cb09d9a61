// penstock_emulator._core: the emulator in this process, and the simulation of checkpoint jobs.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/errors.h"
#include "bindings/core/gil.h"
#include "bindings/core/interrupt.h"
#include "penstock/emulator.h"
#include "penstock/simulate.h"

namespace penstock::python {

const char* const kExceptionModule = "penstock_emulator._exceptions";

namespace {

namespace py = pybind11;
using namespace py::literals;

class PyEmulator {
 public:
  explicit PyEmulator(std::unique_ptr<emulator::Emulator> instance)
      : instance_(std::move(instance), "this emulator") {}
  PyEmulator(PyEmulator&&) = default;

  emulator::Emulator& Get() const { return instance_.Get(); }
  bool mine() const { return instance_.mine(); }

 private:
  ProcessBound<emulator::Emulator> instance_;
};

using Holder = std::unique_ptr<PyEmulator, DeleteWithoutGil<PyEmulator>>;
using PyEmulatorClass = py::class_<PyEmulator, Holder>;

Holder Start(emulator::EmulatorOptions options) {
  auto started = WithoutGil([&] { return emulator::Emulator::Start(std::move(options)); });
  return Holder(new PyEmulator(Unwrap(std::move(started))));
}

emulator::AuthMode ParseAuth(const std::string& auth) {
  if (auth == "verify") return emulator::AuthMode::kVerify;
  if (auth == "parse") return emulator::AuthMode::kParse;
  if (auth == "off") return emulator::AuthMode::kOff;
  throw py::value_error("auth must be 'verify', 'parse' or 'off', not '" + auth + "'");
}

// Runs `function` on the emulator without the GIL and returns its result.
template <class Function>
auto CallEmulator(const PyEmulator& self, Function function) {
  emulator::Emulator& instance = self.Get();
  return Unwrap(WithoutGil([&] { return function(instance); }));
}

py::dict Stats(const PyEmulator& self) {
  const emulator::EmulatorStats stats = self.Get().stats();
  return py::dict("requests"_a = stats.requests, "statuses"_a = stats.statuses,
                  "bytes_in"_a = stats.bytes_in, "bytes_out"_a = stats.bytes_out,
                  "injected_failures"_a = stats.injected_failures,
                  "diagnostics"_a = stats.diagnostics);
}

// Times are whole nanoseconds since 1970, which Python's integers represent exactly.
std::int64_t Nanoseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::optional<std::int64_t> Nanoseconds(std::optional<WallTime> time) {
  return time ? std::optional(Nanoseconds(*time)) : std::nullopt;
}

py::dict Clock(const emulator::ClockState& state) {
  return py::dict("now_ns"_a = Nanoseconds(state.now), "frozen"_a = state.frozen,
                  "offset_ns"_a = state.offset.count(), "rate"_a = state.rate);
}

emulator::ClockChange MakeClockChange(std::optional<std::int64_t> now_ns, std::int64_t advance_ns,
                                      std::optional<bool> frozen, std::optional<double> rate) {
  emulator::ClockChange change;
  if (now_ns)
    change.now =
        WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(*now_ns)));
  change.advance = std::chrono::nanoseconds(advance_ns);
  change.frozen = frozen;
  change.rate = rate;
  return change;
}

void BindProcess(PyEmulatorClass& type) {
  type.def(py::init(
               [](std::string host, int port, int admin_port, std::string admin_token,
                  std::string data_directory, bool strict_durability, const std::string& auth,
                  const std::vector<std::pair<std::string, std::string>>& access_keys,
                  std::string users_path, std::string users_json, std::string region,
                  double fail_rate, std::uint64_t fail_seed, std::string tls_certificate,
                  std::string tls_key, std::string log_path, std::string faults_json,
                  std::uint64_t journal_bytes, std::string limits_json, bool relaxed_bucket_names,
                  std::optional<bool> moto_reset, std::uint64_t memory_limit_bytes,
                  int first_byte_delay_ms, std::uint64_t scrub_bytes_per_second, bool authorization,
                  std::vector<std::string> event_sinks, std::string event_sink_ca, bool console) {
                 emulator::EmulatorOptions options;
                 options.host = std::move(host);
                 options.port = port;
                 options.admin_port = admin_port;
                 options.admin_token = std::move(admin_token);
                 options.data_directory = std::move(data_directory);
                 options.durability = strict_durability ? emulator::DurabilityMode::kStrict
                                                        : emulator::DurabilityMode::kRelaxed;
                 options.auth = ParseAuth(auth);
                 for (const auto& [id, secret] : access_keys)
                   options.access_keys.push_back({id, secret});
                 options.users_path = std::move(users_path);
                 options.users_json = std::move(users_json);
                 options.region = std::move(region);
                 options.fail_rate = fail_rate;
                 options.fail_seed = fail_seed;
                 options.tls_certificate_path = std::move(tls_certificate);
                 options.tls_key_path = std::move(tls_key);
                 options.log_path = std::move(log_path);
                 options.faults_json = std::move(faults_json);
                 options.journal_bytes = journal_bytes;
                 options.limits_json = std::move(limits_json);
                 options.relaxed_bucket_names = relaxed_bucket_names;
                 options.moto_reset = moto_reset;
                 options.memory_limit_bytes = memory_limit_bytes;
                 options.first_byte_delay_ms = first_byte_delay_ms;
                 options.scrub_bytes_per_second = scrub_bytes_per_second;
                 options.authorization = authorization ? emulator::AuthorizationMode::kOn
                                                       : emulator::AuthorizationMode::kOff;
                 options.event_sinks = std::move(event_sinks);
                 options.console = console;
                 options.event_sink_ca_path = std::move(event_sink_ca);
                 return Start(std::move(options));
               }),
           py::kw_only(), "host"_a = "127.0.0.1", "port"_a = 0, "admin_port"_a = 0,
           "admin_token"_a = "", "data_directory"_a = "", "strict_durability"_a = false,
           "auth"_a = "verify",
           "access_keys"_a = std::vector<std::pair<std::string, std::string>>(),
           "users_path"_a = "", "users_json"_a = "", "region"_a = "us-east-1", "fail_rate"_a = 0.0,
           "fail_seed"_a = 1, "tls_certificate"_a = "", "tls_key"_a = "", "log_path"_a = "",
           "faults_json"_a = "", "journal_bytes"_a = emulator::EmulatorOptions().journal_bytes,
           "limits_json"_a = "", "relaxed_bucket_names"_a = false,
           "moto_reset"_a = std::optional<bool>(), "memory_limit_bytes"_a = 0,
           "first_byte_delay_ms"_a = 0,
           "scrub_bytes_per_second"_a = emulator::EmulatorOptions().scrub_bytes_per_second,
           "authorization"_a = true, "event_sinks"_a = std::vector<std::string>(),
           "event_sink_ca"_a = "", "console"_a = true)
      .def_property_readonly("endpoint",
                             [](const PyEmulator& self) { return self.Get().endpoint(); })
      .def_property_readonly("admin_endpoint",
                             [](const PyEmulator& self) { return self.Get().admin_endpoint(); })
      .def_property_readonly("notices", [](const PyEmulator& self) { return self.Get().notices(); })
      .def("stats", &Stats)
      .def("reset",
           [](const PyEmulator& self) {
             CallEmulator(self, [](emulator::Emulator& instance) { return instance.Reset(); });
           })
      .def("stop", [](const PyEmulator& self) {
        if (!self.mine()) return;
        const ReleasedGil unlocked;
        self.Get().Stop();
      });
}

void BindNamespaces(PyEmulatorClass& type) {
  type.def("namespaces",
           [](const PyEmulator& self) {
             return CallEmulator(
                 self, [](emulator::Emulator& instance) { return instance.Namespaces(); });
           })
      .def(
          "create_namespace",
          [](const PyEmulator& self, const std::string& name) {
            emulator::AccessKey key = CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.CreateNamespace(name); });
            return std::pair(std::move(key.id), std::move(key.secret));
          },
          "name"_a)
      .def(
          "delete_namespace",
          [](const PyEmulator& self, const std::string& name) {
            CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.DeleteNamespace(name); });
          },
          "name"_a)
      .def(
          "reset_namespace",
          [](const PyEmulator& self, const std::string& name) {
            CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.ResetNamespace(name); });
          },
          "name"_a)
      .def(
          "clock",
          [](const PyEmulator& self, const std::string& name) {
            return Clock(CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.GetClock(name); }));
          },
          "namespace"_a)
      .def(
          "change_clock",
          [](const PyEmulator& self, const std::string& name, std::optional<std::int64_t> now_ns,
             std::int64_t advance_ns, std::optional<bool> frozen, std::optional<double> rate) {
            const emulator::ClockChange change = MakeClockChange(now_ns, advance_ns, frozen, rate);
            return Clock(CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.ChangeClock(name, change);
            }));
          },
          "namespace"_a, py::kw_only(), "now_ns"_a = py::none(), "advance_ns"_a = 0,
          "frozen"_a = py::none(), "rate"_a = py::none())
      .def(
          "restore_clock",
          [](const PyEmulator& self, const std::string& name) {
            return Clock(CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.RestoreClock(name); }));
          },
          "namespace"_a);
}

void BindLimits(PyEmulatorClass& type) {
  type.def(
          "set_limits",
          [](const PyEmulator& self, const std::string& name, const std::string& json) {
            CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.SetLimits(name, json); });
          },
          "namespace"_a, "limits_json"_a)
      .def(
          "limits_report",
          [](const PyEmulator& self, const std::string& name) {
            return CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.LimitsReport(name); });
          },
          "namespace"_a);
}

emulator::LifecycleRequest MakeLifecycleRequest(const std::string& name, const std::string& bucket,
                                                std::optional<std::int64_t> by_ns) {
  emulator::LifecycleRequest request;
  request.name_space = name;
  request.bucket = bucket;
  if (by_ns)
    request.by =
        WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(*by_ns)));
  return request;
}

// Accounts are JSON, in the format of the admin API.
void BindLifecycle(PyEmulatorClass& type) {
  type.def(
          "run_lifecycle",
          [](const PyEmulator& self, const std::string& name, const std::string& bucket) {
            return CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.RunLifecycle(MakeLifecycleRequest(name, bucket, std::nullopt));
            });
          },
          "namespace"_a, "bucket"_a)
      .def(
          "preview_lifecycle",
          [](const PyEmulator& self, const std::string& name, const std::string& bucket,
             std::optional<std::int64_t> by_ns) {
            return CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.PreviewLifecycle(MakeLifecycleRequest(name, bucket, by_ns));
            });
          },
          "namespace"_a, "bucket"_a, "by_ns"_a = py::none());
}

// Events are JSON, in the format of the admin API.
void BindEvents(PyEmulatorClass& type) {
  type.def(
          "read_events",
          [](const PyEmulator& self, const std::string& name, std::uint64_t after,
             std::uint64_t wait_ms, std::optional<std::uint64_t> newest) {
            return CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.ReadEvents(name, after, std::chrono::milliseconds(wait_ms), newest);
            });
          },
          "namespace"_a, "after"_a, "wait_ms"_a, "newest"_a = py::none())
      .def(
          "remove_events",
          [](const PyEmulator& self, const std::string& name, std::uint64_t last) {
            CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.RemoveEvents(name, last);
            });
          },
          "namespace"_a, "last"_a);
}

void BindContent(PyEmulatorClass& type) {
  type.def(
          "seed",
          [](const PyEmulator& self, std::string bucket, std::string directory, std::string prefix,
             std::string name_space) {
            const emulator::SeedRequest request{std::move(bucket), std::move(directory),
                                                std::move(prefix), std::move(name_space)};
            const auto report = CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.Seed(request); });
            return py::dict("objects"_a = report.objects, "bytes"_a = report.bytes,
                            "skipped"_a = report.skipped);
          },
          py::kw_only(), "bucket"_a, "directory"_a, "prefix"_a = "", "namespace"_a = "default")
      .def(
          "add_users",
          [](const PyEmulator& self, const std::string& users_json) {
            CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.AddUsers(users_json); });
          },
          "users_json"_a)
      .def("users", [](const PyEmulator& self) {
        return CallEmulator(self,
                            [](emulator::Emulator& instance) { return instance.ListUsers(); });
      });
}

// Documents and accounts are JSON, in the format of the admin API.
void BindFaults(PyEmulatorClass& type) {
  type.def(
          "set_faults",
          [](const PyEmulator& self, const std::string& name, const std::string& faults) {
            CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.SetFaults(name, faults);
            });
          },
          "namespace"_a, "faults_json"_a)
      .def(
          "fault_account",
          [](const PyEmulator& self, const std::string& name) {
            return CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.FaultAccount(name); });
          },
          "namespace"_a)
      .def(
          "missing_faults",
          [](const PyEmulator& self, const std::string& name) {
            return CallEmulator(self, [&](emulator::Emulator& instance) -> Result<std::string> {
              const Result<void> checked = instance.CheckFaults(name);
              if (checked.ok()) return std::string();
              if (checked.error().kind != ErrorKind::kPreconditionFailed) return checked.error();
              return checked.error().message;
            });
          },
          "namespace"_a)
      .def(
          "clear_faults",
          [](const PyEmulator& self, const std::string& name, bool forget) {
            CallEmulator(self, [&](emulator::Emulator& instance) {
              return forget ? instance.ForgetFaults(name) : instance.ClearFaults(name);
            });
          },
          "namespace"_a, "forget"_a = false)
      .def(
          "restore_faults",
          [](const PyEmulator& self, const std::string& name) {
            CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.RestoreFaults(name); });
          },
          "namespace"_a)
      .def(
          "create_retry_test",
          [](const PyEmulator& self, const std::string& name, const std::string& operations) {
            return CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.CreateRetryTest(name, operations);
            });
          },
          "namespace"_a, "operations_json"_a)
      .def(
          "retry_tests",
          [](const PyEmulator& self, const std::string& name) {
            return CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.RetryTests(name); });
          },
          "namespace"_a)
      .def(
          "retry_test_account",
          [](const PyEmulator& self, const std::string& name, const std::string& id) {
            return CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.RetryTestAccount(name, id);
            });
          },
          "namespace"_a, "id"_a)
      .def(
          "delete_retry_test",
          [](const PyEmulator& self, const std::string& name, const std::string& id) {
            CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.DeleteRetryTest(name, id);
            });
          },
          "namespace"_a, "id"_a);
}

// Queries and filters are JSON, in the format of the admin API.
void BindJournal(PyEmulatorClass& type) {
  type.def(
          "ask_journal",
          [](const PyEmulator& self, const std::string& name, const std::string& question) {
            return CallEmulator(self, [&](emulator::Emulator& instance) -> Result<std::string> {
              PENSTOCK_ASSIGN(const emulator::JournalReading reading, instance.ReadJournal(name));
              return reading.QueryJson(question);
            });
          },
          "namespace"_a, "question_json"_a)
      .def(
          "await_journal",
          [](const PyEmulator& self, const std::string& name, std::uint64_t after,
             std::int64_t wait_ms, const std::string& question) {
            return CallEmulator(self, [&](emulator::Emulator& instance) -> Result<std::string> {
              PENSTOCK_ASSIGN(
                  const emulator::JournalReading reading,
                  instance.AwaitJournal(name, after, std::chrono::milliseconds(wait_ms)));
              return reading.QueryJson(question);
            });
          },
          "namespace"_a, "after"_a, "wait_ms"_a, "question_json"_a)
      .def(
          "export_journal",
          [](const PyEmulator& self, const std::string& name, const std::string& format,
             const std::string& filter_json) {
            if (format != "jsonl" && format != "har")
              throw py::value_error("format must be 'jsonl' or 'har', not '" + format + "'");
            return CallEmulator(self, [&](emulator::Emulator& instance) -> Result<std::string> {
              PENSTOCK_ASSIGN(const emulator::JournalFilter filter,
                              emulator::ParseJournalFilter(filter_json));
              PENSTOCK_ASSIGN(const emulator::JournalReading reading, instance.ReadJournal(name));
              return format == "har" ? reading.Har(instance.endpoint(), filter)
                                     : reading.JsonLines(filter);
            });
          },
          "namespace"_a, "format"_a, "filter_json"_a)
      .def(
          "capture_headers",
          [](const PyEmulator& self, const std::string& name, std::int64_t seconds) {
            return Nanoseconds(CallEmulator(self, [&](emulator::Emulator& instance) {
              return instance.CaptureHeaders(name, std::chrono::seconds(seconds));
            }));
          },
          "namespace"_a, "seconds"_a)
      .def(
          "header_capture",
          [](const PyEmulator& self, const std::string& name) {
            return Nanoseconds(CallEmulator(
                self, [&](emulator::Emulator& instance) { return instance.HeaderCapture(name); }));
          },
          "namespace"_a)
      .def(
          "clear_journal",
          [](const PyEmulator& self, const std::string& name) {
            CallEmulator(self,
                         [&](emulator::Emulator& instance) { return instance.ClearJournal(name); });
          },
          "namespace"_a);
}

void BindEmulator(py::module_& module) {
  PyEmulatorClass type(module, "Emulator", "An S3 emulator inside this process.");
  BindProcess(type);
  BindNamespaces(type);
  BindLimits(type);
  BindLifecycle(type);
  BindEvents(type);
  BindContent(type);
  BindFaults(type);
  BindJournal(type);
  module.def(
      "simulate",
      [](const std::string& job_json) {
        return Unwrap(WithoutGil([&] { return emulator::SimulateJson(job_json); }));
      },
      "job_json"_a, "The report of a simulated checkpoint job, both as JSON.");
}

}  // namespace
}  // namespace penstock::python

PYBIND11_MODULE(_core, module) {
  module.doc() = "C++ core of penstock_emulator: the S3 emulator in this process.";
  module.attr("__version__") = PENSTOCK_VERSION;
  penstock::python::WatchInterpreterEnd();
  penstock::python::BindEmulator(module);
}
