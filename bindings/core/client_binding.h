// The bound client: a Client and the defaults for transfers through it.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_

#include <memory>
#include <utility>

#include "bindings/core/bindings.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/client.h"

namespace penstock::python {

struct PyClient {
  std::shared_ptr<Client> client;
};

// Runs a verb without the GIL, listening to Ctrl-C.
template <class Request>
typename Request::Response Call(const PyClient& self, Request request) {
  auto result = WithoutGil([&] { return self.client->Call(std::move(request), SignalPending); });
  return Unwrap(std::move(result));
}

// The verbs of a multipart upload.
void BindMultipart(Guarded<PyClient>& client);
// Pages of an object's versions and of open uploads.
void BindPages(Guarded<PyClient>& client);

// Renames, appends and the list of directory buckets.
void BindDirectoryBuckets(pybind11::module_& module, Guarded<PyClient>& client);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
