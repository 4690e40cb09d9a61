#include "emulator/store/commit_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/log.h"
#include "emulator/store/descriptor.h"

namespace penstock::emulator::store {
namespace {

// The format of the log: sqlite.org/fileformat2.html §4.1 and §4.2.
constexpr std::size_t kHeaderSize = 32;
constexpr std::size_t kFrameHeaderSize = 24;
constexpr std::uint32_t kLogMagic = 0x377f0682;  // the lowest bit: checksums of big-endian words
constexpr std::uint32_t kLogVersion = 3007000;
constexpr std::uint32_t kSmallestPage = 512;
constexpr std::uint32_t kLargestPage = 65536;
// A log of a build without marks that holds no whole commit: what creating the tables may leave behind has fewer frames.
constexpr std::uint64_t kCreationFrames = 32;
constexpr std::uint64_t kUsualPage = 4096;

std::uint32_t BigEndian(const std::byte* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

class Checksum {
 public:
  explicit Checksum(bool is_big_endian) : swaps_(is_big_endian != (std::endian::native == std::endian::big)) {}
  // `size` is a multiple of 8.
  void Add(const std::byte* bytes, std::size_t size) {
    for (std::size_t at = 0; at < size; at += 8) {
      first_ += Word(bytes + at) + second_;
      second_ += Word(bytes + at + 4) + first_;
    }
  }
  bool Equals(const std::byte* stored) const { return first_ == BigEndian(stored) && second_ == BigEndian(stored + 4); }

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

bool ReadAt(int file, std::uint64_t offset, std::byte* into, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::pread(file, into, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into += count;
    offset += static_cast<std::uint64_t>(count);
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

struct LogHead {
  std::uint32_t page_size = 0;
  std::uint32_t checkpoint_sequence = 0;
  std::uint32_t salt_1 = 0;
  std::uint32_t salt_2 = 0;
};

// A log as SQLite's recovery reads it.
class LogReader {
 public:
  explicit LogReader(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_ || !ReadAt(file_.get(), 0, header_.data(), header_.size())) return;
    const std::uint32_t magic = BigEndian(header_.data());
    LogHead head{BigEndian(&header_[8]), BigEndian(&header_[12]), BigEndian(&header_[16]), BigEndian(&header_[20])};
    checksum_.emplace((magic & 1) != 0);
    checksum_->Add(header_.data(), 24);
    const bool fits = std::has_single_bit(head.page_size) && head.page_size >= kSmallestPage && head.page_size <= kLargestPage;
    if ((magic & ~1U) == kLogMagic && BigEndian(&header_[4]) == kLogVersion && fits && checksum_->Equals(&header_[24])) {
      head_ = head;
    }
  }
  // nullopt: there is no log, or its header is damaged.
  const std::optional<LogHead>& head() const { return head_; }
  // The last frame that ends a commit, counted from 1, among the first `limit`; 0: none. Call once.
  std::uint32_t LastCommit(std::uint32_t limit) {
    std::uint32_t last = 0;
    if (!head_) return last;
    std::vector<std::byte> frame(kFrameHeaderSize + head_->page_size);
    for (std::uint32_t number = 1; number <= limit; ++number) {
      const std::uint64_t offset = kHeaderSize + (number - 1) * std::uint64_t{frame.size()};
      if (!ReadAt(file_.get(), offset, frame.data(), frame.size()) || !IsSound(frame)) break;
      if (BigEndian(&frame[4]) != 0) last = number;
    }
    return last;
  }

 private:
  bool IsSound(const std::vector<std::byte>& frame) {
    checksum_->Add(frame.data(), 8);
    checksum_->Add(&frame[kFrameHeaderSize], frame.size() - kFrameHeaderSize);
    return BigEndian(frame.data()) != 0 && BigEndian(&frame[8]) == head_->salt_1 && BigEndian(&frame[12]) == head_->salt_2 &&
           checksum_->Equals(&frame[16]);
  }

  const Descriptor file_;
  std::array<std::byte, kHeaderSize> header_{};
  std::optional<Checksum> checksum_;
  std::optional<LogHead> head_;
};

std::uint64_t SizeOf(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string Count(std::uint64_t lost, std::uint64_t of) {
  return "lost " + std::to_string(lost) + " of " + std::to_string(of) + " committed pages";
}

// Pages that must be in the database file because the log need not have them.
std::optional<CommitLoss> FindLossOfDatabase(const std::string& path, const CommitState& mark) {
  const std::uint64_t size = SizeOf(path);
  const std::uint64_t wanted = std::uint64_t{mark.pages} * mark.page_size;
  // SQLite deletes the log of a database file without a page.
  const bool is_empty = wanted > 0 && size < mark.page_size;
  if (!is_empty && (mark.frames > 0 || size >= wanted)) return std::nullopt;
  return CommitLoss{path, "has " + std::to_string(size) + " of its " + std::to_string(wanted) + " bytes", 0, false};
}

std::optional<CommitLoss> FindLossOfLog(const std::string& path, const CommitState& mark, const std::string& boot_id) {
  if (mark.frames == 0) return std::nullopt;
  LogReader log(LogPath(path));
  if (!log.head()) {
    // The header is fsynced before the first frame, in relaxed mode too.
    return CommitLoss{LogPath(path), "is missing or its header is damaged; it " + Count(mark.frames, mark.frames), mark.frames,
                      false};
  }
  const bool same = log.head()->salt_1 == mark.salt_1 && log.head()->salt_2 == mark.salt_2;
  // The log began anew after the mark went to the disk, and it does so only once all of it is in the database.
  if (!same && boot_id != mark.boot_id && log.head()->checkpoint_sequence > mark.checkpoint_sequence) return std::nullopt;
  const std::uint32_t found = same ? log.LastCommit(mark.frames) : 0;
  if (found >= mark.frames) return std::nullopt;
  const bool is_permitted = same && boot_id != mark.boot_id && mark.synced == 0;
  const std::string which = same ? "" : "belongs to another state of the database; it ";
  return CommitLoss{LogPath(path), which + Count(mark.frames - found, mark.frames), mark.frames - found, is_permitted};
}

// The version that the database file alone has (PRAGMA user_version, at offset 60 of its header); 0 where it has none.
std::uint32_t VersionInFile(const std::string& path) {
  std::array<std::byte, 4> version{};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file && ReadAt(file.get(), 60, version.data(), version.size()) ? BigEndian(version.data()) : 0;
}

// Of a database that a build without marks wrote.
std::optional<CommitLoss> FindLossWithoutMark(const std::string& path) {
  const std::uint64_t size = SizeOf(LogPath(path));
  if (size == 0 || VersionInFile(path) != 0) return std::nullopt;
  LogReader log(LogPath(path));
  const bool is_of_creation = size < kHeaderSize + kCreationFrames * (kFrameHeaderSize + kUsualPage);
  if (SizeOf(path) > 0 && (log.head() ? is_of_creation || log.LastCommit(UINT32_MAX) > 0 : size < kHeaderSize)) {
    return std::nullopt;
  }
  return CommitLoss{LogPath(path), "has " + std::to_string(size) + " bytes and no commit that can be read", 0, false};
}

// Has the mark require nothing until the next commit, and counts the loss.
Result<void> Forget(const std::string& path, const CommitLoss& loss) {
  PENSTOCK_ASSIGN(const auto mark, CommitMark::Open(CommitMarkPath(path)));
  CommitState state = mark->state();
  state.lost_frames += loss.frames;
  state.frames = 0;
  state.pages = 0;  // the last commit that is left may have had more pages or fewer
  PENSTOCK_TRY(mark->Store(std::move(state)));
  return mark->Sync();
}

}  // namespace

std::optional<CommitLoss> FindCommitLoss(const std::string& path, const std::string& boot_id) {
  const auto mark = CommitMark::Read(CommitMarkPath(path));
  if (!mark) return FindLossWithoutMark(path);
  if (auto loss = FindLossOfDatabase(path, *mark)) return loss;
  return FindLossOfLog(path, *mark, boot_id);
}

std::string FindMarkProblem(const std::string& path) {
  return SizeOf(path) > 0 ? CommitMark::ProblemOf(CommitMarkPath(path)) : std::string();
}

Result<void> CheckCommits(const std::string& path) {
  if (const std::string problem = FindMarkProblem(path); !problem.empty()) {
    Log({LogLevel::kWarning, "store.commit_mark_damaged", {{"file", CommitMarkPath(path)}, {"message", problem}}});
  }
  const auto loss = FindCommitLoss(path, BootId());
  if (!loss) return Ok();
  if (!loss->is_permitted) {
    return Error::Make(ErrorKind::kDataLoss, "the file " + loss->file + " " + loss->message +
                                                 "; restore the data directory from a copy, or give up what was lost with "
                                                 "'penstock-emulator fsck --accept-loss DIRECTORY'");
  }
  Log({LogLevel::kWarning,
       "store.commits_lost",
       {{"file", loss->file},
        {"message", loss->message + " when the machine stopped; relaxed durability permits that, --durability strict does not lose them"}}});
  return Forget(path, *loss);
}

Result<std::optional<CommitLoss>> AcceptCommitLoss(const std::string& path) {
  auto loss = FindCommitLoss(path, BootId());
  if (!loss) return loss;
  const std::string log = LogPath(path);
  const bool is_unusable = SizeOf(log) > 0 && (SizeOf(path) == 0 || LogReader(log).LastCommit(UINT32_MAX) == 0);
  if (is_unusable && ::rename(log.c_str(), (log + ".damaged").c_str()) != 0) {
    return SystemError(ErrorKind::kInternal, "rename", log, errno);
  }
  PENSTOCK_TRY(Forget(path, *loss));
  return loss;
}

}  // namespace penstock::emulator::store
