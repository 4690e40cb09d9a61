#include "emulator/store/records/codec.h"

#include <chrono>

namespace penstock::emulator::store {
namespace {

void AppendNumber(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void AppendText(std::string& out, std::string_view text) {
  AppendNumber(out, text.size());
  out.append(text);
}

// Reads fields from the front. Remembers whether a read failed.
class Unpacker {
 public:
  explicit Unpacker(std::string_view rest) : rest_(rest) {}
  bool AtEnd() const { return rest_.empty() || failed_; }
  bool failed() const { return failed_; }

  std::uint64_t Number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

  std::string Text() {
    const std::uint64_t size = Number();
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return {};
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

bool TakeInternalFlag(Unpacker& in, PartRecord& part) {
  const std::uint64_t internal = in.Number();
  part.checksum_is_internal = internal == 1;
  return internal <= 1;
}

// `take_internal` reads checksum_is_internal, which follows the checksum. It returns false if the
// flag is invalid.
template <class TakeInternal>
std::optional<std::vector<PartRecord>> UnpackParts(std::string_view packed,
                                                   const TakeInternal& take_internal) {
  std::vector<PartRecord> parts;
  Unpacker in(packed);
  while (!in.AtEnd()) {
    PartRecord part;
    part.number = static_cast<int>(in.Number());
    part.size = in.Number();
    part.etag = ETag(in.Text());
    part.checksum = in.Text();
    if (!take_internal(in, part)) return std::nullopt;
    part.last_modified = FromNanoseconds(static_cast<std::int64_t>(in.Number()));
    parts.push_back(std::move(part));
  }
  if (in.failed()) return std::nullopt;
  return parts;
}

}  // namespace

std::string EncodeAttributes(const Attributes& attributes) {
  std::string out;
  for (const auto& [name, value] : attributes) {
    AppendText(out, name);
    AppendText(out, value);
  }
  return out;
}

std::optional<Attributes> DecodeAttributes(std::string_view packed) {
  Attributes attributes;
  Unpacker in(packed);
  while (!in.AtEnd()) {
    std::string name = in.Text();
    std::string value = in.Text();
    attributes.emplace_back(std::move(name), std::move(value));
  }
  if (in.failed()) return std::nullopt;
  return attributes;
}

std::string EncodeParts(const std::vector<PartRecord>& parts) {
  std::string out;
  for (const PartRecord& part : parts) {
    AppendNumber(out, static_cast<std::uint64_t>(part.number));
    AppendNumber(out, part.size);
    AppendText(out, part.etag.value);
    AppendText(out, part.checksum);
    AppendNumber(out, part.checksum_is_internal ? 1 : 0);
    AppendNumber(out, static_cast<std::uint64_t>(ToNanoseconds(part.last_modified)));
  }
  return out;
}

std::optional<std::vector<PartRecord>> DecodeParts(std::string_view packed) {
  return UnpackParts(packed, TakeInternalFlag);
}

std::optional<std::vector<PartRecord>> DecodePartsOfVersion3(std::string_view packed) {
  return UnpackParts(packed, [](Unpacker&, PartRecord& part) {
    constexpr std::string_view kInternalMark = "hidden:";
    part.checksum_is_internal = part.checksum.starts_with(kInternalMark);
    if (part.checksum_is_internal) part.checksum.erase(0, kInternalMark.size());
    return true;
  });
}

std::string EncodeSlices(const std::vector<SliceReference>& slices) {
  std::string out;
  for (const SliceReference& slice : slices) {
    AppendNumber(out, static_cast<std::uint64_t>(slice.blob_id));
    AppendNumber(out, slice.range.begin);
    AppendNumber(out, slice.range.end);
  }
  return out;
}

std::optional<std::vector<SliceReference>> DecodeSlices(std::string_view packed) {
  std::vector<SliceReference> slices;
  Unpacker in(packed);
  while (!in.AtEnd()) {
    SliceReference slice;
    slice.blob_id = static_cast<std::int64_t>(in.Number());
    slice.range.begin = in.Number();
    slice.range.end = in.Number();
    if (slice.range.begin > slice.range.end) return std::nullopt;
    slices.push_back(slice);
  }
  if (in.failed()) return std::nullopt;
  return slices;
}

std::int64_t ToNanoseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

WallTime FromNanoseconds(std::int64_t nanoseconds) {
  return WallTime(
      std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(nanoseconds)));
}

}  // namespace penstock::emulator::store
