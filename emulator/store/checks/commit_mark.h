// The commit mark: a small file beside a database that says how much of its write-ahead log was
// committed.
//
// SQLite takes a log that lost its head or its tail for a log with fewer commits. The mark tells
// such a log from a sound one: it is updated after each commit, in strict mode after the fsync, and
// compared when the database is opened (commit_check.h).
#ifndef PENSTOCK_EMULATOR_STORE_CHECKS_COMMIT_MARK_H_
#define PENSTOCK_EMULATOR_STORE_CHECKS_COMMIT_MARK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "emulator/store/blobs/descriptor.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::emulator::store {

// The log of a database is its path with "-wal" behind it, the mark its path with "-mark" behind
// it.
std::string LogPath(const std::string& database);
std::string CommitMarkPath(const std::string& database);

// Identifies the time since the machine started, from /proc/sys/kernel/random/boot_id; empty where
// there is none.
std::string BootId();

struct CommitState {
  // Of the log's header (sqlite.org/fileformat2.html §4.1). The sequence grows by one with each
  // restart of a log.
  std::uint32_t salt_1 = 0;
  std::uint32_t salt_2 = 0;
  std::uint32_t checkpoint_sequence = 0;
  // that the log must have; 0: everything committed is in the database file
  std::uint32_t frames = 0;
  std::uint32_t pages = 0;      // of the database after the last commit; 0: not known
  std::uint32_t page_size = 0;  // in bytes
  std::uint32_t synced = 0;     // 1: the frames were fsynced before the mark was written
  // committed frames that earlier starts found missing and went on without
  std::uint64_t lost_frames = 0;
  std::string boot_id;  // of the commit; at most 36 bytes are kept

  bool operator==(const CommitState&) const = default;
};

// Two slots in a file of 4 KiB; the newer one that is whole counts, so that a torn write leaves the
// state before. Thread safety: one thread at a time; one process writes at a time.
class CommitMark {
 public:
  // Opens or creates the file with mode 0600. A new one is on disk, with its name, when this
  // returns.
  static Result<std::unique_ptr<CommitMark>> Open(const std::string& path);
  struct Inspection {
    std::optional<CommitState> state;  // nullopt: there is no file, or no slot of it is whole
    std::string problem;               // what is wrong with the file ("is missing"); empty: nothing
  };
  // Reads the file at `path` once, without changing it. A slot that was never written is sound.
  static Inspection Inspect(const std::string& path);
  static std::optional<CommitState> Read(const std::string& path) { return Inspect(path).state; }
  ~CommitMark();
  CommitMark(const CommitMark&) = delete;
  CommitMark& operator=(const CommitMark&) = delete;

  const CommitState& state() const { return state_; }
  // Writes the state to the page cache: without a system call where the file is mapped. On an error
  // the file keeps the state before.
  Result<void> Store(CommitState state);
  // Brings the file to the disk.
  Result<void> Sync();

 private:
  explicit CommitMark(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  Descriptor file_;  // closed while mapped
  // null on file systems where writing to mapped memory can meet a full disk
  std::byte* mapped_ = nullptr;
  std::uint64_t sequence_ = 0;
  CommitState state_;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_CHECKS_COMMIT_MARK_H_
