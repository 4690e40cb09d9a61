// The only conversion from Error to a Python exception.
#ifndef PENSTOCK_BINDINGS_CORE_ERRORS_H_
#define PENSTOCK_BINDINGS_CORE_ERRORS_H_

#include <pybind11/pybind11.h>

#include <utility>

#include "penstock/base/result.h"

namespace penstock::python {

// Returns the exception that penstock._exceptions makes from `error`. Needs the GIL.
pybind11::object ExceptionOf(const Error& error);

// Throws the exception that penstock._exceptions makes from `error`. Needs the GIL, and no
// exception may be set.
[[noreturn]] void Raise(const Error& error);

// Returns the value, or throws the error as an exception. An exception that a signal handler has
// set (KeyboardInterrupt) takes precedence. Needs the GIL.
template <class T>
T Unwrap(Result<T> result) {
  // A signal handler may have raised although the operation succeeded. Do not lose Ctrl-C.
  if (PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
  if (!result.ok()) Raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_ERRORS_H_
