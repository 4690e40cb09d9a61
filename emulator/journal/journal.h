// What clients did: every request, in bounded memory.
//
// Entries are packed into blocks; beyond the bound the oldest block goes, and is counted. Memory is
// taken block by block, so an idle journal has none. Queries run on a Reading, which holds the
// blocks as they were and disturbs no writer.
#ifndef PENSTOCK_EMULATOR_JOURNAL_JOURNAL_H_
#define PENSTOCK_EMULATOR_JOURNAL_JOURNAL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "penstock/base/mutex.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

namespace internal {
// The bytes of a block that went, for the next one: fresh memory would have to be cleared by the
// kernel, page by page.
class SpareBytes {
 public:
  std::unique_ptr<std::byte[]> Take();
  void Give(std::unique_ptr<std::byte[]> bytes);

 private:
  Mutex mutex_;
  std::unique_ptr<std::byte[]> bytes_ PENSTOCK_GUARDED_BY(mutex_);  // null: none
};

struct Block {
  Block(std::shared_ptr<SpareBytes> from, std::uint64_t number);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // a Reading may be the last to have the block, after the journal
  const std::shared_ptr<SpareBytes> spare;
  std::unique_ptr<std::byte[]> bytes;
  const std::uint64_t first;  // number of its first entry
  std::uint64_t count = 0;
  std::size_t used = 0;
};
}  // namespace internal

// The texts are views: into what is being written, or into the journal's memory while a Reading of
// it lives.
using Entry = JournalEntryView;
using Reading = JournalReading;

// Thread safety: safe from any thread.
class Journal {
 public:
  static constexpr std::size_t kBlockBytes = 64 << 10;

  // Keeps at most `bytes` of entries, rounded up to whole blocks, at least two, and one's memory to
  // spare. One entry keeps at most 8 KiB of text: of longer ones each text is cut at 1 KiB.
  explicit Journal(std::size_t bytes);

  // An answer is about to leave; Append with the mark tells that it has. Cheap, takes no lock.
  std::uint64_t BeginLeaving();
  // `entry.number` is given here. Returns it. `mark`: BeginLeaving's; 0: there was none. `room`:
  // bytes of text by which Amend may make the entry longer.
  std::uint64_t Append(const Entry& entry, std::uint64_t mark = 0, std::size_t room = 0);
  // What entry `number` should have said, from the next Reading on; nothing where it is gone. Costs
  // a block's copy. Where there is no room for all that fired, what it said of that stays.
  void Amend(std::uint64_t number, const Entry& entry);
  // Until the answers that are leaving now have entries, so that a client that has its answer finds
  // it here; at most until `until`: others may be long on their way. False then.
  bool Settle(MonotonicTime until);
  Reading Read() const;
  // Entries behind number `after` alone.
  Reading ReadAfter(std::uint64_t after) const;
  // The reading's entries from number `first` on.
  static Reading From(const Reading& reading, std::uint64_t first);
  // Forgets the entries, and what was dropped. Numbers go on.
  void Clear();
  // Until there is an entry behind number `after`; false when `until` came first, or Stop.
  bool Await(std::uint64_t after, MonotonicTime until);
  // Ends every Await, now and later.
  void Stop();

  std::uint64_t written() const;
  std::size_t memory() const;  // bytes of blocks

 private:
  void BeginBlock() PENSTOCK_REQUIRES(mutex_);

  const std::size_t most_blocks_;
  const std::uint64_t generation_;
  const std::shared_ptr<internal::SpareBytes> spare_ = std::make_shared<internal::SpareBytes>();
  mutable Mutex mutex_;
  CondVar appended_;
  std::deque<std::shared_ptr<internal::Block>> blocks_ PENSTOCK_GUARDED_BY(mutex_);
  std::uint64_t written_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int waiting_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool stopped_ PENSTOCK_GUARDED_BY(mutex_) = false;
  // Answers on their way by whether they began in an odd or an even epoch; who settles begins the
  // next one.
  Mutex settling_;
  std::atomic<std::uint64_t> epoch_{0};
  std::array<std::atomic<std::uint64_t>, 2> leaving_{};
  // about where the next entry will be, for the processor's cache; never read
  std::atomic<const std::byte*> next_{nullptr};
};

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_JOURNAL_H_
