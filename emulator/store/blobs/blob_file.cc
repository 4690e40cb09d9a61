#include "emulator/store/blobs/blob_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/crc/crc.h"
#include "emulator/store/blobs/blob_memory.h"
#include "emulator/store/system/directory_names.h"

namespace penstock::emulator::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashBuffer = 128 << 10;
constexpr std::size_t kFirstBuffer = 4 << 10;
constexpr std::size_t kWriteBuffer = 64 << 10;  // smaller appends are collected
// Disk space is preallocated, which makes writes a quarter cheaper. At most this much is
// preallocated beyond the received bytes, whatever size a client announces.
constexpr std::uint64_t kReserveBytes = 16 << 20;
constexpr std::uint64_t kSmallestReserve = 1 << 20;

class FileBlobWriter final : public BlobWriter {
 public:
  FileBlobWriter(std::shared_ptr<BlobRegistry> registry, FileBlobOptions options,
                 std::uint64_t size_hint)
      : registry_(std::move(registry)),
        options_(options),
        size_hint_(size_hint),
        id_(registry_->NextId()) {}

  ~FileBlobWriter() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Result<void> Append(ByteView bytes) override {
    hasher_.Update(bytes);
    if (!file_ && std::max(size_ + bytes.size(), size_hint_) > options_.inline_limit_bytes)
      PENSTOCK_TRY(OpenFile());
    size_ += bytes.size();
    if (file_ && buffer_.size() + bytes.size() > kWriteBuffer) {
      PENSTOCK_TRY(Flush());
      if (bytes.size() >= kWriteBuffer) return Write(bytes);
    }
    while (!bytes.empty()) {
      if (buffer_.size() == buffer_.capacity()) Grow(bytes.size());
      bytes = buffer_.Fill(bytes);
    }
    return Ok();
  }

  Result<Content> Finish() override {
    if (size_ == 0) return Content{};
    StoredBlobPtr blob;
    if (file_) {
      PENSTOCK_TRY(Flush());
      PENSTOCK_TRY(FreeReserve());
      PENSTOCK_TRY(MoveIntoPlace());
      auto adopted = FileBlob::Adopt(registry_, id_, std::move(file_), size_, hasher_.Finish());
      if (!adopted.ok()) {
        ::unlink(registry_->PathOf(id_).c_str());
        return std::move(adopted).error();
      }
      blob = std::move(adopted).value();
    } else {
      buffer_.Trim();
      blob = std::make_shared<HeapBlob>(registry_, id_, std::move(buffer_), hasher_.Finish());
    }
    registry_->AddPending(blob);
    return Content{{{blob, {0, size_}}}};
  }

 private:
  // The buffer is at most the inline limit or the write buffer, so little is copied.
  void Grow(std::size_t wanted) {
    std::uint64_t capacity =
        std::max<std::uint64_t>({kFirstBuffer, 2 * buffer_.capacity(), buffer_.size() + wanted});
    if (file_) capacity = kWriteBuffer;
    if (!file_ && size_hint_ >= buffer_.size() + wanted) capacity = size_hint_;
    HeapBuffer larger(static_cast<std::size_t>(capacity));
    larger.Fill(buffer_.view());
    buffer_ = std::move(larger);
  }

  Result<void> OpenFile() {
    char name[24];
    std::snprintf(name, sizeof(name), "/tmp/%016llx", static_cast<unsigned long long>(id_));
    std::string path = registry_->directory() + name;
    file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_) return SystemError(ErrorKind::kInternal, "create", path, errno);
    temporary_ = std::move(path);
    return Ok();
  }

  // Preallocates space for the next bytes. Failures are ignored: the write itself reports a full
  // disk, and it works on file systems that cannot preallocate.
  void Reserve(std::uint64_t upcoming) {
    if (written_ + upcoming <= reserved_ || size_hint_ < kSmallestReserve) return;
    const std::uint64_t end = std::min(size_hint_, written_ + kReserveBytes);
    if (end <= reserved_) return;
    const auto begin = static_cast<off_t>(reserved_);
    if (::fallocate(file_.get(), 0, begin, static_cast<off_t>(end) - begin) == 0) reserved_ = end;
  }

  // Makes a system call, which returns an errno, again if the disk is full: pending deletions may
  // free space.
  template <class Call>
  int WithFreedSpace(const Call& call) {
    const int error = call();
    if (error != ENOSPC && error != EDQUOT) return error;
    registry_->FlushRemovals();
    return call();
  }

  Result<void> Write(ByteView bytes) {
    Reserve(bytes.size());
    written_ += bytes.size();
    const int error = WithFreedSpace([&] { return WriteAll(file_.get(), bytes); });
    return error == 0 ? Ok()
                      : Result<void>(SystemError(ErrorKind::kInternal, "write", temporary_, error));
  }

  // For a body that was shorter than announced.
  Result<void> FreeReserve() {
    if (reserved_ <= size_ || ::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0) return Ok();
    return SystemError(ErrorKind::kInternal, "truncate", temporary_, errno);
  }

  Result<void> Flush() {
    PENSTOCK_TRY(Write(buffer_.view()));
    buffer_.Clear();
    return Ok();
  }

  // Another writer may create the same directory.
  Result<void> MakeFolder(const std::string& folder) {
    const int error =
        WithFreedSpace([&] { return ::mkdir(folder.c_str(), 0700) == 0 ? 0 : errno; });
    if (error != 0 && error != EEXIST)
      return SystemError(ErrorKind::kInternal, "create the directory", folder, error);
    if (error != 0 || options_.durability != Durability::kStrict) return Ok();
    return SyncDirectory(registry_->directory() + "/blobs");
  }

  Result<void> MoveIntoPlace() {
    const bool strict = options_.durability == Durability::kStrict;
    if (strict && ::fdatasync(file_.get()) != 0) {
      return SystemError(ErrorKind::kInternal, "sync", temporary_, errno);
    }
    const std::string path = registry_->PathOf(id_);
    const std::string folder = fs::path(path).parent_path();
    const auto rename = [&] { return ::rename(temporary_.c_str(), path.c_str()) == 0 ? 0 : errno; };
    int error = WithFreedSpace(rename);
    if (error == ENOENT) {  // the first file in this directory
      PENSTOCK_TRY(MakeFolder(folder));
      error = WithFreedSpace(rename);
    }
    if (error != 0) return SystemError(ErrorKind::kInternal, "rename", temporary_, error);
    temporary_.clear();
    if (!strict) return Ok();
    Result<void> synced = SyncDirectory(folder);
    if (!synced.ok()) ::unlink(path.c_str());
    return synced;
  }

  const std::shared_ptr<BlobRegistry> registry_;
  const FileBlobOptions options_;
  const std::uint64_t size_hint_;
  const std::int64_t id_;
  std::uint64_t size_ = 0;
  std::uint64_t written_ = 0;   // bytes written to the file, at most size_
  std::uint64_t reserved_ = 0;  // end of the preallocated space
  HeapBuffer buffer_;
  BlockHasher hasher_;
  Descriptor file_;
  std::string temporary_;  // empty: no file to clean up
};

using VisitEntry = std::function<Result<void>(const std::string& path, const std::string& name)>;

// Visits one directory, which may be missing.
Result<void> VisitFolder(const std::string& folder, const VisitEntry& visit) {
  std::error_code error;
  for (const std::string& name : NamesIn(folder, error))
    PENSTOCK_TRY(visit(folder + "/" + name, name));
  if (!error || error == std::errc::no_such_file_or_directory) return Ok();
  return SystemError(ErrorKind::kInvalidArgument, "list", folder, error.value());
}

// nullopt: not the name of a blob file.
std::optional<std::int64_t> IdOf(const std::string& name) {
  std::int64_t id = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), id, 16);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  return id;
}

Result<void> MakeDirectory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return SystemError(ErrorKind::kInvalidArgument, "create the directory", path, error.value());
  return Ok();
}

}  // namespace

Result<StoredBlobPtr> FileBlob::Adopt(std::shared_ptr<BlobRegistry> registry, std::int64_t id,
                                      Descriptor file, std::uint64_t size,
                                      std::string block_checksums) {
  std::shared_ptr<FileBlob> blob(
      new FileBlob(std::move(registry), id, size, std::move(block_checksums)));
  blob->share_ = DescriptorShare::Take();
  if (blob->share_.held()) {
    blob->file_ = std::move(file);
    return StoredBlobPtr(std::move(blob));
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "too many stored objects are being read at once; raise the limit of open "
                       "files (ulimit -n)");
  }
  blob->mapped_ = static_cast<const std::byte*>(mapped);
  return StoredBlobPtr(std::move(blob));
}

Result<StoredBlobPtr> FileBlob::Open(const std::shared_ptr<BlobRegistry>& registry, std::int64_t id,
                                     std::uint64_t size, std::string block_checksums) {
  const std::string path = registry->PathOf(id);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return StoredBlobPtr();
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return SystemError(ErrorKind::kInternal, "open", path, errno);
  if (static_cast<std::uint64_t>(status.st_size) < size) {
    return Error::Make(ErrorKind::kDataLoss,
                       "the file " + path + " is truncated: it has " +
                           std::to_string(status.st_size) + " of " + std::to_string(size) +
                           " bytes; restore the file or upload the object again");
  }
  return Adopt(registry, id, std::move(file), size, std::move(block_checksums));
}

FileBlob::FileBlob(std::shared_ptr<BlobRegistry> registry, std::int64_t id, std::uint64_t size,
                   std::string block_checksums)
    : StoredBlob(registry, id, false, std::move(block_checksums)),
      size_(size),
      unverified_(this->block_checksums().empty()
                      ? nullptr
                      : registry->verified().BitsOf(id, BlocksOf(size))) {}

FileBlob::~FileBlob() {
  if (mapped_ != nullptr) ::munmap(const_cast<std::byte*>(mapped_), size_);
}

std::optional<ByteView> FileBlob::Memory() const {
  if (mapped_ == nullptr) return std::nullopt;
  return ByteView(mapped_, size_);
}

Result<std::uint64_t> FileBlob::Checked(ByteRange range) const {
  const bool damaged = damaged_.load(std::memory_order_relaxed);
  if (!damaged && (unverified_ == nullptr || unverified_->all())) return range.size();
  const std::uint64_t first = range.begin / kBlockBytes;
  if (damaged) {
    PENSTOCK_TRY(VerifyBlock(first));
  } else if (!unverified_->Test(first)) {
    PENSTOCK_TRY(VerifyBlock(first));
    if (unverified_->Set(first)) registry()->verified().MarkWhole(id());
  }
  std::uint64_t end = first + 1;
  while (!damaged && end * kBlockBytes < range.end && unverified_->Test(end)) ++end;
  return std::min(end * kBlockBytes, range.end) - range.begin;
}

Result<void> FileBlob::Reverify(ByteRange range) const {
  if (block_checksums().empty() || range.size() == 0) return Ok();
  for (std::uint64_t block = range.begin / kBlockBytes; block * kBlockBytes < range.end; ++block) {
    PENSTOCK_TRY(VerifyBlock(block));
  }
  return Ok();
}

Result<void> FileBlob::VerifyBlock(std::uint64_t block) const {
  const std::uint64_t begin = block * kBlockBytes;
  PENSTOCK_ASSIGN(const std::uint32_t found,
                  HashBytes({begin, std::min(begin + kBlockBytes, size_)}));
  if (found == ChecksumOf(block_checksums(), block)) return Ok();
  damaged_.store(true, std::memory_order_relaxed);
  registry()->verified().MarkDamaged(id());
  return Error::Make(ErrorKind::kDataLoss, "the file " + registry()->PathOf(id()) +
                                               " is damaged at offset " + std::to_string(begin) +
                                               ": the block does not match its checksum;" +
                                               " restore the file or upload the object again");
}

Result<std::uint32_t> FileBlob::HashBytes(ByteRange range) const {
  if (mapped_ != nullptr) return Crc32c({mapped_ + range.begin, range.size()});
  // Small enough for the processor cache.
  thread_local const auto buffer = std::make_unique_for_overwrite<std::byte[]>(kHashBuffer);
  std::uint32_t crc = 0;
  while (range.size() > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(kHashBuffer, range.size());
    const ssize_t got = ::pread(file_.get(), buffer.get(), wanted, static_cast<off_t>(range.begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return SystemError(ErrorKind::kDataLoss, "read", registry()->PathOf(id()),
                         got == 0 ? EIO : errno);
    crc = Crc32c({buffer.get(), static_cast<std::size_t>(got)}, crc);
    range.begin += static_cast<std::uint64_t>(got);
  }
  return crc;
}

bool FileBlob::IsLinked() const {
  struct stat status {};
  if (file_) return ::fstat(file_.get(), &status) == 0 && status.st_nlink > 0;
  return ::stat(registry()->PathOf(id()).c_str(), &status) == 0;
}

Result<void> PrepareBlobDirectory(const std::string& directory, Durability durability) {
  PENSTOCK_TRY(MakeDirectory(directory + "/tmp"));
  PENSTOCK_TRY(MakeDirectory(directory + "/blobs"));
  if (durability != Durability::kStrict) return Ok();
  PENSTOCK_TRY(SyncDirectory(directory + "/blobs"));
  return SyncDirectory(directory);
}

Result<void> VisitBlobFiles(
    const std::string& directory,
    const std::function<Result<void>(std::int64_t id, const std::string& path)>& visit) {
  const auto visit_blob = [&](const std::string& path, const std::string& name) -> Result<void> {
    const auto id = IdOf(name);
    return id ? visit(*id, path) : Ok();
  };
  return VisitFolder(directory + "/blobs", [&](const std::string& folder, const std::string&) {
    std::error_code ignored;
    return fs::is_directory(folder, ignored) ? VisitFolder(folder, visit_blob) : Ok();
  });
}

Result<void> SweepBlobDirectory(const std::string& directory, const SweepOptions& options) {
  const auto is_kept = [&](std::int64_t id) {
    return id >= options.first_id || (options.stop != nullptr && options.stop->load());
  };
  const auto visit_temporary = [&](const std::string& path, const std::string& name) {
    const auto id = IdOf(name);
    if (id && !is_kept(*id)) ::unlink(path.c_str());
    return Ok();
  };
  PENSTOCK_TRY(VisitFolder(directory + "/tmp", visit_temporary));
  return VisitBlobFiles(directory, [&](std::int64_t id, const std::string& path) -> Result<void> {
    if (is_kept(id)) return Ok();
    PENSTOCK_ASSIGN(const bool known, options.is_known(id));
    if (!known) ::unlink(path.c_str());
    return Ok();
  });
}

std::unique_ptr<BlobWriter> NewFileBlobWriter(std::shared_ptr<BlobRegistry> registry,
                                              FileBlobOptions options, std::uint64_t size_hint) {
  return std::make_unique<FileBlobWriter>(std::move(registry), options, size_hint);
}

}  // namespace penstock::emulator::store
