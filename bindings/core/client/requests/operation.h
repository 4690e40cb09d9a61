// The operations that Python can call by name: keyword arguments in, a Python object out. How the
// call is waited for is not part of it.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_OPERATION_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_OPERATION_H_

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "penstock/client.h"

namespace penstock::python {

// One call. Holds the Python memory that the request refers to, until it is destroyed.
//
// Creation, Take and destruction need the GIL. Start does not; it runs no Python code, and neither
// does its callback.
class Operation {
 public:
  virtual ~Operation() = default;
  // Sends the request; call it once. `done` runs exactly once: on an I/O thread, on the thread that
  // requests a stop, or before Start returns. It may let another thread destroy this object.
  // `client` and this object must live until then. A stop request ends the call soon, with
  // kCancelled.
  virtual void Start(Client& client, std::stop_token cancel, std::function<void()> done) = 0;
  // Returns the response as a Python object, or throws its error as an exception. Call it once,
  // after `done` has started to run.
  virtual pybind11::object Take() = 0;
};

// Returns the operation of that name (operations.cc lists them) with keyword arguments, of which
// those that are None are unset. Throws TypeError for an unknown name or argument and for a value
// of another type, and ValueError or S3InvalidArgumentError for other invalid values. Messages
// never contain secrets.
std::unique_ptr<Operation> MakeOperation(const std::string& name, const pybind11::dict& arguments);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_REQUESTS_OPERATION_H_
