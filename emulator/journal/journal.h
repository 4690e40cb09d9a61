// The journal: a record of every request, in bounded memory.
//
// Entries are packed into blocks. Above the bound, the oldest block is dropped and counted. Blocks
// are allocated on demand, so an idle journal uses no memory. Queries run on a Reading, a snapshot
// of the blocks that does not block writers.
#ifndef PENSTOCK_EMULATOR_JOURNAL_JOURNAL_H_
#define PENSTOCK_EMULATOR_JOURNAL_JOURNAL_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "penstock/base/mutex.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

namespace internal {
// The memory of a dropped block, for reuse: the kernel would have to clear fresh pages.
class SpareBytes {
 public:
  std::unique_ptr<std::byte[]> Take();
  void Return(std::unique_ptr<std::byte[]> bytes);

 private:
  Mutex mutex_;
  std::unique_ptr<std::byte[]> bytes_ PENSTOCK_GUARDED_BY(mutex_);  // Null: none.
};

struct Block {
  Block(std::shared_ptr<SpareBytes> from, std::uint64_t number);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Waits until all entries that `count` includes have been written. Hold the lock of the journal,
  // so that no further one begins.
  void WaitUntilPacked() const;

  // A Reading may keep the block longer than the journal.
  const std::shared_ptr<SpareBytes> spare;
  std::unique_ptr<std::byte[]> bytes;
  const std::uint64_t first;  // Number of its first entry.
  std::uint64_t count = 0;
  std::size_t used = 0;
  std::atomic<int> packing{0};  // Entries that threads are writing, outside the journal's lock.
};
}  // namespace internal

// Texts are views into the data being written, or into the journal's memory as long as a Reading of
// it lives.
using Entry = JournalEntryView;
using Reading = JournalReading;

// Thread safety: safe from any thread.
class Journal {
 public:
  static constexpr std::size_t kBlockBytes = 64 << 10;
  // Of the headers of the request and the response, as lines. Longer ones are not stored.
  static constexpr std::size_t kMostHeaderBytes = 8 << 10;

  // Keeps at most `bytes` of entries, rounded up to whole blocks, at least two, plus one spare
  // block. An entry keeps at most 8 KiB of text: in longer entries each text is cut to 1 KiB.
  // Captured headers come in addition (kMostHeaderBytes).
  // `opened`: the start of the monotonic times of entries.
  explicit Journal(std::size_t bytes, MonotonicTime opened = {});

  MonotonicTime opened() const { return opened_; }

  // Call before a response is sent. Returns a mark; Append with this mark reports the end. Cheap,
  // takes no lock.
  std::uint64_t BeginLeaving();
  // Adds an entry and returns its number, which is assigned here; 0 if Clear was called after its
  // request began: such an entry is not kept. `mark`: from BeginLeaving; 0: none. `room`: the bytes
  // of text by which Amend may extend the entry.
  std::uint64_t Append(const Entry& entry, std::uint64_t mark = 0, std::size_t room = 0);
  // Replaces entry `number`, visible from the next Reading on. Does nothing if the entry was
  // dropped. Copies a block. If the fired rules do not fit, the entry keeps the old list. It always
  // keeps its headers.
  void Amend(std::uint64_t number, const Entry& entry);
  // Requests that end before `until` have their headers in their entries. The initial value is the
  // earliest time: none has.
  void CaptureUntil(MonotonicTime until) {
    capture_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }
  MonotonicTime capture_until() const {
    return MonotonicTime(MonotonicTime::duration(capture_until_.load(std::memory_order_relaxed)));
  }
  bool Captures(MonotonicTime ended) const { return ended < capture_until(); }
  // Waits until all responses that are being sent now have entries, so that a client that has
  // received its response finds it here. Waits at most until `until`, because slow responses may
  // take long; returns false then.
  bool WaitForResponses(MonotonicTime until);
  Reading Read() const;
  // Only entries after number `after`.
  Reading ReadAfter(std::uint64_t after) const;
  // The entries of `reading` from number `first` on.
  static Reading From(const Reading& reading, std::uint64_t first);
  // Removes the entries of all requests that began before `now`, also of those that end later, and
  // resets the count of dropped ones. Numbers continue.
  void Clear(MonotonicTime now);
  // Waits for an entry after number `after`. Returns false at time `until` or after Stop.
  bool Await(std::uint64_t after, MonotonicTime until);
  // Ends all current and future calls of Await.
  void Stop();

  std::uint64_t written() const;
  std::size_t memory() const;  // Bytes of all blocks.

 private:
  // Append with the captured headers as stored.
  std::uint64_t Store(const Entry& entry, std::string_view headers, std::uint64_t mark,
                      std::size_t room);
  // Where an entry is written, and its number. The block lives until it is packed.
  struct Place {
    internal::Block* block;
    std::byte* at;
    std::uint64_t number;
  };
  // Returns nullopt for an entry that is not kept.
  std::optional<Place> Reserve(const Entry& entry, std::size_t bytes, std::uint64_t mark);
  void BeginBlock() PENSTOCK_REQUIRES(mutex_);

  const std::size_t max_blocks_;
  const MonotonicTime opened_;
  const std::uint64_t generation_;
  const std::shared_ptr<internal::SpareBytes> spare_ = std::make_shared<internal::SpareBytes>();
  mutable Mutex mutex_;
  CondVar appended_;
  std::deque<std::shared_ptr<internal::Block>> blocks_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t written_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  // Of the last Clear: entries that began earlier are not kept.
  std::chrono::nanoseconds cleared_ PENSTOCK_GUARDED_BY(mutex_) = std::chrono::nanoseconds::min();
  int waiting_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool stopped_ PENSTOCK_GUARDED_BY(mutex_) = false;
  // Responses being sent, by whether they began in an even or odd epoch. WaitForResponses begins a
  // new epoch.
  Mutex one_wait_;
  std::atomic<std::uint64_t> epoch_{0};
  std::array<std::atomic<std::uint64_t>, 2> leaving_{};
  // Approximate address of the next entry, for prefetching only; never read.
  std::atomic<const std::byte*> next_{nullptr};
  std::atomic<MonotonicTime::rep> capture_until_{MonotonicTime::min().time_since_epoch().count()};
};

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_JOURNAL_H_
