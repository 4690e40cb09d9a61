// The zip directories of torch.save files, and the tensors of a distributed checkpoint.
#include <pybind11/pybind11.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/core/bindings.h"
#include "penstock/tensor_archive.h"
#include "penstock/zip_directory.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// The memory of one torch.save archive. The payload between head and tail is not in memory.
struct ArchiveMemory {
  std::uint64_t head;
  std::uint64_t head_bytes;
  std::uint64_t between;
  std::uint64_t tail;
  std::uint64_t tail_bytes;
};

ByteView MemoryAt(std::uint64_t address, std::uint64_t size) {
  return {reinterpret_cast<const std::byte*>(address),
          size};  // NOLINT(performance-no-int-to-ptr): the caller keeps the memory valid
}

py::tuple TupleOf(const std::vector<std::int64_t>& numbers) {
  py::tuple tuple(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) tuple[i] = py::int_(numbers[i]);
  return tuple;
}

// Most tensors of a checkpoint share a few pickles, so each distinct pickle is parsed once.
class TensorArchives {
 public:
  py::list Read(const py::object& archives) {
    const BufferView view(archives, BufferView::Access::kRead);
    const ByteView bytes = view.bytes();
    if (bytes.size() % sizeof(ArchiveMemory) != 0) {
      throw py::value_error("archives has " + std::to_string(bytes.size()) +
                            " bytes; expected a multiple of five 64-bit numbers");
    }
    py::list all(bytes.size() / sizeof(ArchiveMemory));
    for (std::size_t i = 0; i < all.size(); ++i) {
      ArchiveMemory place{};
      std::memcpy(&place, bytes.data() + i * sizeof(ArchiveMemory), sizeof place);
      all[i] = ReadOne(place);
    }
    return all;
  }

 private:
  struct Known {
    py::object layout;
    std::string storage_key;
    std::uint64_t storage_bytes = 0;
  };

  py::object ReadOne(const ArchiveMemory& place) {
    const std::optional<TensorArchive> archive =
        ReadTensorArchive({MemoryAt(place.head, place.head_bytes), place.between,
                           MemoryAt(place.tail, place.tail_bytes)});
    if (!archive) return py::none();
    auto found = known_.find(std::string(archive->pickle));
    if (found == known_.end()) {
      const std::optional<PickledTensor> tensor = ReadTensorPickle(archive->pickle);
      if (!tensor) return py::none();
      if (known_.size() >= kMaxKnown) known_.clear();
      py::object layout =
          py::make_tuple(tensor->dtype, TupleOf(tensor->sizes), TupleOf(tensor->strides),
                         tensor->storage_offset, tensor->storage_bytes);
      found = known_
                  .emplace(archive->pickle,
                           Known{std::move(layout), tensor->storage_key, tensor->storage_bytes})
                  .first;
    }
    const Known& known = found->second;
    if (known.storage_key != archive->payload_key || known.storage_bytes != archive->payload_bytes)
      return py::none();
    if (archive->payload_begin != place.head_bytes || archive->payload_bytes != place.between) {
      return py::int_(archive->payload_begin);
    }
    return known.layout;
  }

  static constexpr std::size_t kMaxKnown = 4096;
  std::unordered_map<std::string, Known> known_;
};

py::object FindZipDirectoryOf(const py::object& tail, std::uint64_t size) {
  const BufferView view(tail, BufferView::Access::kRead);
  const std::optional<ZipDirectory> found = FindZipDirectory(AsText(view.bytes()), size);
  if (!found) return py::none();
  return py::make_tuple(found->begin, found->end);
}

py::list ZipEntriesOf(const py::object& directory) {
  const BufferView view(directory, BufferView::Access::kRead);
  const std::optional<std::vector<ZipEntry>> entries = ReadZipDirectory(AsText(view.bytes()));
  if (!entries) throw py::value_error("not a zip directory");
  constexpr std::uint32_t kFolder = 0x10;
  py::list all(entries->size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ZipEntry& entry = (*entries)[i];
    all[i] = py::make_tuple(py::bytes(entry.name), entry.header, entry.crc32, entry.stored_bytes,
                            entry.content_bytes, entry.method, (entry.attributes & kFolder) != 0);
  }
  return all;
}

}  // namespace

void BindArchives(py::module_& module) {
  module.def("find_zip_directory", &FindZipDirectoryOf, "tail"_a, "size"_a,
             "Returns (start, end) of the zip directory in a file of `size` bytes that ends with "
             "`tail`; None: not found.");
  module.def("zip_entries", &ZipEntriesOf, "directory"_a,
             "Returns the entries of a zip directory: (name, offset of the local header, CRC-32, "
             "stored bytes, unpacked bytes, method, is a folder). Raises ValueError.");
  Guarded<TensorArchives>(
      module, "TensorArchives",
      "Reads the metadata of torch.save files with one tensor each, without their payload.")
      .def(py::init<>())
      .def("read", &TensorArchives::Read, "archives"_a,
           "Reads archives from a buffer of five 64-bit numbers each: address and bytes of the "
           "head, "
           "bytes of the payload, address and bytes of the tail. Returns a list with one element "
           "per "
           "archive: (dtype, sizes, strides, storage offset, storage bytes); or the offset of the "
           "payload if it is not between head and tail; or None if it is not a plain tensor.");
}

}  // namespace penstock::python
