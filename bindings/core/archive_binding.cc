// TensorArchives: what the items of a distributed checkpoint say of themselves.
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

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// One archive of torch.save whose payload may be elsewhere.
struct Place {
  std::uint64_t head;
  std::uint64_t head_bytes;
  std::uint64_t between;
  std::uint64_t tail;
  std::uint64_t tail_bytes;
};

ByteView MemoryAt(std::uint64_t address, std::uint64_t size) {
  return {reinterpret_cast<const std::byte*>(address),
          size};  // NOLINT(performance-no-int-to-ptr): the caller holds it
}

py::tuple TupleOf(const std::vector<std::int64_t>& numbers) {
  py::tuple tuple(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) tuple[i] = py::int_(numbers[i]);
  return tuple;
}

// Most tensors of a checkpoint share a few pickles: each is read once.
class TensorArchives {
 public:
  py::list Read(const py::object& archives) {
    const BufferView view(archives, BufferView::Access::kRead);
    const ByteView bytes = view.bytes();
    if (bytes.size() % sizeof(Place) != 0) {
      throw py::value_error("archives has " + std::to_string(bytes.size()) +
                            " bytes; it takes whole quintuples of 64-bit numbers");
    }
    py::list all(bytes.size() / sizeof(Place));
    for (std::size_t i = 0; i < all.size(); ++i) {
      Place place{};
      std::memcpy(&place, bytes.data() + i * sizeof(Place), sizeof place);
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

  py::object ReadOne(const Place& place) {
    const std::optional<TensorArchive> archive =
        ReadTensorArchive({MemoryAt(place.head, place.head_bytes), place.between,
                           MemoryAt(place.tail, place.tail_bytes)});
    if (!archive) return py::none();
    auto found = known_.find(std::string(archive->pickle));
    if (found == known_.end()) {
      const std::optional<PickledTensor> tensor = ReadTensorPickle(archive->pickle);
      if (!tensor) return py::none();
      if (known_.size() >= kMostKnown) known_.clear();
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

  static constexpr std::size_t kMostKnown = 4096;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace

void BindArchives(py::module_& module) {
  Guarded<TensorArchives>(module, "TensorArchives",
                          "Reads what torch.save files of one tensor say, but for their payload.")
      .def(py::init<>())
      .def("read", &TensorArchives::Read, "archives"_a,
           "archives: 64-bit quintuples (address and bytes of the head, bytes of the payload, "
           "address and bytes of the tail). Of "
           "each (dtype, sizes, strides, storage offset, storage bytes); where its payload begins, "
           "if it is not where it was "
           "taken for; or None: no plain tensor.");
}

}  // namespace penstock::python
