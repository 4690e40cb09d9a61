// The bound client.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_

#include <memory>
#include <utility>

#include "bindings/core/bindings.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/client.h"
#include "penstock/stats.h"

namespace penstock::python {

struct PyClient {
  std::shared_ptr<Client> client;
};

// Runs an operation without the GIL, and handles Ctrl-C.
template <class Request>
typename Request::Response Call(const PyClient& self, Request request) {
  auto result = WithoutGil([&] { return self.client->Call(std::move(request), SignalPending); });
  return Unwrap(std::move(result));
}

// The dict is documented at S3Client.stats(); times are in seconds. Needs the GIL.
pybind11::dict StatsToPython(const ClientStats& stats);

// Operations by name, with keyword arguments.
void BindOperations(Guarded<PyClient>& client);
void BindFiles(Guarded<PyClient>& client);
// Pages of object versions and of open uploads.
void BindPages(Guarded<PyClient>& client);

// Renames, appends, and the listing of directory buckets.
void BindDirectoryBuckets(pybind11::module_& module, Guarded<PyClient>& client);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
