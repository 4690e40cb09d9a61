#include "emulator/store/sqlite/commit_mark.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/crc/crc.h"

namespace penstock::emulator::store {
namespace {

constexpr std::size_t kFileSize = 4096;
constexpr std::size_t kSlotDistance = 2048;           // a torn sector damages at most one slot
constexpr std::uint64_t kMagic = 0x31306b72616d7370;  // "psmark01" on disk
constexpr std::size_t kBootIdSize = 36;
#ifndef XFS_SUPER_MAGIC
constexpr long XFS_SUPER_MAGIC = 0x58465342;
#endif

// The format on disk, in the machine's byte order.
struct Slot {
  std::uint64_t magic;
  std::uint64_t sequence;
  std::uint64_t lost_frames;
  std::uint32_t salt_1;
  std::uint32_t salt_2;
  std::uint32_t checkpoint_sequence;
  std::uint32_t frames;
  std::uint32_t pages;
  std::uint32_t page_size;
  std::uint32_t synced;
  std::array<char, kBootIdSize> boot_id;
  std::uint32_t closed;
  std::uint32_t crc;  // CRC-32 of all preceding bytes
};
static_assert(sizeof(Slot) == 96, "the slot has no padding: its bytes are checksummed");

std::uint32_t CrcOf(const Slot& slot) {
  return Crc32(ByteView(reinterpret_cast<const std::byte*>(&slot), offsetof(Slot, crc)));
}

Slot ToSlot(const CommitState& state, std::uint64_t sequence) {
  Slot slot{};
  slot.magic = kMagic;
  slot.sequence = sequence;
  slot.lost_frames = state.lost_frames;
  slot.salt_1 = state.salt_1;
  slot.salt_2 = state.salt_2;
  slot.checkpoint_sequence = state.checkpoint_sequence;
  slot.frames = state.frames;
  slot.pages = state.pages;
  slot.page_size = state.page_size;
  slot.synced = state.synced;
  std::copy_n(state.boot_id.data(), std::min(state.boot_id.size(), kBootIdSize),
              slot.boot_id.data());
  slot.closed = state.closed;
  slot.crc = CrcOf(slot);
  return slot;
}

CommitState ToState(const Slot& slot) {
  const auto end = std::find(slot.boot_id.begin(), slot.boot_id.end(), '\0');
  return {slot.salt_1, slot.salt_2,      slot.checkpoint_sequence,
          slot.frames, slot.pages,       slot.page_size,
          slot.synced, slot.lost_frames, std::string(slot.boot_id.begin(), end),
          slot.closed};
}

struct Slots {
  std::optional<Slot> newest;  // the newest valid slot
  int damaged = 0;             // slots that are cut off, or neither valid nor zero
  int error = 0;               // of a read that failed; the slot may be the newest
};

Slots ReadSlots(int file) {
  Slots slots;
  for (const std::size_t offset : {std::size_t{0}, kSlotDistance}) {
    Slot slot{};
    const ssize_t read = ::pread(file, &slot, sizeof(slot), static_cast<off_t>(offset));
    if (read < 0) slots.error = errno;
    const bool is_read = read == static_cast<ssize_t>(sizeof(slot));
    if (!is_read || slot.magic != kMagic || slot.crc != CrcOf(slot)) {
      constexpr Slot kUnwritten{};
      if (!is_read || std::memcmp(&slot, &kUnwritten, sizeof(slot)) != 0) ++slots.damaged;
    } else if (!slots.newest || slot.sequence > slots.newest->sequence) {
      slots.newest = slot;
    }
  }
  return slots;
}

// On these file systems a page that was written once can be written again without new disk space.
// On others, a write to mapped memory can end the process with SIGBUS when the disk is full.
bool IsWrittenInPlace(int file) {
  struct statfs system {};
  if (::fstatfs(file, &system) != 0) return false;
  return system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC ||
         system.f_type == TMPFS_MAGIC;
}

// Sets the size of a new file, and writes the file and its name to disk.
int Initialize(int file, const std::string& path) {
  const std::array<char, kFileSize> zeros{};
  if (::pwrite(file, zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size()))
    return errno == 0 ? EIO : errno;
  if (::fdatasync(file) != 0) return errno;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor directory(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && ::fsync(directory.get()) == 0 ? 0 : errno;
}

}  // namespace

std::string LogPath(const std::string& database) { return database + "-wal"; }
std::string CommitMarkPath(const std::string& database) { return database + "-mark"; }

std::string BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id.substr(0, kBootIdSize);
}

Result<std::unique_ptr<CommitMark>> CommitMark::Open(const std::string& path) {
  std::unique_ptr<CommitMark> mark(new CommitMark(path));
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return SystemError(ErrorKind::kInternal, "open", path, errno);
  if (status.st_size != static_cast<off_t>(kFileSize)) {
    errno = 0;
    if (const int error = Initialize(file.get(), path); error != 0) {
      return SystemError(ErrorKind::kInternal, "create", path, error);
    }
  }
  const Slots slots = ReadSlots(file.get());
  if (slots.error != 0) return SystemError(ErrorKind::kInternal, "read", path, slots.error);
  if (slots.newest) {
    mark->sequence_ = slots.newest->sequence;
    mark->state_ = ToState(*slots.newest);
  }
  if (IsWrittenInPlace(file.get())) {
    void* const mapped =
        ::mmap(nullptr, kFileSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapped != MAP_FAILED) mark->mapped_ = static_cast<std::byte*>(mapped);
  }
  if (mark->mapped_ == nullptr) mark->file_ = std::move(file);
  return mark;
}

Result<CommitMark::Inspection> CommitMark::Inspect(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    if (errno == ENOENT) return Inspection{std::nullopt, "is missing"};
    return UnreadableFile(path, errno);
  }
  const Slots slots = ReadSlots(file.get());
  if (slots.error != 0) return UnreadableFile(path, slots.error);
  Inspection found;
  if (slots.newest) found.state = ToState(*slots.newest);
  found.may_be_older = slots.newest && slots.damaged > 0;
  if (status.st_size != static_cast<off_t>(kFileSize)) {
    found.problem =
        "has " + std::to_string(status.st_size) + " bytes instead of " + std::to_string(kFileSize);
  } else if (!slots.newest) {
    found.problem = slots.damaged > 0 ? "is damaged" : "is empty";
  } else if (slots.damaged > 0) {
    found.problem = "has a damaged slot";
  }
  return found;
}

CommitMark::~CommitMark() {
  if (mapped_ != nullptr) ::munmap(mapped_, kFileSize);
}

Result<void> CommitMark::Store(CommitState state) {
  const Slot slot = ToSlot(state, sequence_ + 1);
  const std::size_t offset = slot.sequence % 2 == 0 ? 0 : kSlotDistance;
  if (mapped_ != nullptr) {
    std::memcpy(mapped_ + offset, &slot, sizeof(slot));
  } else if (::pwrite(file_.get(), &slot, sizeof(slot), static_cast<off_t>(offset)) !=
             static_cast<ssize_t>(sizeof(slot))) {
    return SystemError(ErrorKind::kInternal, "write", path_, errno);
  }
  sequence_ = slot.sequence;
  state_ = std::move(state);
  return Ok();
}

Result<void> CommitMark::Sync() {
  const int failed =
      mapped_ != nullptr ? ::msync(mapped_, kFileSize, MS_SYNC) : ::fdatasync(file_.get());
  if (failed != 0) return SystemError(ErrorKind::kInternal, "sync", path_, errno);
  return Ok();
}

}  // namespace penstock::emulator::store
