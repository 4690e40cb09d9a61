#include "emulator/faults/actions/corrupt_body.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::faults {
namespace {

class TextBlob final : public store::Blob {
 public:
  explicit TextBlob(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  std::optional<ByteView> Memory() const override { return AsBytes(text_); }
  int FileDescriptor() const override { return -1; }

 private:
  const std::string text_;
};

MutableByteView Writable(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

Result<void> ReadBody(const s3::Response& response, std::uint64_t offset, MutableByteView into) {
  if (const auto* text = std::get_if<std::string>(&response.body)) {
    std::memcpy(into.data(), text->data() + offset, into.size());
    return Ok();
  }
  return store::ReadContent(std::get<store::Content>(response.body), offset, into);
}

// Replaces as many bytes as `piece` has. The body must be a store::Content.
void Splice(s3::Response& response, std::uint64_t offset, const store::Content& piece) {
  const auto& old = std::get<store::Content>(response.body);
  const std::uint64_t end = offset + piece.size();
  store::Content fresh = old.Sub({0, offset});
  fresh.slices.insert(fresh.slices.end(), piece.slices.begin(), piece.slices.end());
  for (store::ContentSlice& slice : old.Sub({end, old.size()}).slices)
    fresh.slices.push_back(std::move(slice));
  std::erase_if(fresh.slices,
                [](const store::ContentSlice& slice) { return slice.range.size() == 0; });
  response.body = std::move(fresh);
}

void ReplaceBytes(s3::Response& response, std::uint64_t offset, std::string bytes) {
  if (auto* text = std::get_if<std::string>(&response.body)) {
    text->replace(offset, bytes.size(), bytes);
    return;
  }
  const std::uint64_t size = bytes.size();
  Splice(response, offset, {.slices = {{std::make_shared<TextBlob>(std::move(bytes)), {0, size}}}});
}

// The offset of the body within the object.
std::uint64_t BodyOffset(const s3::Response& response) {
  constexpr std::string_view kUnit = "bytes ";
  const std::string_view range = response.Find("Content-Range").value_or(std::string_view());
  if (!range.starts_with(kUnit)) return 0;
  return s3::ParseDecimal(range.substr(kUnit.size(), range.find('-') - kUnit.size())).value_or(0);
}

// Returns false if a content cannot be read.
bool ContentsDiffer(const store::Content& one, const store::Content& other) {
  std::string left(256 << 10, '\0');
  std::string right(left.size(), '\0');
  for (std::uint64_t at = 0; at < one.size(); at += left.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(left.size(), one.size() - at);
    if (!store::ReadContent(one, at, Writable(left).first(count)).ok()) return false;
    if (!store::ReadContent(other, at, Writable(right).first(count)).ok()) return false;
    if (std::string_view(left).substr(0, count) != std::string_view(right).substr(0, count))
      return true;
  }
  return false;
}

// Replaces bytes by those of the previous version at the same offset, up to its end.
bool SpliceStale(s3::Response& response, std::uint64_t offset, std::uint64_t length,
                 const store::ObjectRecord& before) {
  const auto* const body = std::get_if<store::Content>(&response.body);
  const std::uint64_t begin = BodyOffset(response) + offset;
  if (body == nullptr || begin >= before.size) return false;
  const std::uint64_t count =
      std::min({body->size() - offset, before.size - begin, length == 0 ? UINT64_MAX : length});
  const store::Content stale = before.content.Sub({begin, begin + count});
  if (!ContentsDiffer(body->Sub({offset, offset + count}), stale)) return false;
  Splice(response, offset, stale);
  return true;
}

// Copies the preceding block, or the following one at the start of the body, up to the end of the
// body.
Result<void> RepeatBlock(const s3::Response& response, std::uint64_t offset, std::string& bytes) {
  const std::uint64_t size = s3::BodySize(response);
  const std::uint64_t from =
      offset >= bytes.size() ? offset - bytes.size() : std::min(offset + bytes.size(), size);
  const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), size - from);
  return ReadBody(response, from, Writable(bytes).first(count));
}

Result<void> CorruptBytes(const s3::Response& response, std::uint64_t offset, CorruptKind kind,
                          std::string& bytes) {
  switch (kind) {
    case CorruptKind::kFlipBit:
      for (char& c : bytes) c = static_cast<char>(c ^ 1);
      return Ok();
    case CorruptKind::kZero: std::fill(bytes.begin(), bytes.end(), '\0'); return Ok();
    case CorruptKind::kRepeatBlock: return RepeatBlock(response, offset, bytes);
    case CorruptKind::kSwapHalves:
      std::rotate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2),
                  bytes.end());
      return Ok();
    case CorruptKind::kStaleVersion: break;  // Handled by SpliceStale.
  }
  return Ok();
}

// Passes the whole body to `take`, in pieces.
template <class Take>
Result<void> ForBody(const s3::Response& response, Take take) {
  std::string piece(256 << 10, '\0');
  const std::uint64_t size = s3::BodySize(response);
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    const MutableByteView into =
        Writable(piece).first(std::min<std::uint64_t>(piece.size(), size - at));
    PENSTOCK_TRY(ReadBody(response, at, into));
    take(into);
  }
  return Ok();
}

bool IsMd5ETag(std::string_view name, std::string_view value) {
  constexpr std::size_t kQuotedMd5 = 34;
  return s3::EqualsIgnoreCase(name, "etag") && value.size() == kQuotedMd5;
}

bool IsWholeObject(const s3::Response& response) {
  const auto range = response.Find("Content-Range");
  const std::string size = std::to_string(s3::BodySize(response));
  return !range || (BodyOffset(response) == 0 && range->ends_with("/" + size));
}

// Sets the headers with digests of the body to the digest of the corrupted body. A checksum that is
// not composite is the one of the body, which is the whole object or a part of it; an MD5 ETag is
// the one of the whole object.
Result<void> FixChecksums(s3::Response& response) {
  const bool whole_object = IsWholeObject(response);
  for (auto& [name, value] : response.headers) {
    const s3::ChecksumInfo* const info = s3::FindChecksumHeader(name);
    if (info != nullptr && value.find('-') == std::string::npos) {
      s3::ChecksumDigester digester(info->algorithm);
      PENSTOCK_TRY(ForBody(response, [&](ByteView bytes) { digester.Update(bytes); }));
      value = digester.Finish();
    } else if (whole_object && IsMd5ETag(name, value)) {
      s3::ChecksumDigester digester(s3::ChecksumAlgorithm::kMd5);
      PENSTOCK_TRY(ForBody(response, [&](ByteView bytes) { digester.Update(bytes); }));
      const std::string digest = Base64Decode(digester.Finish()).value_or(std::string());
      value = "\"" + HexEncode(AsBytes(digest)) + "\"";
    }
  }
  return Ok();
}

}  // namespace

bool Corrupt(s3::Response& response, std::uint64_t offset, const CorruptAction& action,
             const store::ObjectRecord* before) {
  const std::uint64_t size = s3::BodySize(response);
  if (offset >= size) return false;
  if (action.kind == CorruptKind::kStaleVersion) {
    if (before == nullptr || !SpliceStale(response, offset, action.length, *before)) return false;
    return !action.fix_checksum || FixChecksums(response).ok();
  }
  std::string bytes(std::min(action.length, size - offset), '\0');
  if (!ReadBody(response, offset, Writable(bytes)).ok()) return false;
  const std::string right = bytes;
  if (!CorruptBytes(response, offset, action.kind, bytes).ok() || bytes == right) return false;
  ReplaceBytes(response, offset, std::move(bytes));
  return !action.fix_checksum || FixChecksums(response).ok();
}

void TruncateBody(s3::Response& response, std::uint64_t size) {
  if (auto* text = std::get_if<std::string>(&response.body)) {
    text->resize(size);
  } else {
    response.body = std::get<store::Content>(response.body).Sub({0, size});
  }
}

}  // namespace penstock::emulator::faults
