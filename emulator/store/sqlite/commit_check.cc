#include "emulator/store/sqlite/commit_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/log.h"
#include "emulator/store/sqlite/page_checksums.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::store {
namespace {

// The log format: sqlite.org/fileformat2.html, sections 4.1 and 4.2.
constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::uint32_t kLogMagic = 0x377f0682;  // lowest bit set: checksums use big-endian words
constexpr std::uint32_t kLogVersion = 3007000;
constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);
constexpr std::uint32_t kSmallestPage = 512;
constexpr std::uint32_t kLargestPage = 65536;
// Offset of the bytes of a database file that SQLite locks. The page with the first of them is
// never written.
constexpr std::uint64_t kLockBytes = std::uint64_t{1} << 30;
// A log without a readable commit, written by a build without marks, that has fewer frames than
// this can be left over from the creation of the tables.
constexpr std::uint64_t kCreationFrames = 32;
constexpr std::uint64_t kUsualPage = 4096;

std::uint32_t BigEndian(const std::byte* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

class Checksum {
 public:
  explicit Checksum(bool is_big_endian)
      : swaps_(is_big_endian != (std::endian::native == std::endian::big)) {}
  // `size` is a multiple of 8.
  void Add(const std::byte* bytes, std::size_t size) {
    for (std::size_t at = 0; at < size; at += 8) {
      first_ += Word(bytes + at) + second_;
      second_ += Word(bytes + at + 4) + first_;
    }
  }
  bool Equals(const std::byte* stored) const {
    return first_ == BigEndian(stored) && second_ == BigEndian(stored + 4);
  }

 private:
  std::uint32_t Word(const std::byte* bytes) const {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return swaps_ ? __builtin_bswap32(word) : word;
  }
  const bool swaps_;
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

// A file for reading.
class InputFile {
 public:
  static Result<InputFile> Open(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno != ENOENT) return UnreadableFile(path, errno);
    return InputFile(path, std::move(file));
  }
  // False: the file ends before, or does not exist.
  Result<bool> ReadAt(std::uint64_t offset, std::byte* into, std::size_t size) const {
    if (!file_) return false;
    while (size > 0) {
      const ssize_t count = ::pread(file_.get(), into, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return UnreadableFile(path_, errno);
      if (count == 0) return false;
      into += count;
      offset += static_cast<std::uint64_t>(count);
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }

 private:
  InputFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
};

struct LogHeader {
  std::uint32_t page_size = 0;
  std::uint32_t checkpoint_sequence = 0;
  std::uint32_t salt_1 = 0;
  std::uint32_t salt_2 = 0;
};

// The contents of a log up to its last complete commit.
struct LogCommits {
  std::uint32_t frames = 0;                 // 0: there is no commit
  std::uint32_t pages = 0;                  // size of the database after the last commit
  std::vector<std::uint32_t> page_numbers;  // page of each of these frames, in order
  std::optional<std::uint32_t> store_id;    // of the first page; nullopt: no frame has it
};

// Reads a log as SQLite's recovery does.
class LogReader {
 public:
  static Result<LogReader> Open(const std::string& path) {
    PENSTOCK_ASSIGN(InputFile file, InputFile::Open(path));
    LogReader reader(std::move(file));
    PENSTOCK_TRY(reader.ReadHeader());
    return reader;
  }
  // nullopt: there is no log, or its header is damaged.
  const std::optional<LogHeader>& head() const { return head_; }
  // Returns only the numbers of pages above `above`. Call once.
  Result<LogCommits> ReadCommits(std::uint64_t above) {
    LogCommits commits;
    if (!head_) return commits;
    std::size_t committed_numbers = 0;
    std::optional<std::uint32_t> store_id;
    std::vector<std::byte> frame(kFrameHeaderSize + head_->page_size);
    for (std::uint32_t number = 1;; ++number) {
      const std::uint64_t offset = kHeaderSize + (number - 1) * std::uint64_t{frame.size()};
      PENSTOCK_ASSIGN(const bool is_read, file_.ReadAt(offset, frame.data(), frame.size()));
      if (!is_read || !IsValid(frame)) break;
      const std::uint32_t page = BigEndian(frame.data());
      if (page > above) commits.page_numbers.push_back(page);
      if (page == 1) store_id = BigEndian(&frame[kFrameHeaderSize + kStoreIdOffset]);
      const std::uint32_t pages = BigEndian(&frame[4]);
      if (pages == 0) continue;
      commits.frames = number;
      commits.pages = pages;
      committed_numbers = commits.page_numbers.size();
      commits.store_id = store_id;
    }
    commits.page_numbers.resize(committed_numbers);
    return commits;
  }

 private:
  explicit LogReader(InputFile file) : file_(std::move(file)) {}

  Result<void> ReadHeader() {
    std::array<std::byte, kHeaderSize> header;
    PENSTOCK_ASSIGN(const bool is_read, file_.ReadAt(0, header.data(), header.size()));
    if (!is_read) return Ok();
    const std::uint32_t magic = BigEndian(header.data());
    const LogHeader head{BigEndian(&header[8]), BigEndian(&header[12]), BigEndian(&header[16]),
                         BigEndian(&header[20])};
    checksum_.emplace((magic & 1) != 0);
    checksum_->Add(header.data(), 24);
    const bool fits = std::has_single_bit(head.page_size) && head.page_size >= kSmallestPage &&
                      head.page_size <= kLargestPage;
    if ((magic & ~1U) == kLogMagic && BigEndian(&header[4]) == kLogVersion && fits &&
        checksum_->Equals(&header[24])) {
      head_ = head;
    }
    return Ok();
  }

  bool IsValid(const std::vector<std::byte>& frame) {
    checksum_->Add(frame.data(), 8);
    checksum_->Add(&frame[kFrameHeaderSize], frame.size() - kFrameHeaderSize);
    return BigEndian(frame.data()) != 0 && BigEndian(&frame[8]) == head_->salt_1 &&
           BigEndian(&frame[12]) == head_->salt_2 && checksum_->Equals(&frame[16]);
  }

  InputFile file_;
  std::optional<Checksum> checksum_;
  std::optional<LogHeader> head_;
};

std::string LostPagesText(std::uint64_t lost, std::uint64_t of) {
  return "lost " + std::to_string(lost) + " of " + std::to_string(of) + " committed pages";
}

// The header of the database file (sqlite.org/fileformat2.html, section 1.3). The fields keep their
// defaults if there is no header.
struct DatabaseHeader {
  std::uint64_t file_size = 0;
  std::uint32_t page_size = kUsualPage;
  std::uint32_t pages = 0;    // size of the database; 0: unknown
  std::uint32_t version = 0;  // PRAGMA user_version
  std::uint32_t store_id = 0;
};

Result<DatabaseHeader> ReadHeader(const std::string& path) {
  DatabaseHeader head;
  PENSTOCK_ASSIGN(head.file_size, FileSize(path));
  std::array<std::byte, 100> header{};
  PENSTOCK_ASSIGN(const InputFile file, InputFile::Open(path));
  PENSTOCK_ASSIGN(const bool is_read, file.ReadAt(0, header.data(), header.size()));
  if (!is_read) return head;
  if (std::memcmp(header.data(), kDatabaseMagic.data(), kDatabaseMagic.size()) != 0) return head;
  head.version = BigEndian(&header[60]);
  head.store_id = BigEndian(&header[kStoreIdOffset]);
  const std::uint32_t page_size = BigEndian(&header[16]) >> 16;
  if (page_size == 1) head.page_size = kLargestPage;
  if (std::has_single_bit(page_size) && page_size >= kSmallestPage) head.page_size = page_size;
  // The page count is valid only if it belongs to the last change.
  const bool is_current = BigEndian(&header[24]) == BigEndian(&header[92]);
  if (is_current) head.pages = BigEndian(&header[28]);
  return head;
}

std::string SizeText(std::uint64_t size, std::uint64_t of) {
  return "has " + std::to_string(size) + " of " + std::to_string(of) + " bytes";
}

// Finds pages that must be in the database file because the mark does not require them in the log.
std::optional<CommitLoss> FindLossOfDatabase(const std::string& path, std::uint64_t size,
                                             const CommitState& mark, bool may_be_emptied) {
  const std::uint64_t wanted = std::uint64_t{mark.pages} * mark.page_size;
  // SQLite deletes the log of a database file without pages.
  const bool is_empty = wanted > 0 && size < mark.page_size;
  if (!is_empty && (mark.frames > 0 || size >= wanted)) return std::nullopt;
  return CommitLoss{.file = path,
                    .message = SizeText(size, wanted),
                    .can_be_accepted = size == 0 && may_be_emptied};
}

// Finds pages of the last commit that are neither in the log nor in the truncated file.
// SQLite takes the size of the database from the log and reads such pages as zeros.
Result<std::optional<CommitLoss>> FindMissingPages(const std::string& path,
                                                   const DatabaseHeader& head,
                                                   std::uint32_t page_size, LogCommits commits) {
  const std::uint64_t wanted = commits.frames > 0 ? commits.pages : head.pages;
  const std::uint64_t present = head.file_size / page_size;
  if (head.file_size == 0 || wanted <= present) return std::optional<CommitLoss>();
  // With a rollback journal, the file is in the state of a transaction that SQLite will roll back.
  PENSTOCK_ASSIGN(const std::uint64_t journal, FileSize(path + "-journal"));
  if (journal > 0) return std::optional<CommitLoss>();
  std::vector<std::uint32_t>& in_log = commits.page_numbers;
  in_log.push_back(static_cast<std::uint32_t>(kLockBytes / page_size + 1));  // never written
  std::erase_if(in_log, [&](std::uint32_t page) { return page <= present || page > wanted; });
  std::sort(in_log.begin(), in_log.end());
  in_log.erase(std::unique(in_log.begin(), in_log.end()), in_log.end());
  const std::uint64_t missing = wanted - present - in_log.size();
  if (missing == 0) return std::optional<CommitLoss>();
  return std::optional(CommitLoss{.file = path,
                                  .message = SizeText(head.file_size, wanted * page_size) +
                                             ", and its log does not contain " +
                                             std::to_string(missing) + " of the missing pages",
                                  .can_be_accepted = false});
}

CommitLoss ForeignLog(const std::string& path, std::string message) {
  return {.file = LogPath(path), .message = std::move(message), .is_foreign = true};
}

// Finds a log with commits beside a database that was closed without a log. Its own log can still
// be there, complete, after a kill before its deletion. `same`: the log has the salts of the mark.
std::optional<CommitLoss> FindLogOfAnotherState(const std::string& path, const CommitState& mark,
                                                bool same, std::uint32_t frames_in_log) {
  if (mark.closed == 0 || frames_in_log == 0) return std::nullopt;
  const bool counted = mark.closed >= CommitState::kClosed;
  const std::uint32_t frames = counted ? mark.closed - CommitState::kClosed : 0;
  if (same && (!counted || (frames > 0 && frames_in_log >= frames))) return std::nullopt;
  return ForeignLog(path,
                    "belongs to another database or to another state of this one, which was closed "
                    "without a log");
}

// Whether the log can have begun again, or have been deleted, after the state of the mark.
bool IsOfLaterState(const CommitState& mark, const std::optional<LogHeader>& log,
                    std::uint64_t log_size) {
  if (!log) return log_size == 0;
  return mark.frames == 0 || log->checkpoint_sequence > mark.checkpoint_sequence;
}

std::optional<CommitLoss> FindLossOfLog(const std::string& path, const CommitState& mark,
                                        const std::string& boot_id,
                                        const std::optional<LogHeader>& log,
                                        std::uint32_t frames_in_log) {
  const bool same = log && log->salt_1 == mark.salt_1 && log->salt_2 == mark.salt_2;
  if (mark.frames == 0) return FindLogOfAnotherState(path, mark, same, frames_in_log);
  if (!log) {
    // SQLite fsyncs the header before it writes the first frame, in relaxed mode too.
    return CommitLoss{.file = LogPath(path),
                      .message = "is missing or its header is damaged; it " +
                                 LostPagesText(mark.frames, mark.frames),
                      .frames = mark.frames};
  }
  // The log restarted after the mark was written to disk. It restarts only when all of its pages
  // are in the database.
  if (!same && boot_id != mark.boot_id && log->checkpoint_sequence > mark.checkpoint_sequence)
    return std::nullopt;
  const std::uint32_t found = same ? frames_in_log : 0;
  if (found >= mark.frames) return std::nullopt;
  const bool is_permitted = same && boot_id != mark.boot_id && mark.synced == 0;
  const std::string which = same ? "" : "belongs to another state of the database; it ";
  return CommitLoss{LogPath(path), which + LostPagesText(mark.frames - found, mark.frames),
                    mark.frames - found, is_permitted};
}

// For a database that was written by a build without marks. `size`: bytes of the log.
std::optional<CommitLoss> FindLossWithoutMark(const std::string& path, const DatabaseHeader& head,
                                              const std::optional<LogHeader>& log,
                                              std::uint64_t size, std::uint32_t frames_in_log) {
  if (size == 0 || head.version != 0) return std::nullopt;
  const bool is_of_creation =
      size < kHeaderSize + kCreationFrames * (kFrameHeaderSize + kUsualPage);
  if (head.file_size > 0 && (log ? is_of_creation || frames_in_log > 0 : size < kHeaderSize))
    return std::nullopt;
  return CommitLoss{.file = LogPath(path),
                    .message = "has " + std::to_string(size) + " bytes but no readable commit"};
}

// Resets the mark so that it requires no frames until the next commit, and counts the loss.
Result<void> ResetMark(const std::string& path, const CommitLoss& loss) {
  PENSTOCK_ASSIGN(const auto mark, CommitMark::Open(CommitMarkPath(path)));
  CommitState state = mark->state();
  state.lost_frames += loss.frames;
  state.frames = 0;
  // The last remaining commit may have another number of pages.
  if (!loss.is_foreign) state.pages = 0;
  PENSTOCK_TRY(mark->Store(std::move(state)));
  return mark->Sync();
}

Error LossError(const CommitLoss& loss) {
  const std::string accept =
      loss.can_be_accepted
          ? ", or accept the loss with 'penstock-emulator fsck --accept-loss DIRECTORY'"
          : "; the rest of the file cannot be read without the missing pages";
  return Error::Make(ErrorKind::kDataLoss, "the file " + loss.file + " " + loss.message +
                                               "; restore the data directory from a backup" +
                                               accept);
}

// `inspected`: the mark of the database at `path`.
Result<std::optional<CommitLoss>> FindLoss(const std::string& path, const std::string& boot_id,
                                           const CommitMark::Inspection& inspected,
                                           bool may_be_emptied) {
  const std::optional<CommitState>& mark = inspected.state;
  PENSTOCK_ASSIGN(const DatabaseHeader head, ReadHeader(path));
  if (mark) {
    if (auto loss = FindLossOfDatabase(path, head.file_size, *mark, may_be_emptied)) return loss;
  }
  PENSTOCK_ASSIGN(LogReader log, LogReader::Open(LogPath(path)));
  PENSTOCK_ASSIGN(const std::uint64_t log_size, FileSize(LogPath(path)));
  const std::uint32_t page_size = log.head() ? log.head()->page_size : head.page_size;
  PENSTOCK_ASSIGN(LogCommits commits, log.ReadCommits(head.file_size / page_size));
  std::optional<CommitLoss> loss;
  if (!mark) {
    loss = FindLossWithoutMark(path, head, log.head(), log_size, commits.frames);
  } else if (!inspected.may_be_older || !IsOfLaterState(*mark, log.head(), log_size)) {
    loss = FindLossOfLog(path, *mark, boot_id, log.head(), commits.frames);
  }
  if (loss) return loss;
  // The id of a database never changes. Databases of early builds have none.
  if (head.store_id != 0 && commits.store_id && *commits.store_id != head.store_id)
    return std::optional(ForeignLog(path, "belongs to another database"));
  return FindMissingPages(path, head, page_size, std::move(commits));
}

}  // namespace

Result<std::optional<CommitLoss>> FindCommitLoss(const std::string& path,
                                                 const std::string& boot_id, bool may_be_emptied) {
  PENSTOCK_ASSIGN(const auto mark, CommitMark::Inspect(CommitMarkPath(path)));
  return FindLoss(path, boot_id, mark, may_be_emptied);
}

Result<CommitMark::Inspection> InspectMark(const std::string& path) {
  PENSTOCK_ASSIGN(auto mark, CommitMark::Inspect(CommitMarkPath(path)));
  PENSTOCK_ASSIGN(const std::uint64_t size, FileSize(path));
  if (size == 0) mark.problem.clear();
  return mark;
}

Result<void> CheckCommits(const std::string& path, bool may_be_emptied) {
  PENSTOCK_ASSIGN(const CommitMark::Inspection mark, InspectMark(path));
  if (!mark.problem.empty()) {
    Log({LogLevel::kWarning,
         "store.commit_mark_damaged",
         {{"file", CommitMarkPath(path)}, {"message", mark.problem}}});
  }
  PENSTOCK_ASSIGN(const auto loss, FindLoss(path, BootId(), mark, may_be_emptied));
  if (!loss) return Ok();
  if (!loss->is_permitted) return LossError(*loss);
  Log({LogLevel::kWarning,
       "store.commits_lost",
       {{"file", loss->file},
        {"message", loss->message + " when the machine stopped; relaxed durability permits this "
                                    "loss, --durability strict prevents it"}}});
  return ResetMark(path, *loss);
}

Result<std::optional<CommitLoss>> AcceptCommitLoss(const std::string& path, bool may_be_emptied) {
  PENSTOCK_ASSIGN(auto loss, FindCommitLoss(path, BootId(), may_be_emptied));
  if (!loss) return loss;
  if (!loss->can_be_accepted) return LossError(*loss);
  const std::string log = LogPath(path);
  PENSTOCK_ASSIGN(const std::uint64_t size, FileSize(path));
  PENSTOCK_ASSIGN(const std::uint64_t log_size, FileSize(log));
  PENSTOCK_ASSIGN(LogReader reader, LogReader::Open(log));
  PENSTOCK_ASSIGN(const LogCommits commits, reader.ReadCommits(UINT32_MAX));
  const bool is_unusable = loss->is_foreign || (log_size > 0 && (size == 0 || commits.frames == 0));
  if (is_unusable && ::rename(log.c_str(), (log + ".damaged").c_str()) != 0) {
    return SystemError(ErrorKind::kInternal, "rename", log, errno);
  }
  PENSTOCK_TRY(ResetMark(path, *loss));
  return loss;
}

}  // namespace penstock::emulator::store
