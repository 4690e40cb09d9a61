// Arguments that know their own names, so that a value of the wrong type gives a readable error.
//
// pybind11's own error has the C++ signature and the repr of every argument, secrets included.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_NAMED_ARGUMENT_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_NAMED_ARGUMENT_H_

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"

namespace penstock::python {

template <std::size_t kSize>
struct ArgumentName {
  // NOLINTNEXTLINE(google-explicit-constructor): written as a string literal.
  constexpr ArgumentName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize];
};

// Replaces a parameter of type T. Accepts the same values. Raises a TypeError with the parameter's
// name, the actual type and the expected type, but never the value.
template <ArgumentName kName, class T>
struct Named {
  T value;
};
// Text. Keys from S3 that are not UTF-8 are converted back unchanged.
template <ArgumentName kName>
using Text = Named<kName, std::string>;

namespace argument {

inline std::string TypeName(const std::string*) { return "str"; }
inline std::string TypeName(const std::vector<std::string>*) { return "a list of str"; }
inline std::string TypeName(const bool*) { return "bool"; }
template <class Integer>
std::string TypeName(const Integer*) {
  return "int";
}
template <class T>
std::string TypeName(const std::optional<T>*) {
  return TypeName(static_cast<const T*>(nullptr)) + " or None";
}

[[noreturn]] inline void Refuse(const std::string& name, pybind11::handle value,
                                const std::string& wanted) {
  if (wanted.starts_with("int") && PyLong_Check(value.ptr()))
    throw pybind11::value_error(name + " is too large or negative");
  throw pybind11::type_error(name + " must be " + wanted + ", not " +
                             Py_TYPE(value.ptr())->tp_name);
}

template <class T>
void Load(const std::string& name, pybind11::handle value, T& loaded) {
  pybind11::detail::make_caster<T> caster;
  if (!caster.load(value, true)) Refuse(name, value, TypeName(&loaded));
  loaded = pybind11::detail::cast_op<T>(std::move(caster));
}

inline void Load(const std::string& name, pybind11::handle value, std::string& loaded) {
  if (!PyUnicode_Check(value.ptr())) Refuse(name, value, TypeName(&loaded));
  loaded = KeyFromPython(pybind11::reinterpret_borrow<pybind11::object>(value));
}

inline void Load(const std::string& name, pybind11::handle value,
                 std::vector<std::string>& loaded) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) ||
      !PySequence_Check(value.ptr())) {
    Refuse(name, value, TypeName(&loaded));
  }
  for (const pybind11::handle element : pybind11::reinterpret_borrow<pybind11::sequence>(value)) {
    const std::string element_name = name + "[" + std::to_string(loaded.size()) + "]";
    Load(element_name, element, loaded.emplace_back());
  }
}

template <class T>
void Load(const std::string& name, pybind11::handle value, std::optional<T>& loaded) {
  if (value.is_none()) return loaded.reset();
  T inner{};
  if constexpr (std::is_integral_v<T>) {
    pybind11::detail::make_caster<T> caster;
    if (!caster.load(value, true)) Refuse(name, value, TypeName(&loaded));
    inner = pybind11::detail::cast_op<T>(caster);
  } else {
    if (!PyUnicode_Check(value.ptr())) Refuse(name, value, TypeName(&loaded));
    Load(name, value, inner);
  }
  loaded = std::move(inner);
}

}  // namespace argument
}  // namespace penstock::python

namespace pybind11::detail {

template <penstock::python::ArgumentName kName, class T>
struct type_caster<penstock::python::Named<kName, T>> {
  static constexpr auto name = make_caster<T>::name;
  template <class>
  using cast_op_type = penstock::python::Named<kName, T>;

  bool load(handle value, bool) {
    penstock::python::argument::Load(kName.text, value, loaded_.value);
    return true;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): required by pybind11.
  operator penstock::python::Named<kName, T>() && { return std::move(loaded_); }

 private:
  penstock::python::Named<kName, T> loaded_{};
};

}  // namespace pybind11::detail

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_NAMED_ARGUMENT_H_
