#include "client/cache/block_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ratio>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/io/file_error.h"

namespace penstock::cache {
namespace {

constexpr std::string_view kMagic = "PSTKBLK2";
// Footer: fields, then a trailer of fixed size: length of the fields, their CRC-32C, the magic.
constexpr std::size_t kTrailerBytes = 4 + 4 + kMagic.size();
constexpr std::size_t kUsualFooterBytes = 2 << 10;
constexpr std::size_t kHashDigits = 64;

Error Damaged(const std::string& what) {
  return Error::Make(ErrorKind::kDataLoss, "a block of the cache is damaged: " + what);
}

void PutNumber(std::string& out, std::uint64_t number, int bytes = 8) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Nanoseconds = std::chrono::duration<std::int64_t, std::nano>;

// Appends values.
class FieldWriter {
 public:
  void operator()(std::uint64_t number) { PutNumber(out_, number); }
  void operator()(std::uint32_t number) { PutNumber(out_, number, 4); }
  void operator()(bool flag) { PutNumber(out_, flag ? 1 : 0, 1); }
  void operator()(int number) { PutNumber(out_, static_cast<std::uint32_t>(number), 4); }
  void operator()(const std::string& text) {
    PutNumber(out_, text.size(), 4);
    out_ += text;
  }
  void operator()(WallTime time) {
    (*this)(static_cast<std::uint64_t>(
        std::chrono::duration_cast<Nanoseconds>(time.time_since_epoch()).count()));
  }
  void operator()(const Pairs& pairs) {
    PutNumber(out_, pairs.size(), 4);
    for (const auto& [name, value] : pairs) {
      (*this)(name);
      (*this)(value);
    }
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum value) { PutNumber(out_, static_cast<std::uint64_t>(value), 1); }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  // Writes whether `group` is set. Returns its members to write, if so.
  template <class T>
  const T* Group(const Sparse<T>& group) {
    (*this)(group.has_value());
    return group.has_value() ? &*group : nullptr;
  }

  std::string Take() && { return std::move(out_); }

 private:
  std::string out_;
};

// Reads values in the order in which they were written. After a failure all reads give empty
// values.
class FieldReader {
 public:
  explicit FieldReader(std::string_view fields) : rest_(fields) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

  void operator()(std::uint64_t& number) { number = Number(8); }
  void operator()(std::uint32_t& number) { number = static_cast<std::uint32_t>(Number(4)); }
  void operator()(bool& flag) { flag = Number(1) != 0; }
  void operator()(int& number) { number = static_cast<int>(static_cast<std::uint32_t>(Number(4))); }
  void operator()(std::string& text) { text = Take(Number(4)); }
  void operator()(WallTime& time) {
    const Nanoseconds since(static_cast<std::int64_t>(Number(8)));
    time = WallTime(std::chrono::duration_cast<WallTime::duration>(since));
  }
  void operator()(Pairs& pairs) {
    for (std::uint64_t left = Number(4); left > 0 && !failed_; --left) {
      auto& [name, value] = pairs.emplace_back();
      (*this)(name);
      (*this)(value);
    }
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum& value) { value = static_cast<Enum>(Number(1)); }
  template <class T>
  void operator()(std::optional<T>& value) {
    bool set = false;
    (*this)(set);
    if (set) (*this)(value.emplace());
  }
  template <class T>
  T* Group(Sparse<T>& group) {
    bool set = false;
    (*this)(set);
    return set ? &group.Edit() : nullptr;
  }

 private:
  std::uint64_t Number(int bytes) {
    std::uint64_t number = 0;
    const std::string_view text = Take(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < text.size(); ++i)
      number |= std::uint64_t{static_cast<std::uint8_t>(text[i])} << (8 * i);
    return number;
  }
  std::string_view Take(std::uint64_t bytes) {
    failed_ = failed_ || bytes > rest_.size();
    if (failed_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  bool failed_ = false;
};

// These functions write and read the members in the same order. They name all members, so a new
// member does not compile until it is stored. Another order or member needs another kMagic and
// another folder (cache_folder.cc).

template <class Codec, class Details>
void VisitDetails(Codec& codec, Details& details) {
  auto& [cache_control, content_encoding, content_disposition, content_language, expires,
         website_redirect, kms_key_id, bucket_key, customer_key_md5, lock, expiration,
         replication_status, archive_status, tag_count, missing_metadata] = details;
  auto& [mode, retain_until, legal_hold] = lock;
  codec(cache_control);
  codec(content_encoding);
  codec(content_disposition);
  codec(content_language);
  codec(expires);
  codec(website_redirect);
  codec(kms_key_id);
  codec(bucket_key);
  codec(customer_key_md5);
  codec(mode);
  codec(retain_until);
  codec(legal_hold);
  codec(expiration);
  codec(replication_status);
  codec(archive_status);
  codec(tag_count);
  codec(missing_metadata);
}

// Without the ETag, which is that of the version, and the range, which is that of one response.
template <class Codec, class Metadata>
void VisitMetadata(Codec& codec, Metadata& metadata) {
  auto& [size, etag, last_modified, content_type, storage_class, version_id, restore, checksums,
         user_metadata, range, encryption, parts_count, details] = metadata;
  codec(size);
  codec(last_modified);
  codec(encryption);
  codec(content_type);
  codec(storage_class);
  codec(version_id.value);
  codec(restore);
  codec(checksums);
  codec(user_metadata);
  codec(parts_count);
  if (auto* const group = codec.Group(details)) VisitDetails(codec, *group);
}

template <class Codec, class Head>
void VisitHead(Codec& codec, Head& head) {
  auto& [version, index, data_bytes, data_crc, complete_metadata, metadata] = head;
  auto& [endpoint, bucket, key, etag] = version;
  codec(endpoint);
  codec(bucket);
  codec(key);
  codec(etag);
  codec(index);
  codec(data_bytes);
  codec(data_crc);
  codec(complete_metadata);
  VisitMetadata(codec, metadata);
}

}  // namespace

std::string HashOf(const ObjectVersion& version) {
  Digester digester(DigestAlgorithm::kSha256);
  for (const std::string* part :
       {&version.endpoint, &version.bucket, &version.key, &version.etag}) {
    std::string length;
    PutNumber(length, part->size());
    digester.Update(AsBytes(length));
    digester.Update(AsBytes(*part));
  }
  return HexEncode(AsBytes(digester.Finish()));
}

std::string BlockId::Path() const {
  return hash.substr(0, 2) + "/" + hash.substr(2) + "." + std::to_string(index);
}

std::optional<BlockId> ParseBlockPath(std::string_view folder, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (folder.size() != 2 || dot != kHashDigits - 2) return std::nullopt;
  BlockId id{std::string(folder) + std::string(name.substr(0, dot))};
  if (!HexDecode(id.hash)) return std::nullopt;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + dot + 1, last, id.index);
  if (error != std::errc{} || end != last) return std::nullopt;
  return id;
}

std::uint64_t BytesOfBlock(std::uint64_t index, std::uint64_t object_bytes) {
  const std::uint64_t begin = index * kCacheBlockBytes;
  return begin >= object_bytes ? 0 : std::min(kCacheBlockBytes, object_bytes - begin);
}

std::string EncodeFooter(const BlockHead& head) {
  FieldWriter fields;
  VisitHead(fields, head);
  std::string footer = std::move(fields).Take();
  const std::size_t length = footer.size();
  const std::uint32_t crc = Crc32c(AsBytes(footer));
  PutNumber(footer, length, 4);
  PutNumber(footer, crc, 4);
  footer += kMagic;
  return footer;
}

Result<BlockHead> DecodeFooter(std::string_view tail, std::uint64_t file_bytes) {
  if (tail.size() < kTrailerBytes || !tail.ends_with(kMagic)) return Damaged("it has no footer");
  FieldReader trailer(tail.substr(tail.size() - kTrailerBytes));
  std::uint32_t fields_bytes = 0, crc = 0;
  trailer(fields_bytes);
  trailer(crc);
  const std::uint64_t length = fields_bytes;
  if (length + kTrailerBytes > tail.size()) return Damaged("its footer is incomplete");
  const std::string_view text = tail.substr(tail.size() - kTrailerBytes - length, length);
  if (Crc32c(AsBytes(text)) != crc) return Damaged("the checksum of its footer differs");
  FieldReader fields(text);
  BlockHead head;
  VisitHead(fields, head);
  head.metadata.etag = ETag(head.version.etag);
  if (fields.failed() || !fields.at_end() || head.data_bytes == 0 ||
      head.index > UINT64_MAX / kCacheBlockBytes ||
      head.data_bytes != BytesOfBlock(head.index, head.metadata.size) ||
      file_bytes != head.data_bytes + length + kTrailerBytes)
    return Damaged("its footer does not fit its size");
  return head;
}

Result<void> ReadAt(int fd, MutableByteView into, std::uint64_t offset) {
  while (!into.empty()) {
    const ::ssize_t count = ::pread(fd, into.data(), into.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError("read", "a block of the cache", errno);
    if (count == 0) return Damaged("it is too short");
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return Ok();
}

Result<BlockHead> ReadHead(int fd, const BlockId& id, std::uint64_t file_bytes) {
  std::string tail;
  for (std::size_t wanted = kUsualFooterBytes;;) {
    tail.resize(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, file_bytes)));
    PENSTOCK_TRY(ReadAt(fd, std::as_writable_bytes(std::span(tail)), file_bytes - tail.size()));
    if (tail.size() < kTrailerBytes) return Damaged("it has no footer");
    FieldReader trailer(std::string_view(tail).substr(tail.size() - kTrailerBytes));
    std::uint32_t fields_bytes = 0;
    trailer(fields_bytes);
    const std::uint64_t length = fields_bytes + kTrailerBytes;
    if (length <= tail.size() || length > kMaxFooterBytes || tail.size() == file_bytes) break;
    wanted = static_cast<std::size_t>(length);
  }
  PENSTOCK_ASSIGN(BlockHead head, DecodeFooter(tail, file_bytes));
  if (head.index != id.index || HashOf(head.version) != id.hash)
    return Damaged("it is the block of another object");
  return head;
}

}  // namespace penstock::cache
