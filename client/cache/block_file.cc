#include "client/cache/block_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/crc/crc.h"
#include "base/digest.h"
#include "base/encoding.h"
#include "base/io/file_error.h"

namespace penstock::cache {
namespace {

constexpr std::string_view kMagic = "PSTKBLK1";
// Footer: fields, then a trailer of fixed size: length of the fields, their CRC-32C, the magic.
constexpr std::size_t kTrailerBytes = 4 + 4 + kMagic.size();
constexpr std::size_t kMaxFieldBytes = 64 << 10;
constexpr std::size_t kUsualFooterBytes = 2 << 10;
constexpr std::size_t kHashDigits = 64;

Error Damaged(const std::string& what) {
  return Error::Make(ErrorKind::kDataLoss, "a block of the cache is damaged: " + what);
}

void PutNumber(std::string& out, std::uint64_t number, int bytes = 8) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

void PutText(std::string& out, std::string_view text) {
  PutNumber(out, text.size(), 4);
  out += text;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void PutPairs(std::string& out, const Pairs& pairs) {
  PutNumber(out, pairs.size(), 4);
  for (const auto& [name, value] : pairs) {
    PutText(out, name);
    PutText(out, value);
  }
}

// Reads fields in order. After a failure all reads return empty values.
class FieldReader {
 public:
  explicit FieldReader(std::string_view fields) : rest_(fields) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

  std::uint64_t Number(int bytes = 8) {
    std::uint64_t number = 0;
    const std::string_view text = Take(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < text.size(); ++i)
      number |= std::uint64_t{static_cast<std::uint8_t>(text[i])} << (8 * i);
    return number;
  }
  std::string Text() { return std::string(Take(Number(4))); }
  Pairs TextPairs() {
    Pairs pairs;
    for (std::uint64_t left = Number(4); left > 0 && !failed_; --left) {
      std::string name = Text();
      pairs.emplace_back(std::move(name), Text());
    }
    return pairs;
  }

 private:
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

std::string EncodeFields(const BlockHead& head) {
  std::string fields;
  const ObjectMetadata& metadata = head.metadata;
  PutText(fields, head.version.endpoint);
  PutText(fields, head.version.bucket);
  PutText(fields, head.version.key);
  PutText(fields, head.version.etag);
  PutNumber(fields, head.index);
  PutNumber(fields, head.data_bytes);
  PutNumber(fields, head.data_crc, 4);
  PutNumber(fields, head.complete_metadata ? 1 : 0, 1);
  PutNumber(fields, metadata.size);
  PutNumber(fields, static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                   metadata.last_modified.time_since_epoch())
                                                   .count()));
  PutNumber(fields, static_cast<std::uint64_t>(metadata.encryption), 1);
  PutText(fields, metadata.content_type);
  PutText(fields, metadata.storage_class);
  PutText(fields, metadata.version_id.value);
  PutPairs(fields, metadata.checksums);
  PutPairs(fields, metadata.user_metadata);
  return fields;
}

BlockHead DecodeFields(FieldReader& fields) {
  BlockHead head;
  ObjectMetadata& metadata = head.metadata;
  head.version.endpoint = fields.Text();
  head.version.bucket = fields.Text();
  head.version.key = fields.Text();
  head.version.etag = fields.Text();
  head.index = fields.Number();
  head.data_bytes = fields.Number();
  head.data_crc = static_cast<std::uint32_t>(fields.Number(4));
  head.complete_metadata = fields.Number(1) != 0;
  metadata.size = fields.Number();
  metadata.last_modified = WallTime(std::chrono::duration_cast<WallTime::duration>(
      std::chrono::nanoseconds(static_cast<std::int64_t>(fields.Number()))));
  metadata.encryption = static_cast<EncryptionKind>(fields.Number(1));
  metadata.content_type = fields.Text();
  metadata.storage_class = fields.Text();
  metadata.version_id = VersionId(fields.Text());
  metadata.checksums = fields.TextPairs();
  metadata.user_metadata = fields.TextPairs();
  metadata.etag = ETag(head.version.etag);
  return head;
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
  std::string footer = EncodeFields(head);
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
  const std::uint64_t length = trailer.Number(4);
  const std::uint64_t crc = trailer.Number(4);
  if (length + kTrailerBytes > tail.size()) return Damaged("its footer is incomplete");
  const std::string_view text = tail.substr(tail.size() - kTrailerBytes - length, length);
  if (Crc32c(AsBytes(text)) != crc) return Damaged("the checksum of its footer differs");
  FieldReader fields(text);
  BlockHead head = DecodeFields(fields);
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
    const std::uint64_t length = trailer.Number(4) + kTrailerBytes;
    if (length <= tail.size() || length > kMaxFieldBytes || tail.size() == file_bytes) break;
    wanted = static_cast<std::size_t>(length);
  }
  PENSTOCK_ASSIGN(BlockHead head, DecodeFooter(tail, file_bytes));
  if (head.index != id.index || HashOf(head.version) != id.hash)
    return Damaged("it is the block of another object");
  return head;
}

}  // namespace penstock::cache
