// ObjectStream: an object in order, block by block, fetched ahead.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <optional>
#include <string>

#include "bindings/core/bindings.h"
#include "bindings/core/client_binding.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "bindings/core/new_bytes.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

class PyStream {
 public:
  PyStream(std::unique_ptr<ObjectStream> stream, std::uint64_t begin) : stream_(std::move(stream), "this stream"), offset_(begin) {}
  PyStream(PyStream&&) = default;

  // The next block as bytes; raises StopIteration at the end, again and again.
  py::object Next() {
    auto result = WithoutGil([&] { return stream_.Get().Next(SignalPending); });
    std::optional<StreamBlock> block = Unwrap(std::move(result));
    if (!block) throw py::stop_iteration();
    py::object bytes = Unwrap(NewBytes(block->size));
    const MutableByteView memory = BytesMemory(bytes);
    WithoutGil([&] {
      std::memcpy(memory.data(), block->data.get(), block->size);
      block->data.reset();
    });
    offset_ = block->offset + block->size;
    return bytes;
  }

  std::uint64_t tell() const { return offset_; }
  std::optional<ObjectMetadata> metadata() const { return stream_.Get().metadata(); }

 private:
  ProcessBound<ObjectStream> stream_;
  std::uint64_t offset_;
};

}  // namespace

void BindStream(py::module_& module) {
  py::class_<PyStream, std::unique_ptr<PyStream, DeleteWithoutGil<PyStream>>>(module, "Stream", "Iterator over an object's bytes in order.")
      .def(py::init([](const PyClient& client, std::string bucket, std::string key, std::uint64_t start, std::optional<std::uint64_t> end,
                       std::optional<std::uint64_t> size, std::optional<std::string> etag, std::uint64_t part_size, int read_ahead,
                       std::optional<std::uint64_t> first_part) {
             ObjectStream::Source source;
             source.bucket = BucketName(std::move(bucket));
             source.key = ObjectKey(std::move(key));
             source.begin = start;
             source.end = end;
             source.known_size = size;
             if (etag) source.known_etag = ETag(std::move(*etag));
             StreamOptions options;
             options.part_size_bytes = part_size;
             options.read_ahead_parts = read_ahead;
             options.first_part_bytes = first_part;
             return std::unique_ptr<PyStream, DeleteWithoutGil<PyStream>>(
                 new PyStream(ObjectStream::Open(client.client, std::move(source), options), start));
           }),
           "client"_a, "bucket"_a, "key"_a, "start"_a = 0, "end"_a = py::none(), "size"_a = py::none(), "etag"_a = py::none(),
           "part_size"_a = 8u << 20, "read_ahead"_a = 4, "first_part"_a = py::none())
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &PyStream::Next)
      .def("tell", &PyStream::tell)
      .def_property_readonly("metadata", &PyStream::metadata);
}

}  // namespace penstock::python
