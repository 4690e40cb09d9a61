// The one place where an Error becomes a Python exception.
#ifndef PENSTOCK_BINDINGS_CORE_ERRORS_H_
#define PENSTOCK_BINDINGS_CORE_ERRORS_H_

#include <pybind11/pybind11.h>

#include <utility>

#include "penstock/base/result.h"

namespace penstock::python {

// The exception that penstock._exceptions makes of `error`. Needs the GIL.
pybind11::object ExceptionOf(const Error& error);

// Throws the exception that penstock._exceptions makes of `error`. Needs the GIL, and no exception
// set.
[[noreturn]] void Raise(const Error& error);

// The value, or the exception; one that a signal handler has already set (KeyboardInterrupt) goes
// first. Needs the GIL.
template <class T>
T Unwrap(Result<T> result) {
  // A signal handler may have raised while the operation still succeeded: Ctrl-C is not lost.
  if (PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
  if (!result.ok()) Raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_ERRORS_H_
