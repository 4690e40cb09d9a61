#include "penstock/object_list.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "penstock/base/check.h"

namespace penstock {
namespace {

constexpr std::size_t kSmallChunk = 4u << 10;
constexpr std::size_t kFewBlocks = 64;
// Only the pages that were written to use memory.
constexpr std::size_t kLargeChunk = 1u << 20;
constexpr std::size_t kPage = 4u << 10;
constexpr std::string_view kMagic = "penstock objects 1\n";

// Packing flags of an object: the low bits are the ETag kind.
enum ETagKind : std::uint8_t { kNoETag = 0, kDigest = 1, kDigestOfParts = 2, kText = 3 };
constexpr std::uint8_t kETagBits = 3;
constexpr std::uint8_t kMilliseconds = 4;  // the time is in milliseconds, otherwise in seconds
constexpr std::uint8_t kSameLength = 8;    // the key has the same length as the previous key
constexpr unsigned kClassShift = 4;
constexpr std::size_t kClassFollows = 15;  // the storage class index follows as a separate number

// The limit of a WallTime in either direction, in milliseconds: about 292 years.
constexpr std::int64_t kLastTime =
    std::chrono::duration_cast<std::chrono::milliseconds>(WallTime::duration::max()).count();

constexpr std::size_t kDigestBytes = 16;
constexpr std::size_t kDigestDigits = 2 * kDigestBytes;

void PutNumber(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
  out.push_back(static_cast<char>(number));
}

bool TakeNumber(std::string_view& in, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in.front());
    in.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeBytes(std::string_view& in, std::size_t count, std::string_view& bytes) {
  if (in.size() < count) return false;
  bytes = in.substr(0, count);
  in.remove_prefix(count);
  return true;
}

// Maps signed numbers to unsigned ones, so that small absolute values stay small.
std::uint64_t ZigZag(std::int64_t number) {
  return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t UnZigZag(std::uint64_t number) {
  return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Appends the 16 bytes of the lower-case hex digest at the start of `text`. Returns false and
// leaves `out` unchanged if there is none.
bool PutDigest(std::string& out, std::string_view text) {
  if (text.size() < kDigestDigits) return false;
  const std::size_t before = out.size();
  for (std::size_t i = 0; i < kDigestDigits; i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

void AppendHex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    out.push_back(kDigits[static_cast<std::uint8_t>(c) >> 4]);
    out.push_back(kDigits[static_cast<std::uint8_t>(c) & 15]);
  }
}

// Parses the suffix "-12" of the ETag of an object with twelve parts. Returns 0 for any other text.
std::uint64_t PartCount(std::string_view suffix) {
  if (suffix.size() < 2 || suffix.size() > 8 || suffix[0] != '-' || suffix[1] == '0') return 0;
  std::uint64_t count = 0;
  for (const char c : suffix.substr(1)) {
    if (c < '0' || c > '9') return 0;
    count = count * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return count;
}

ETagKind PutETag(std::string& out, std::string_view etag) {
  if (etag.empty()) return kNoETag;
  const std::uint64_t parts =
      etag.size() > kDigestDigits ? PartCount(etag.substr(kDigestDigits)) : 0;
  if ((etag.size() == kDigestDigits || parts != 0) && PutDigest(out, etag)) {
    if (parts == 0) return kDigest;
    PutNumber(out, parts);
    return kDigestOfParts;
  }
  PutNumber(out, etag.size());
  out.append(etag);
  return kText;
}

// Skips an ETag, and appends it to `etag` unless that is null.
bool TakeETag(std::string_view& in, ETagKind kind, std::string* etag) {
  std::string_view bytes;
  std::uint64_t number = 0;
  if (kind == kNoETag) return true;
  if (kind == kText) {
    if (!TakeNumber(in, number) || !TakeBytes(in, number, bytes)) return false;
    if (etag != nullptr) *etag += bytes;
    return true;
  }
  if (!TakeBytes(in, kDigestBytes, bytes)) return false;
  if (etag != nullptr) AppendHex(*etag, bytes);
  if (kind == kDigest) return true;
  if (!TakeNumber(in, number)) return false;
  if (etag != nullptr) *etag += "-" + std::to_string(number);
  return true;
}

}  // namespace

// The state while a block is decoded: the next object's key and time are relative to it.
struct ObjectList::Entry {
  std::string key;
  std::int64_t time = 0;  // milliseconds
  std::uint64_t size = 0;
  std::size_t storage_class = 0;
};

ObjectList::ObjectList() : classes_(1) {}
ObjectList::ObjectList(ObjectList&&) noexcept = default;
ObjectList& ObjectList::operator=(ObjectList&&) noexcept = default;
ObjectList::~ObjectList() = default;

std::size_t ObjectList::ClassIndex(const std::string& name) {
  const auto known = std::ranges::find(classes_, name);
  if (known == classes_.end()) classes_.push_back(name);
  return static_cast<std::size_t>(std::ranges::find(classes_, name) - classes_.begin());
}

void ObjectList::Append(const ObjectSummary& object) {
  if (size_ % kBlock == 0) {
    Seal();
    last_key_.clear();
    last_time_ = 0;
  }
  const std::string& key = object.key.value;
  const auto shared =
      static_cast<std::size_t>(std::ranges::mismatch(key, last_key_).in1 - key.begin());
  const std::size_t flags_at = tail_.size();
  tail_.push_back('\0');
  PutNumber(tail_, shared);
  const bool same_length = key.size() == last_key_.size();
  if (!same_length) PutNumber(tail_, key.size() - shared);
  tail_.append(key, shared);
  PutNumber(tail_, object.size);

  using Milliseconds = std::chrono::milliseconds;
  const std::int64_t time =
      std::chrono::duration_cast<Milliseconds>(object.last_modified.time_since_epoch()).count();
  const bool whole_seconds = time % 1000 == 0 && last_time_ % 1000 == 0;
  PutNumber(tail_, ZigZag((time - last_time_) / (whole_seconds ? 1000 : 1)));
  const std::size_t storage_class = ClassIndex(object.storage_class);
  if (storage_class >= kClassFollows) PutNumber(tail_, storage_class);
  const ETagKind kind = PutETag(tail_, object.etag.value);
  tail_[flags_at] = static_cast<char>(kind | (whole_seconds ? 0 : kMilliseconds) |
                                      (same_length ? kSameLength : 0) |
                                      std::min(storage_class, kClassFollows) << kClassShift);

  last_key_ = key;
  last_time_ = time;
  ++size_;
}

// Moves the full tail to a chunk.
void ObjectList::Seal() {
  if (tail_.empty()) return;
  if (chunks_.empty() || chunks_.back().capacity - chunks_.back().used < tail_.size()) {
    const std::size_t capacity =
        std::max(blocks_.size() < kFewBlocks ? kSmallChunk : kLargeChunk, tail_.size());
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(capacity), 0, capacity});
  }
  Chunk& chunk = chunks_.back();
  std::memcpy(chunk.bytes.get() + chunk.used, tail_.data(), tail_.size());
  blocks_.push_back(static_cast<std::uint64_t>(chunks_.size() - 1) << 32 | chunk.used);
  chunk.used += tail_.size();
  tail_.clear();
}

// Returns the bytes from the start of the block to the end of its chunk. The block itself marks its
// end.
std::string_view ObjectList::Block(std::size_t number) const {
  if (number == blocks_.size()) return tail_;
  const Chunk& chunk = chunks_[blocks_[number] >> 32];
  const std::size_t offset = blocks_[number] & 0xFFFFFFFF;
  return {chunk.bytes.get() + offset, chunk.used - offset};
}

bool ObjectList::Unpack(std::string_view& packed, Entry& entry, std::string* etag) const {
  if (packed.empty()) return false;
  const auto flags = static_cast<std::uint8_t>(packed.front());
  packed.remove_prefix(1);
  std::uint64_t shared = 0, time = 0, storage_class = flags >> kClassShift;
  std::string_view suffix;
  if (!TakeNumber(packed, shared) || shared > entry.key.size()) return false;
  std::uint64_t rest = entry.key.size() - shared;
  if ((flags & kSameLength) == 0 && !TakeNumber(packed, rest)) return false;
  if (!TakeBytes(packed, rest, suffix)) return false;
  entry.key.resize(shared);
  entry.key += suffix;
  if (!TakeNumber(packed, entry.size) || !TakeNumber(packed, time)) return false;
  if (storage_class == kClassFollows && !TakeNumber(packed, storage_class)) return false;
  if (storage_class >= classes_.size()) return false;
  const std::int64_t unit = (flags & kMilliseconds) != 0 ? 1 : 1000;
  const std::int64_t later = UnZigZag(time);
  if (later > 2 * kLastTime / unit || later < -2 * kLastTime / unit) return false;
  entry.time += later * unit;
  if (entry.time > kLastTime || entry.time < -kLastTime) return false;
  entry.storage_class = storage_class;
  return TakeETag(packed, static_cast<ETagKind>(flags & kETagBits), etag);
}

ObjectSummary ObjectList::operator[](std::size_t index) const {
  PENSTOCK_CHECK(index < size_);
  std::string_view packed = Block(index / kBlock);
  Entry entry;
  std::string etag;
  for (std::size_t i = 0; i < index % kBlock; ++i) PENSTOCK_CHECK(Unpack(packed, entry, nullptr));
  PENSTOCK_CHECK(Unpack(packed, entry, &etag));
  return {ObjectKey(std::move(entry.key)), entry.size, ETag(std::move(etag)),
          WallTime(std::chrono::milliseconds(entry.time)), classes_[entry.storage_class]};
}

std::uint64_t ObjectList::memory_bytes() const {
  std::uint64_t bytes = sizeof *this + blocks_.capacity() * sizeof blocks_[0] +
                        chunks_.capacity() * sizeof(Chunk) + tail_.capacity() +
                        last_key_.capacity();
  for (const Chunk& chunk : chunks_)
    bytes += std::min(chunk.capacity, (chunk.used + kPage - 1) / kPage * kPage);
  return bytes;
}

std::string ObjectList::Save() const {
  std::string saved(kMagic);
  PutNumber(saved, size_);
  PutNumber(saved, classes_.size());
  for (const std::string& name : classes_) {
    PutNumber(saved, name.size());
    saved += name;
  }
  for (const Chunk& chunk : chunks_) saved.append(chunk.bytes.get(), chunk.used);
  return saved += tail_;
}

Result<ObjectList> ObjectList::Load(std::string_view saved) {
  const Error damaged = Error::Make(ErrorKind::kDataLoss, "the bytes are not a saved object list");
  ObjectList list;
  list.classes_.clear();
  std::uint64_t size = 0, classes = 0;
  if (!saved.starts_with(kMagic)) return damaged;
  saved.remove_prefix(kMagic.size());
  if (!TakeNumber(saved, size) || !TakeNumber(saved, classes) || classes > saved.size())
    return damaged;
  for (; classes > 0; --classes) {
    std::uint64_t length = 0;
    std::string_view name;
    if (!TakeNumber(saved, length) || !TakeBytes(saved, length, name)) return damaged;
    list.classes_.emplace_back(name);
  }
  while (list.size_ < size) {
    list.Seal();
    Entry entry;
    const std::string_view begin = saved;
    for (std::size_t i = 0; i < kBlock && list.size_ < size; ++i, ++list.size_) {
      if (!list.Unpack(saved, entry, nullptr)) return damaged;
    }
    list.tail_ = begin.substr(0, begin.size() - saved.size());
    list.last_key_ = entry.key;
    list.last_time_ = entry.time;
  }
  if (!saved.empty()) return damaged;
  return list;
}

}  // namespace penstock
