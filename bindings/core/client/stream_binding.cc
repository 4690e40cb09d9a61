// ObjectStream: reads an object in order, block by block, fetched ahead.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/exclusive_use.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/new_bytes.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// A `bytes` of this size stays in the CPU cache and on the heap. Larger ones are fresh memory each
// time, which costs more than receiving the data.
constexpr std::size_t kPieceBytes = 1 << 20;
// The most bytes that read_into skips to reach its position.
constexpr std::uint64_t kMaxSkippedBytes = 1ull << 20;

class PyStream {
 public:
  // Objects of up to `whole_bytes` are returned as one `bytes`, larger ones in pieces.
  PyStream(std::unique_ptr<ObjectStream> stream, std::uint64_t begin, std::uint64_t whole_bytes)
      : stream_(std::move(stream), "this stream"), offset_(begin), whole_bytes_(whole_bytes) {}
  PyStream(PyStream&&) = default;

  // Returns the next bytes. Raises StopIteration at the end, also on repeated calls. `wanted`: how
  // many bytes will be read from here on. `used`: how many of the bytes returned before were used.
  py::object Next(std::uint64_t wanted, std::optional<std::uint64_t> used) {
    const ExclusiveUse use(used_by_a_thread_, "a reader");
    CurrentBlock current(*this);
    const auto arrived =
        WithoutGil([&] { return current.Fetch(wanted, used.value_or(UINT64_MAX)); });
    if (!Unwrap(arrived)) throw py::stop_iteration();
    std::size_t size = current.rest().size();
    if (size > kPieceBytes && stream_.Get().metadata()->size > whole_bytes_) size = kPieceBytes;
    py::object bytes = Unwrap(NewBytes(size));
    const MutableByteView memory = BytesMemory(bytes);
    WithoutGil([&] { current.Copy(memory); });
    return bytes;
  }

  // Fills `buffer` with the object's bytes from `position` on, as far as the stream continues
  // without a gap. Skips blocks before `position`. Returns 0 if the stream is after `position`, or
  // too far before it.
  std::uint64_t ReadInto(std::uint64_t position, const py::object& buffer) {
    const ExclusiveUse use(used_by_a_thread_, "a reader");
    const BufferView view(buffer, BufferView::Access::kWrite);
    MutableByteView rest = view.writable();
    AdviseHugePages(rest);
    auto result = WithoutGil([&]() -> Result<std::uint64_t> {
      CurrentBlock current(*this);
      std::uint64_t skipped = 0;
      while (!rest.empty()) {
        PENSTOCK_ASSIGN(const bool here, current.Fetch(rest.size()));
        if (!here || position < offset_) break;
        const std::uint64_t ahead = position - offset_;
        if (ahead > 0) {
          const std::uint64_t step = std::min<std::uint64_t>(ahead, current.rest().size());
          skipped += step;
          if (skipped > kMaxSkippedBytes) break;
          current.Advance(step);
          continue;
        }
        const std::size_t count = std::min(rest.size(), current.rest().size());
        current.Copy(rest.first(count));
        rest = rest.subspan(count);
        position += count;
      }
      return view.writable().size() - rest.size();
    });
    return Unwrap(std::move(result));
  }

  std::uint64_t tell() const { return offset_; }
  std::uint64_t asked_until() const { return stream_.Get().asked_until(); }
  std::optional<ObjectMetadata> metadata() const { return stream_.Get().metadata(); }
  std::optional<std::uint64_t> prefix_crc() const { return stream_.Get().prefix_crc(); }

 private:
  // The block that a call reads from. The unused rest is returned to the stream, which may need its
  // memory before the next call.
  class CurrentBlock {
   public:
    explicit CurrentBlock(PyStream& stream) : stream_(stream) {}
    ~CurrentBlock() {
      if (block_.size > 0) stream_.stream_.Get().Unread(std::move(block_));
    }
    CurrentBlock(const CurrentBlock&) = delete;
    CurrentBlock& operator=(const CurrentBlock&) = delete;

    // Gets a block with unused bytes. Returns false at the end.
    Result<bool> Fetch(std::uint64_t wanted, std::uint64_t used = UINT64_MAX) {
      while (block_.size == 0) {
        PENSTOCK_ASSIGN(std::optional<StreamBlock> block,
                        stream_.stream_.Get().Next(SignalPending, wanted, used));
        if (!block) return false;
        block_ = std::move(*block);
        stream_.offset_ = block_.offset;
      }
      return true;
    }

    ByteView rest() const { return {block_.data.get(), block_.size}; }

    void Copy(MutableByteView to) {
      std::memcpy(to.data(), block_.data.get(), to.size());
      Advance(to.size());
    }

    void Advance(std::size_t count) {
      block_.offset += count;
      block_.size -= count;
      stream_.offset_ += count;
      if (block_.size == 0) {
        block_ = {};  // frees its memory for the next block
      } else {
        block_.data = std::shared_ptr<const std::byte[]>(block_.data, block_.data.get() + count);
      }
    }

   private:
    PyStream& stream_;
    StreamBlock block_;
  };

  ProcessBound<ObjectStream> stream_;
  std::uint64_t offset_;  // offset of the next byte in the object
  std::uint64_t whole_bytes_;
  // Guarded by the GIL, which is released while the call waits for bytes and copies them.
  bool used_by_a_thread_ = false;
};

using StreamPointer = std::unique_ptr<PyStream, DeleteWithoutGil<PyStream>>;

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
using Checksums = std::vector<std::pair<std::string, std::string>>;

StreamPointer Open(const PyClient& client, Text<"bucket"> bucket, Text<"key"> key,
                   Named<"start", std::uint64_t> start,
                   Named<"end", std::optional<std::uint64_t>> end,
                   Named<"size", std::optional<std::uint64_t>> size,
                   Named<"etag", std::optional<std::string>> etag,
                   Named<"part_size", std::uint64_t> part_size, Named<"read_ahead", int> read_ahead,
                   Named<"first_part", std::optional<std::uint64_t>> first_part,
                   const Ranges& ranges, Checksums checksums,
                   const std::vector<std::pair<std::uint64_t, py::bytes>>& elsewhere,
                   Text<"version_id"> version, std::optional<std::uint64_t> prefix_crc,
                   Named<"listed_etag", std::optional<std::string>> listed) {
  ObjectStream::Source source;
  source.bucket = BucketName(std::move(bucket.value));
  source.key = ObjectKey(std::move(key.value));
  source.begin = start.value;
  source.end = end.value;
  source.known_size = size.value;
  if (etag.value) source.known_etag = ETag(std::move(*etag.value));
  if (listed.value) source.listed_etag = ETag(std::move(*listed.value));
  source.version_id = VersionId(std::move(version.value));
  for (const auto& [first, last] : ranges) source.ranges.push_back({first, last});
  source.known_checksums = std::move(checksums);
  source.prefix_crc = prefix_crc;
  for (const auto& [begin, bytes] : elsewhere)
    source.already_read.push_back({begin, AsBytes(std::string_view(bytes))});
  StreamOptions options;
  options.part_size_bytes = part_size.value;
  options.read_ahead_parts = read_ahead.value;
  options.first_part_bytes = first_part.value;
  auto stream =
      WithoutGil([&] { return ObjectStream::Open(client.client, std::move(source), options); });
  return StreamPointer(new PyStream(std::move(stream), start.value, part_size.value));
}

}  // namespace

void BindStream(py::module_& module) {
  py::class_<PyStream, StreamPointer>(module, "Stream", "Iterator over an object's bytes in order.")
      .def(py::init(&Open), "client"_a, "bucket"_a, "key"_a, "start"_a = 0, "end"_a = py::none(),
           "size"_a = py::none(), "etag"_a = py::none(), "part_size"_a = 8u << 20,
           "read_ahead"_a = 4, "first_part"_a = py::none(), "ranges"_a = Ranges(),
           "checksums"_a = Checksums(),
           "elsewhere"_a = std::vector<std::pair<std::uint64_t, py::bytes>>(), "version_id"_a = "",
           "prefix_crc"_a = py::none(), "listed_etag"_a = py::none())
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", [](PyStream& self) { return self.Next(0, std::nullopt); })
      .def("next_block", &PyStream::Next, "wanted"_a, "used"_a = py::none())
      .def("read_into", &PyStream::ReadInto, "position"_a, "buffer"_a)
      .def("tell", &PyStream::tell)
      .def("asked_until", &PyStream::asked_until)
      .def_property_readonly("metadata", &PyStream::metadata)
      .def_property_readonly("prefix_crc", &PyStream::prefix_crc);
}

}  // namespace penstock::python
