// What the process's memory budget holds, for tests and for whoever wonders.
#include <pybind11/pybind11.h>

#include "bindings/core/bindings.h"
#include "penstock/memory.h"

namespace penstock::python {

namespace py = pybind11;
using namespace py::literals;

void BindMemory(py::module_& module) {
  module.def("memory_usage", [] {
    const MemoryBudget::Usage usage = MemoryBudget::OfProcess().usage();
    return py::dict("limit"_a = usage.limit, "held"_a = usage.held, "most_held"_a = usage.most_held,
                    "in_flight"_a = usage.in_flight, "waiting"_a = usage.waiting, "beyond_limit"_a = usage.beyond_limit,
                    "taken_back"_a = usage.taken_back,
                    "kept"_a = BufferPool::OfProcess().kept_bytes());
  }, "Bytes that this process holds for blocks and parts on their way, and how many callers wait for some.");
}

}  // namespace penstock::python
