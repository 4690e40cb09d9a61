// The functions that module.cc registers, and conversions that the binding files share.
#ifndef PENSTOCK_BINDINGS_CORE_BINDINGS_H_
#define PENSTOCK_BINDINGS_CORE_BINDINGS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <memory>
#include <string>

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
void BindEmulator(pybind11::module_& module);

// Runs a function that may block while other Python threads continue. Needs the GIL.
template <class Function>
auto WithoutGil(Function function) {
  const ReleasedGil unlocked;
  return function();
}

// Destroys a handle without the GIL, because a stream or writer waits until its requests in flight
// are cancelled.
template <class T>
struct DeleteWithoutGil {
  void operator()(T* handle) const {
    if (OthersInsideAtTheEnd()) return;
    const ReleasedGil unlocked;
    delete handle;
  }
};

// Destroys a handle with the GIL, unless another thread may use it while the interpreter ends.
template <class T>
struct DeleteUnlessInUse {
  void operator()(T* handle) const {
    if (!OthersInsideAtTheEnd()) delete handle;
  }
};
template <class T>
using Guarded = pybind11::class_<T, std::unique_ptr<T, DeleteUnlessInUse<T>>>;

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

// For other text from a server, such as an ETag or a storage class. Invalid UTF-8 is replaced.
inline pybind11::str TextToPython(const std::string& text) {
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
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

#endif  // PENSTOCK_BINDINGS_CORE_BINDINGS_H_
