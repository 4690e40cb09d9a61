// Checksums of a write-ahead log in memory, so that a change of the log's file is detected while
// the database is open. SQLite verifies its own checksums only when it recovers the log.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_LOG_CHECKSUMS_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_LOG_CHECKSUMS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "emulator/store/sqlite/damage_record.h"
#include "emulator/store/sqlite/growing_array.h"

namespace penstock::emulator::store {

// The log format: sqlite.org/fileformat2.html, section 4.1. A header, then frames: each has a
// header and a page.
inline constexpr int kLogHeaderBytes = 32;
inline constexpr int kFrameHeaderBytes = 24;

// A part of the log that has its own checksum.
struct LogPart {
  std::int64_t begin = 0;  // offset in the file
  int size = 0;
  std::uint32_t frame = 0;  // the first is 1; 0: the log's header
  bool is_page = false;     // otherwise a header

  bool operator==(const LogPart&) const = default;
};

// State shared by the connections of this process to one log: the CRC-32C of the log's header and
// of each frame's header and page, as they were written, or as SQLite's recovery read them at the
// start. Needs 8 bytes for each frame, and at most twice that for the longest log since the start.
//
// Thread safety: any thread. SQLite orders the calls for one frame: frames are read only after
// their commit, and the log restarts only while no connection reads it.
class LogChecksums {
 public:
  explicit LogChecksums(std::string path) : damage_(std::move(path), "frame") {}

  // Fields of the log's header; 0: no header was written or adopted.
  int page_size() const { return page_size_.load(std::memory_order_acquire); }
  std::uint32_t checkpoint_sequence() const {
    return checkpoint_sequence_.load(std::memory_order_acquire);
  }
  // Takes the fields of an existing log's header, unless they are known or the bytes are not a
  // header.
  void AdoptHeader(const std::byte* header) noexcept;
  // The log starts again with this header. Its frames until now are in the database file.
  void Restart(const std::byte* header) noexcept;

  // The part that contains the offset. After the header, the page size must be known.
  LogPart PartAt(std::int64_t offset) const;
  // Stores the checksum of a part. False: memory ran out.
  bool Set(const LogPart& part, const std::byte* bytes) noexcept;
  // Removes the checksums of all parts with bytes in [begin, end).
  void Forget(std::int64_t begin, std::int64_t end) noexcept;
  // Removes the checksums of all parts that end after `size`. With size 0 also clears the damage.
  void Truncate(std::int64_t size) noexcept;
  enum class Verdict { kMatches, kDiffers, kUnknown };
  Verdict Check(const LogPart& part, const std::byte* bytes) const noexcept;

  // Reports a part that differs.
  void AddDamage(const LogPart& part) noexcept;
  // Whether a part differed since the last restart. New frames would follow a damaged one, so that
  // the next start could not recover them.
  bool is_damaged() const { return is_damaged_.load(std::memory_order_acquire); }

 private:
  // 0: unknown. A CRC of 0 is stored as 1.
  using Checksum = std::atomic<std::uint32_t>;
  struct Frame {
    Checksum header;
    Checksum page;
  };

  void SetFields(const std::byte* header) noexcept;
  void ClearDamage() noexcept;

  std::atomic<int> page_size_{0};
  std::atomic<std::uint32_t> checkpoint_sequence_{0};
  std::atomic<bool> is_damaged_{false};
  GrowingArray<Frame, 6> frames_;  // the header of frame 0 is the log's
  DamageRecord damage_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_LOG_CHECKSUMS_H_
