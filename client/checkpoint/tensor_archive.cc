// Finds the parts of a torch.save file with one tensor by its zip directory.
#include "penstock/tensor_archive.h"

#include "client/checkpoint/archive_index.h"
#include "penstock/zip_directory.h"

namespace penstock {
namespace {

using checkpoint::ArchiveIndex;
using checkpoint::ArchiveRecord;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

// The records that a tensor has exactly once. `byte_order`: null before torch 2.1, which wrote
// little-endian files on the processors that it supported.
struct Records {
  const ArchiveRecord* pickle = nullptr;
  const ArchiveRecord* byte_order = nullptr;
  const ArchiveRecord* payload = nullptr;
};

std::optional<Records> FindRecords(const ArchiveIndex& index) {
  Records records;
  for (const ArchiveRecord& record : index.records) {
    const ArchiveRecord** slot = nullptr;
    if (record.name == "data.pkl") slot = &records.pickle;
    if (record.name == "byteorder") slot = &records.byte_order;
    if (record.name.starts_with("data/")) slot = &records.payload;
    if (slot == nullptr) continue;
    if (*slot != nullptr) return std::nullopt;
    *slot = &record;
  }
  if (!records.pickle || !records.payload || index.is_script() || !index.foreign.empty())
    return std::nullopt;
  return records;
}

class Reader {
 public:
  explicit Reader(const ArchiveEnds& ends)
      : head_(AsText(ends.head)),
        tail_(AsText(ends.tail)),
        tail_begin_(head_.size() + ends.between) {}

  std::optional<TensorArchive> Read() {
    const std::uint64_t archive_bytes = tail_begin_ + tail_.size();
    const std::optional<ZipDirectory> found = FindZipDirectory(tail_, archive_bytes);
    if (!found || found->trailing_bytes != 0) return std::nullopt;
    const auto directory = Bytes(found->begin, found->end - found->begin);
    if (!directory) return std::nullopt;
    const auto index = checkpoint::ReadArchiveIndex(*directory, found->entries, archive_bytes);
    const auto records = index.ok() ? FindRecords(*index) : std::nullopt;
    if (!records) return std::nullopt;
    const std::optional<std::string_view> pickle = Content(*records->pickle);
    const std::optional<std::string_view> byte_order =
        records->byte_order != nullptr ? Content(*records->byte_order) : "little";
    const std::optional<std::uint64_t> begin = ContentBegin(*records->payload);
    if (!pickle || byte_order != "little" || !begin) return std::nullopt;
    const std::uint64_t payload = records->payload->bytes;
    if (*begin > archive_bytes || payload > archive_bytes - *begin) return std::nullopt;
    if (payload > 0 && records->payload->crc32 == 0 && !LacksCrc(*records->payload, *begin))
      return std::nullopt;
    return TensorArchive{*pickle, records->payload->name.substr(5), *begin, payload,
                         records->payload->crc32};
  }

 private:
  // Returns the bytes if all of them are in the head or the tail.
  std::optional<std::string_view> Bytes(std::uint64_t begin, std::uint64_t size) const {
    if (begin >= tail_begin_) {
      begin -= tail_begin_;
      if (begin > tail_.size() || size > tail_.size() - begin) return std::nullopt;
      return tail_.substr(begin, size);
    }
    if (begin > head_.size() || size > head_.size() - begin) return std::nullopt;
    return head_.substr(begin, size);
  }
  std::optional<std::uint64_t> ContentBegin(const ArchiveRecord& record) const {
    const auto header = Bytes(record.header, kZipLocalHeaderBytes);
    const auto offset = header ? ZipContentOffset(*header) : std::nullopt;
    if (!offset) return std::nullopt;
    return record.header + *offset;
  }
  std::optional<std::string_view> Content(const ArchiveRecord& record) const {
    const auto begin = ContentBegin(record);
    return begin ? Bytes(*begin, record.bytes) : std::nullopt;
  }

  bool LacksCrc(const ArchiveRecord& record, std::uint64_t begin) const {
    const auto header = Bytes(record.header, kZipLocalHeaderBytes);
    const auto descriptor = Bytes(begin + record.bytes, 12);  // the data descriptor
    return header && IsSavedWithoutCrc(*header, descriptor.value_or(""), record.bytes);
  }

  const std::string_view head_;
  const std::string_view tail_;
  const std::uint64_t tail_begin_;
};

}  // namespace

std::optional<TensorArchive> ReadTensorArchive(const ArchiveEnds& ends) {
  if (ends.between > kMaxBytes) return std::nullopt;
  return Reader(ends).Read();
}

}  // namespace penstock
