// The only conversion from Error to a Python exception. Both extension modules compile it.
#ifndef PENSTOCK_BINDINGS_CORE_ERRORS_H_
#define PENSTOCK_BINDINGS_CORE_ERRORS_H_

#include <pybind11/pybind11.h>

#include <string>
#include <type_traits>
#include <utility>

#include "penstock/base/result.h"

namespace penstock::python {

// The Python module whose function `from_error` makes the exceptions. Each extension module defines
// its own.
extern const char* const kExceptionModule;

// For other text from a server, such as an ETag or a storage class. Invalid UTF-8 is replaced.
inline pybind11::str TextToPython(const std::string& text) {
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Returns the exception that `kExceptionModule` makes from `error`. Needs the GIL.
pybind11::object ExceptionOf(const Error& error);

// Throws the exception that `kExceptionModule` makes from `error`. Needs the GIL, and no exception
// may be set.
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
