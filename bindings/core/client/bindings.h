// The functions that module.cc registers, and conversions that the client's binding files share.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_BINDINGS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_BINDINGS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <string>

#include "bindings/core/errors.h"
#include "bindings/core/gil.h"
#include "penstock/object_store.h"

namespace penstock::python {

void BindMemory(pybind11::module_& module);
void BindClient(pybind11::module_& module);
void BindStream(pybind11::module_& module);
void BindBulkDownload(pybind11::module_& module);
void BindFetch(pybind11::module_& module);
void BindRanges(pybind11::module_& module);
void BindItems(pybind11::module_& module);
void BindArchives(pybind11::module_& module);
void BindWriter(pybind11::module_& module);
void BindLister(pybind11::module_& module);
void BindPrefetcher(pybind11::module_& module);
void BindCache(pybind11::module_& module);

// In seconds, with fractions.
inline double EpochTime(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

inline std::int64_t EpochSeconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// Object keys are UTF-8 on S3. Other keys are converted with surrogate escapes.
inline pybind11::str KeyToPython(const std::string& key) {
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), "surrogateescape"));
}

inline std::string KeyFromPython(const pybind11::object& key) {
  const auto bytes = pybind11::reinterpret_steal<pybind11::object>(
      PyUnicode_AsEncodedString(key.ptr(), "utf-8", "surrogateescape"));
  if (!bytes) throw pybind11::error_already_set();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// A contiguous view of any object with the buffer protocol. Keeps the object alive. Creation and
// destruction need the GIL.
class BufferView {
 public:
  enum class Access { kRead, kWrite };
  // Throws Python's BufferError, as the io module does, if the buffer is not contiguous or cannot
  // be written. With `name`, the name of an argument, that is a TypeError with the name.
  BufferView(pybind11::handle object, Access access, const char* name = nullptr);
  ~BufferView();
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  ByteView bytes() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }
  MutableByteView writable() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_BINDINGS_H_
