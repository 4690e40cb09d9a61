// The bound client: a Client and the defaults for transfers through it.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_

#include <memory>

#include "bindings/core/bindings.h"
#include "penstock/client.h"

namespace penstock::python {

struct PyClient {
  std::shared_ptr<Client> client;
};

// The verbs of a multipart upload.
void BindMultipart(Guarded<PyClient>& client);
// Pages of an object's versions and of open uploads.
void BindPages(Guarded<PyClient>& client);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
