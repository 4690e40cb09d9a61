// The one place where an Error becomes a Python exception.
#ifndef PENSTOCK_BINDINGS_CORE_ERRORS_H_
#define PENSTOCK_BINDINGS_CORE_ERRORS_H_

#include <pybind11/pybind11.h>

#include <utility>

#include "penstock/base/result.h"

namespace penstock::python {

// Throws the exception that penstock._exceptions makes of `error`; a Python exception that a signal handler has already
// set (KeyboardInterrupt) goes first. Needs the GIL.
[[noreturn]] void Raise(const Error& error);

// The value, or the exception. Needs the GIL.
template <class T>
T Unwrap(Result<T> result) {
  if (!result.ok()) Raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_ERRORS_H_
