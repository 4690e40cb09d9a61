// Reads the zip directory of a torch.save file. Section numbers refer to PKWARE's
// APPNOTE.TXT 6.3.10.
#include "penstock/tensor_archive.h"

#include <cstring>

namespace penstock {
namespace {

constexpr std::size_t kEndBytes = 22;        // 4.3.16, without a comment
constexpr std::size_t kLocatorBytes = 20;    // 4.3.15
constexpr std::size_t kEnd64Bytes = 56;      // 4.3.14
constexpr std::size_t kEntryBytes = 46;      // 4.3.12
constexpr std::size_t kLocalBytes = 30;      // 4.3.7
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // 4.4.1.4: the value is in the zip64 field
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;

template <class Number>
Number At(std::string_view bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return static_cast<Number>(value);
}

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
    if (!FindDirectory() || !ReadDirectory()) return std::nullopt;
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

  bool FindDirectory() {
    if (tail_.size() < kEndBytes) return false;
    const std::size_t at = tail_.size() - kEndBytes;
    const std::string_view end = tail_.substr(at);
    if (end.substr(0, 4) != "PK\5\6" || At<std::uint16_t>(end, 20) != 0) return false;
    std::uint64_t size = At<std::uint32_t>(end, 12);
    std::uint64_t begin = At<std::uint32_t>(end, 16);
    entries_ = At<std::uint16_t>(end, 10);
    if (at >= kLocatorBytes &&
        tail_.substr(at - kLocatorBytes, 4) == std::string_view("PK\6\7", 4)) {
      const auto end64 = Bytes(At<std::uint64_t>(tail_, at - kLocatorBytes + 8), kEnd64Bytes);
      if (!end64 || end64->substr(0, 4) != "PK\6\6") return false;
      entries_ = At<std::uint64_t>(*end64, 32);
      size = At<std::uint64_t>(*end64, 40);
      begin = At<std::uint64_t>(*end64, 48);
    }
    const auto directory = Bytes(begin, size);
    if (directory) directory_ = *directory;
    return directory.has_value();
  }

  bool ReadDirectory() {
    std::string_view left = directory_;
    for (std::uint64_t i = 0; i < entries_; ++i) {
      if (left.size() < kEntryBytes || left.substr(0, 4) != "PK\1\2") return false;
      const std::size_t name = At<std::uint16_t>(left, 28);
      const std::size_t extra = At<std::uint16_t>(left, 30);
      const std::size_t all = kEntryBytes + name + extra + At<std::uint16_t>(left, 32);
      if (left.size() < all) return false;
      Record record{left.substr(kEntryBytes, name), At<std::uint32_t>(left, 42),
                    At<std::uint32_t>(left, 24)};
      const bool stored = At<std::uint16_t>(left, 10) == 0 && (At<std::uint16_t>(left, 8) & 1) == 0;
      const std::uint32_t packed = At<std::uint32_t>(left, 20);
      if (!stored || !Widen(left.substr(kEntryBytes + name, extra), packed, record)) return false;
      if (!Place(record)) return false;
      left.remove_prefix(all);
    }
    return left.empty();
  }

  // 4.5.3: the zip64 field has the values that did not fit, in this order.
  static bool Widen(std::string_view extra, std::uint32_t packed, Record& record) {
    std::uint64_t packed_bytes = packed;
    std::vector<std::uint64_t*> wide;
    if (record.bytes == kIn64) wide.push_back(&record.bytes);
    if (packed == kIn64) wide.push_back(&packed_bytes);
    if (record.header == kIn64) wide.push_back(&record.header);
    while (!wide.empty()) {
      if (extra.size() < 4) return false;
      const std::size_t size = At<std::uint16_t>(extra, 2);
      if (extra.size() - 4 < size) return false;
      if (At<std::uint16_t>(extra, 0) == 1) {
        if (size < 8 * wide.size()) return false;
        for (std::size_t i = 0; i < wide.size(); ++i)
          *wide[i] = At<std::uint64_t>(extra, 4 + 8 * i);
        break;
      }
      extra.remove_prefix(4 + size);
    }
    return packed_bytes == record.bytes && record.bytes < kMaxBytes && record.header < kMaxBytes;
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
    const auto header = Bytes(record.header, kLocalBytes);
    if (!header || header->substr(0, 4) != "PK\3\4") return std::nullopt;
    return record.header + kLocalBytes + At<std::uint16_t>(*header, 26) +
           At<std::uint16_t>(*header, 28);
  }
  std::optional<std::string_view> Content(const Record& record) const {
    const auto begin = ContentBegin(record);
    return begin ? Bytes(*begin, record.bytes) : std::nullopt;
  }

  const std::string_view head_;
  const std::string_view tail_;
  const std::uint64_t tail_begin_;
  std::uint64_t entries_ = 0;
  std::string_view directory_;
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
