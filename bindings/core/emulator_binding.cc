// The in-process emulator behind penstock.testing.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings/core/bindings.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/emulator.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

class PyEmulator {
 public:
  explicit PyEmulator(std::unique_ptr<emulator::Emulator> instance) : instance_(std::move(instance), "this emulator") {}
  PyEmulator(PyEmulator&&) = default;

  emulator::Emulator& Get() const { return instance_.Get(); }
  bool mine() const { return instance_.mine(); }

 private:
  ProcessBound<emulator::Emulator> instance_;
};

std::unique_ptr<PyEmulator, DeleteWithoutGil<PyEmulator>> Start(emulator::EmulatorOptions options) {
  auto started = WithoutGil([&] { return emulator::Emulator::Start(std::move(options)); });
  return std::unique_ptr<PyEmulator, DeleteWithoutGil<PyEmulator>>(new PyEmulator(Unwrap(std::move(started))));
}

py::dict Stats(const PyEmulator& self) {
  const emulator::EmulatorStats stats = self.Get().stats();
  return py::dict("requests"_a = stats.requests, "statuses"_a = stats.statuses, "bytes_in"_a = stats.bytes_in,
                  "bytes_out"_a = stats.bytes_out, "injected_failures"_a = stats.injected_failures);
}

}  // namespace

void BindEmulator(py::module_& module) {
  py::class_<PyEmulator, std::unique_ptr<PyEmulator, DeleteWithoutGil<PyEmulator>>>(module, "Emulator", "An S3 emulator inside this process.")
      .def(py::init([](std::string host, int port, int admin_port, std::string data_directory, bool strict_durability,
                       const std::vector<std::pair<std::string, std::string>>& access_keys, std::string region, double fail_rate,
                       std::uint64_t fail_seed, std::string tls_certificate, std::string tls_key, std::string log_path) {
             emulator::EmulatorOptions options;
             options.host = std::move(host);
             options.port = port;
             options.admin_port = admin_port;
             options.data_directory = std::move(data_directory);
             options.durability = strict_durability ? emulator::DurabilityMode::kStrict : emulator::DurabilityMode::kRelaxed;
             for (const auto& [id, secret] : access_keys) options.access_keys.push_back({id, secret});
             options.region = std::move(region);
             options.fail_rate = fail_rate;
             options.fail_seed = fail_seed;
             options.tls_certificate_path = std::move(tls_certificate);
             options.tls_key_path = std::move(tls_key);
             options.log_path = std::move(log_path);
             return Start(std::move(options));
           }),
           py::kw_only(), "host"_a = "127.0.0.1", "port"_a = 0, "admin_port"_a = 0, "data_directory"_a = "",
           "strict_durability"_a = false, "access_keys"_a = std::vector<std::pair<std::string, std::string>>(),
           "region"_a = "us-east-1", "fail_rate"_a = 0.0, "fail_seed"_a = 1, "tls_certificate"_a = "", "tls_key"_a = "",
           "log_path"_a = "")
      .def_property_readonly("endpoint", [](const PyEmulator& self) { return self.Get().endpoint(); })
      .def_property_readonly("admin_endpoint", [](const PyEmulator& self) { return self.Get().admin_endpoint(); })
      .def("stats", &Stats)
      .def("reset", [](const PyEmulator& self) {
        auto result = WithoutGil([&] { return self.Get().Reset(); });
        Unwrap(std::move(result));
      })
      .def("stop", [](const PyEmulator& self) {
        if (!self.mine()) return;
        const py::gil_scoped_release unlocked;
        self.Get().Stop();
      });
}

}  // namespace penstock::python
