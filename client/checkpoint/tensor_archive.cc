// Finds the parts of a torch.save file by its zip directory.
#include "penstock/tensor_archive.h"

#include <algorithm>

#include "penstock/zip_directory.h"

namespace penstock {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

struct Record {
  std::string_view name;
  std::uint64_t header = 0;  // offset of its local header
  std::uint64_t bytes = 0;
};

class Reader {
 public:
  explicit Reader(const ArchiveEnds& ends)
      : head_(AsText(ends.head)),
        tail_(AsText(ends.tail)),
        tail_begin_(head_.size() + ends.between) {}

  std::optional<TensorArchive> Read() {
    if (!ReadDirectory()) return std::nullopt;
    if (!payload_ || !pickle_ || !byte_order_ || extra_) return std::nullopt;
    const std::optional<std::string_view> pickle = Content(*pickle_);
    const std::optional<std::string_view> byte_order = Content(*byte_order_);
    const std::optional<std::uint64_t> begin = ContentBegin(*payload_);
    if (!pickle || byte_order != "little" || !begin) return std::nullopt;
    const std::uint64_t archive_bytes = tail_begin_ + tail_.size();
    if (*begin > archive_bytes || payload_->bytes > archive_bytes - *begin) return std::nullopt;
    return TensorArchive{*pickle, payload_->name, *begin, payload_->bytes};
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

  bool ReadDirectory() {
    const std::optional<ZipDirectory> found = FindZipDirectory(tail_, tail_begin_ + tail_.size());
    if (!found || found->trailing_bytes != 0) return false;
    const auto directory = Bytes(found->begin, found->end - found->begin);
    const auto entries = directory ? ReadZipDirectory(*directory) : std::nullopt;
    return entries && entries->size() == found->entries &&
           std::all_of(entries->begin(), entries->end(), [this](const ZipEntry& entry) {
             return entry.method == 0 && !entry.encrypted &&
                    entry.stored_bytes == entry.content_bytes &&
                    Place({entry.name, entry.header, entry.stored_bytes});
           });
  }

  // The folder of the first name is the folder of the archive.
  bool Place(Record record) {
    const std::size_t slash = record.name.find('/');
    if (slash == std::string_view::npos) return false;
    if (folder_.empty()) folder_ = record.name.substr(0, slash + 1);
    if (!record.name.starts_with(folder_)) return false;
    const std::string_view name = record.name.substr(folder_.size());
    std::optional<Record>* place = nullptr;
    if (name == "data.pkl") place = &pickle_;
    if (name == "byteorder") place = &byte_order_;
    if (name.starts_with("data/")) {
      place = &payload_;
      record.name = name.substr(5);
    }
    extra_ = extra_ || name == "constants.pkl";  // TorchScript
    if (!place) return true;
    if (*place) return false;
    *place = record;
    return true;
  }

  std::optional<std::uint64_t> ContentBegin(const Record& record) const {
    const auto header = Bytes(record.header, kZipLocalHeaderBytes);
    const auto offset = header ? ZipContentOffset(*header) : std::nullopt;
    if (!offset) return std::nullopt;
    return record.header + *offset;
  }
  std::optional<std::string_view> Content(const Record& record) const {
    const auto begin = ContentBegin(record);
    return begin ? Bytes(*begin, record.bytes) : std::nullopt;
  }

  const std::string_view head_;
  const std::string_view tail_;
  const std::uint64_t tail_begin_;
  std::string_view folder_;
  std::optional<Record> pickle_;
  std::optional<Record> byte_order_;
  std::optional<Record> payload_;
  bool extra_ = false;
};

}  // namespace

std::optional<TensorArchive> ReadTensorArchive(const ArchiveEnds& ends) {
  if (ends.between > kMaxBytes) return std::nullopt;
  return Reader(ends).Read();
}

}  // namespace penstock
