// Client.call: an operation by name that blocks.
#include <memory>
#include <utility>

#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/requests/operation.h"
#include "penstock/base/pending.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

py::object CallOperation(const PyClient& self, const std::string& name, const py::dict& arguments) {
  const std::unique_ptr<Operation> operation = MakeOperation(name, arguments);
  auto call = MakePending<NoResponse>();
  Unwrap(WithoutGil([&] {
    operation->Start(*self.client, call.cancel,
                     [done = std::move(call.done)] { done(NoResponse{}); });
    return call.pending.Get(SignalPending);
  }));
  return operation->Take();
}

}  // namespace

void BindOperations(Guarded<PyClient>& client) {
  client.def("call", &CallOperation, "name"_a, "arguments"_a);
}

}  // namespace penstock::python
