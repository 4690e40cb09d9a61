// The bound client: a Client and the defaults for transfers through it.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_

#include <memory>

#include "penstock/client.h"

namespace penstock::python {

struct PyClient {
  std::shared_ptr<Client> client;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_BINDING_H_
