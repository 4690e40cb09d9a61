#include "emulator/journal/journal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace penstock::emulator::journal {
namespace {

using internal::Block;

constexpr std::size_t kLongEntry = 8 << 10;  // Bytes of text above which each text is cut.
constexpr std::size_t kLongText = 1 << 10;
constexpr std::size_t kTexts = 14;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kLinesAhead = 8;  // About two entries.

// In the order in which they are stored in the block.
std::array<std::string_view Entry::*, kTexts> Texts() {
  return {&Entry::method,    &Entry::target,       &Entry::operation,  &Entry::bucket,
          &Entry::key,       &Entry::access_key,   &Entry::invocation, &Entry::user_agent,
          &Entry::peer,      &Entry::request_id,   &Entry::error_code, &Entry::faults,
          &Entry::checksums, &Entry::authorization};
}

// The header of an entry, before its texts.
struct Head {
  std::uint32_t bytes = 0;  // Head and texts, rounded up to align the next head.
  std::uint32_t attempt = 0;
  std::int64_t received = 0;
  std::int64_t began = 0;
  std::int64_t ended = 0;
  std::uint64_t connection = 0;
  std::uint64_t requests_before = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  ByteRange range;
  std::int32_t status = 0;
  bool has_range : 1 = false;
  bool has_rank : 1 = false;  // 8 bytes after the texts. Most entries have none.
  bool tls : 1 = false;
  Ending ending = Ending::kAnswered;
  std::uint8_t signature = 0;                       // Version and verdict (Packed).
  std::array<std::uint16_t, kTexts + 1> lengths{};  // The last is that of the payload.
  std::uint16_t header_bytes = 0;                   // Of the captured headers (HeaderBlock).
};
static_assert(std::is_trivially_copyable_v<Head>);
static_assert(sizeof(Head) == 120);

std::uint8_t Packed(RequestSignature signature) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(signature.version) << 4 |
                                   static_cast<unsigned>(signature.verdict));
}

RequestSignature Unpacked(std::uint8_t packed, std::string_view payload) {
  RequestSignature signature{.version = static_cast<SignatureVersion>(packed >> 4),
                             .verdict = static_cast<SignatureVerdict>(packed & 0xF)};
  if (signature.version == SignatureVersion::kV4 && payload.starts_with("STREAMING-AWS4-"))
    signature.version = SignatureVersion::kV4Chunked;
  return signature;
}

// Precedes the texts of captured headers: those of the request, then those of the response.
struct HeaderBlock {
  std::uint16_t request_bytes = 0;
  std::uint16_t left_out = 0;
};

// Returns the captured headers as stored; empty: there are none, or they are too long.
std::string HeadersOf(const Entry& entry) {
  const std::size_t bytes = entry.request_headers.size() + entry.response_headers.size();
  if (bytes == 0 || bytes > Journal::kMostHeaderBytes) return {};
  const HeaderBlock block{.request_bytes = static_cast<std::uint16_t>(entry.request_headers.size()),
                          .left_out = static_cast<std::uint16_t>(
                              std::min<std::uint32_t>(entry.headers_left_out, UINT16_MAX))};
  std::string stored(reinterpret_cast<const char*>(&block), sizeof(block));
  stored += entry.request_headers;
  stored += entry.response_headers;
  return stored;
}

void ReadHeaders(std::string_view stored, Entry& entry) {
  HeaderBlock block;
  if (!stored.empty()) {
    std::memcpy(&block, stored.data(), sizeof(block));
    stored.remove_prefix(sizeof(block));
  }
  entry.request_headers = stored.substr(0, block.request_bytes);
  entry.response_headers = stored.substr(block.request_bytes);
  entry.headers_left_out = block.left_out;
}

std::string_view Cut(std::string_view text, std::size_t most) { return text.substr(0, most); }

std::size_t RoundUp(std::size_t bytes) {
  return (bytes + alignof(Head) - 1) / alignof(Head) * alignof(Head);
}

// The texts to store; the payload kind is last.
std::array<std::string_view, kTexts + 1> StoredTexts(const Entry& entry) {
  std::array<std::string_view, kTexts + 1> texts;
  std::size_t sum = 0;
  const auto members = Texts();
  for (std::size_t i = 0; i < kTexts; ++i) sum += (texts[i] = entry.*members[i]).size();
  sum += (texts[kTexts] = entry.payload).size();
  if (sum > kLongEntry) {
    for (std::string_view& text : texts) text = Cut(text, kLongText);
  }
  return texts;
}

Head HeadOf(const Entry& entry, const std::array<std::string_view, kTexts + 1>& texts,
            std::size_t header_bytes, std::size_t room) {
  Head head{.attempt = entry.attempt,
            .received = entry.received.time_since_epoch().count(),
            .began = entry.began.count(),
            .ended = entry.ended.count(),
            .connection = entry.connection,
            .requests_before = entry.requests_before,
            .bytes_in = entry.bytes_in,
            .bytes_out = entry.bytes_out,
            .range = entry.range.value_or(ByteRange{}),
            .status = entry.status,
            .has_range = entry.range.has_value(),
            .has_rank = entry.rank.has_value(),
            .tls = entry.tls,
            .ending = entry.ending,
            .signature = Packed(entry.signature),
            .header_bytes = static_cast<std::uint16_t>(header_bytes)};
  std::size_t bytes = sizeof(Head) + std::min(room, kLongText) + header_bytes;
  if (entry.rank) bytes += sizeof(*entry.rank);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    head.lengths[i] = static_cast<std::uint16_t>(texts[i].size());
    bytes += texts[i].size();
  }
  head.bytes = static_cast<std::uint32_t>(RoundUp(bytes));
  return head;
}

// Returns the end, where captured headers follow.
std::byte* Pack(std::byte* at, const Head& head,
                const std::array<std::string_view, kTexts + 1>& texts,
                std::optional<std::uint64_t> rank) {
  std::memcpy(at, &head, sizeof(head));
  at += sizeof(head);
  for (const std::string_view text : texts) {
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
  if (!rank) return at;
  std::memcpy(at, &*rank, sizeof(*rank));
  return at + sizeof(*rank);
}

void AddHeaders(std::byte* end, std::string_view headers) {
  if (!headers.empty()) std::memcpy(end, headers.data(), headers.size());
}

// Reads the entry at `at`. Returns its length.
std::size_t Unpack(const std::byte* at, Entry& entry) {
  Head head;
  std::memcpy(&head, at, sizeof(head));
  entry.attempt = head.attempt;
  entry.received = WallTime(WallTime::duration(head.received));
  entry.began = std::chrono::nanoseconds(head.began);
  entry.ended = std::chrono::nanoseconds(head.ended);
  entry.connection = head.connection;
  entry.requests_before = head.requests_before;
  entry.bytes_in = head.bytes_in;
  entry.bytes_out = head.bytes_out;
  entry.range = head.has_range ? std::optional(head.range) : std::nullopt;
  entry.status = head.status;
  entry.tls = head.tls;
  entry.ending = head.ending;
  const char* text = reinterpret_cast<const char*>(at) + sizeof(Head);
  const auto next = [&text](std::size_t length) {
    const std::string_view view(text, length);
    text += length;
    return view;
  };
  const auto members = Texts();
  for (std::size_t i = 0; i < kTexts; ++i) entry.*members[i] = next(head.lengths[i]);
  entry.payload = next(head.lengths[kTexts]);
  entry.rank.reset();
  if (head.has_rank)
    std::memcpy(&entry.rank.emplace(), next(sizeof(*entry.rank)).data(), sizeof(*entry.rank));
  entry.signature = Unpacked(head.signature, entry.payload);
  ReadHeaders(next(head.header_bytes), entry);
  return head.bytes;
}

// Unique among the journals of this process and of processes started later. Microseconds since 1970
// stay below 2^53 until 2255.
std::uint64_t NextGeneration() {
  static std::atomic<std::uint64_t> next{
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count())};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace
}  // namespace penstock::emulator::journal

namespace penstock::emulator {

void JournalReading::ForEach(const std::function<bool(const JournalEntryView&)>& look) const {
  JournalEntryView entry;
  for (const Part& part : parts_) {
    const std::byte* at = part.block->bytes.get();
    const std::uint64_t end = part.first + part.count;
    for (std::uint64_t number = part.block->first; number < end; ++number) {
      at += journal::Unpack(at, entry);
      entry.number = number;
      if (number >= part.first && !look(entry)) return;
    }
  }
}

std::uint64_t JournalReading::size() const {
  std::uint64_t size = 0;
  for (const Part& part : parts_) size += part.count;
  return size;
}

}  // namespace penstock::emulator

namespace penstock::emulator::journal {

std::unique_ptr<std::byte[]> internal::SpareBytes::Take() {
  {
    const MutexLock lock(mutex_);
    if (bytes_) return std::move(bytes_);
  }
  return std::make_unique_for_overwrite<std::byte[]>(Journal::kBlockBytes);
}

void internal::SpareBytes::Return(std::unique_ptr<std::byte[]> bytes) {
  const MutexLock lock(mutex_);
  bytes_.swap(bytes);
}

internal::Block::Block(std::shared_ptr<SpareBytes> from, std::uint64_t number)
    : spare(std::move(from)), bytes(spare->Take()), first(number) {}

void internal::Block::WaitUntilPacked() const {
  while (packing.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

internal::Block::~Block() { spare->Return(std::move(bytes)); }

Journal::Journal(std::size_t bytes, MonotonicTime opened)
    : max_blocks_(std::max<std::size_t>(2, (bytes + kBlockBytes - 1) / kBlockBytes)),
      opened_(opened),
      generation_(NextGeneration()) {}

std::uint64_t Journal::BeginLeaving() {
  // The ring is larger than the caches. Prefetch the memory of the entry while the response is
  // sent.
  const std::byte* const next = next_.load(std::memory_order_relaxed);
  for (std::size_t line = 0; next != nullptr && line < kLinesAhead; ++line)
    __builtin_prefetch(next + line * kCacheLine, 1);
  for (;;) {
    const std::uint64_t epoch = epoch_.load();
    leaving_[epoch & 1].fetch_add(1);
    if (epoch_.load() == epoch) return (epoch & 1) + 1;
    // WaitForResponses began a new epoch in between. A count in the old epoch would be missed by
    // the next WaitForResponses.
    const MutexLock lock(mutex_);
    leaving_[epoch & 1].fetch_sub(1);
    appended_.NotifyAll();
  }
}

bool Journal::WaitForResponses(MonotonicTime until) {
  const MutexLock one_at_a_time(one_wait_);
  const std::uint64_t epoch = epoch_.fetch_add(1) & 1;
  const MutexLock lock(mutex_);
  ++waiting_;
  bool in_time = true;
  while (leaving_[epoch].load() > 0 && !stopped_ && in_time)
    in_time = appended_.WaitUntil(mutex_, until);
  --waiting_;
  return leaving_[epoch].load() == 0;
}

void Journal::BeginBlock() {
  if (blocks_.size() == max_blocks_) {
    blocks_.front()->WaitUntilPacked();
    dropped_ += blocks_.front()->count;
    blocks_.pop_front();
  }
  blocks_.push_back(std::make_shared<Block>(spare_, written_ + 1));
}

std::uint64_t Journal::Append(const Entry& entry, std::uint64_t mark, std::size_t room) {
  if (entry.request_headers.empty() && entry.response_headers.empty())
    return Store(entry, {}, mark, room);
  return Store(entry, HeadersOf(entry), mark, room);
}

std::uint64_t Journal::Store(const Entry& entry, std::string_view headers, std::uint64_t mark,
                             std::size_t room) {
  const auto texts = StoredTexts(entry);
  const Head head = HeadOf(entry, texts, headers.size(), room);
  const std::optional<Place> place = Reserve(entry, head.bytes, mark);
  if (!place) return 0;
  AddHeaders(Pack(place->at, head, texts, entry.rank), headers);
  place->block->packing.fetch_sub(1, std::memory_order_release);
  return place->number;
}

std::optional<Journal::Place> Journal::Reserve(const Entry& entry, std::size_t bytes,
                                               std::uint64_t mark) {
  const MutexLock lock(mutex_);
  if (mark > 0) leaving_[mark - 1].fetch_sub(1);
  if (waiting_ > 0) appended_.NotifyAll();
  if (entry.began < cleared_) return std::nullopt;
  if (blocks_.empty() || blocks_.back()->used + bytes > kBlockBytes) BeginBlock();
  Block& block = *blocks_.back();
  const Place place{&block, block.bytes.get() + block.used, ++written_};
  block.packing.fetch_add(1, std::memory_order_relaxed);
  block.used += bytes;
  ++block.count;
  next_.store(block.bytes.get() + std::min(block.used, kBlockBytes - kLinesAhead * kCacheLine),
              std::memory_order_relaxed);
  return place;
}

void Journal::Amend(std::uint64_t number, const Entry& entry) {
  auto texts = StoredTexts(entry);
  const MutexLock lock(mutex_);
  const auto after_match = std::upper_bound(
      blocks_.begin(), blocks_.end(), number,
      [](std::uint64_t wanted, const auto& block) { return wanted < block->first; });
  if (after_match == blocks_.begin()) return;
  std::shared_ptr<Block>& block = *(after_match - 1);
  if (number >= block->first + block->count) return;
  block->WaitUntilPacked();
  // A Reading may use the block, so it is replaced by a copy.
  const auto amended = std::make_shared<Block>(spare_, block->first);
  std::memcpy(amended->bytes.get(), block->bytes.get(), block->used);
  amended->count = block->count;
  amended->used = block->used;
  std::byte* at = amended->bytes.get();
  Entry before;
  std::size_t bytes = Unpack(at, before);
  for (std::uint64_t each = block->first; each < number; ++each) {
    at += bytes;
    bytes = Unpack(at, before);
  }
  const std::string old_faults(before.faults);
  const std::string headers = HeadersOf(before);
  Head head = HeadOf(entry, texts, headers.size(), 0);
  if (head.bytes > bytes) {
    Entry shorter = entry;
    shorter.faults = old_faults;
    texts = StoredTexts(shorter);
    head = HeadOf(shorter, texts, headers.size(), 0);
  }
  if (head.bytes > bytes) return;
  head.bytes = static_cast<std::uint32_t>(bytes);
  AddHeaders(Pack(at, head, texts, entry.rank), headers);
  block = amended;
}

Reading Journal::Read() const { return ReadAfter(0); }

Reading Journal::ReadAfter(std::uint64_t after) const {
  Reading reading;
  const MutexLock lock(mutex_);
  reading.dropped_ = dropped_;
  reading.last_ = written_;
  reading.generation_ = generation_;
  reading.first_kept_ = blocks_.empty() ? written_ + 1 : blocks_.front()->first;
  for (const auto& block : blocks_) {
    const std::uint64_t end = block->first + block->count;
    if (end - 1 <= after) continue;
    block->WaitUntilPacked();
    const std::uint64_t first = std::max(block->first, after + 1);
    reading.parts_.push_back({.block = block, .first = first, .count = end - first});
  }
  return reading;
}

Reading Journal::From(const Reading& reading, std::uint64_t first) {
  Reading rest = reading;
  std::erase_if(rest.parts_,
                [first](const Reading::Part& part) { return part.first + part.count <= first; });
  if (!rest.parts_.empty() && rest.parts_.front().first < first) {
    Reading::Part& part = rest.parts_.front();
    part.count -= first - part.first;
    part.first = first;
  }
  return rest;
}

void Journal::Clear(MonotonicTime now) {
  std::deque<std::shared_ptr<Block>> cleared;
  const MutexLock lock(mutex_);
  for (const auto& block : blocks_) block->WaitUntilPacked();
  cleared.swap(blocks_);
  dropped_ = 0;
  cleared_ = now - opened_;
}

bool Journal::Await(std::uint64_t after, MonotonicTime until) {
  const MutexLock lock(mutex_);
  ++waiting_;
  bool in_time = true;
  while (written_ <= after && !stopped_ && in_time) in_time = appended_.WaitUntil(mutex_, until);
  --waiting_;
  return written_ > after && !stopped_;
}

void Journal::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  appended_.NotifyAll();
}

std::uint64_t Journal::written() const {
  const MutexLock lock(mutex_);
  return written_;
}

std::size_t Journal::memory() const {
  const MutexLock lock(mutex_);
  return blocks_.size() * kBlockBytes;
}

}  // namespace penstock::emulator::journal
