#include "client/transfer/files/file_transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/io/file_error.h"
#include "base/log/caught.h"
#include "client/transfer/object_checksum.h"
#include "penstock/base/blocking.h"

namespace penstock {
namespace transfer {
namespace {

constexpr std::uint64_t kBlockBytes = 8ull << 20;
constexpr std::uint64_t kUnsizedBlockBytes = 64ull << 10;

// A regular file that must not change while it is read.
class SourceFile {
 public:
  static Result<SourceFile> Open(const std::string& path, int open_flags) {
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | open_flags));
    if (!fd && errno == ELOOP && (open_flags & O_NOFOLLOW) != 0)
      return Error::Make(ErrorKind::kInvalidArgument, "'" + path + "' is a symbolic link now");
    if (!fd) return FileError("open", path, errno);
    SourceFile file(std::move(fd), path);
    if (::fstat(file.fd_.get(), &file.opened_) != 0) return FileError("read", path, errno);
    if (!S_ISREG(file.opened_.st_mode))
      return Error::Make(ErrorKind::kInvalidArgument, "'" + path + "' is not a regular file");
    return file;
  }

  // 0 also for files whose content is made when they are read (/proc).
  std::uint64_t size() const { return static_cast<std::uint64_t>(opened_.st_size); }

  // Fills `block` from the next byte. Fewer bytes mean the end of the file. Returns kDataLoss if
  // the file has grown, since it may grow without end.
  Result<std::size_t> Read(MutableByteView block) {
    std::size_t filled = 0;
    while (filled < block.size()) {
      const ::ssize_t count = ::read(fd_.get(), block.data() + filled, block.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return FileError("read", path_, errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    read_ += filled;
    if (read_ > size()) PENSTOCK_TRY(CheckUnchanged());
    return filled;
  }

  // Returns kDataLoss if what was read may not be one version of the file.
  Result<void> CheckUnchanged() const {
    struct ::stat now {};
    if (::fstat(fd_.get(), &now) != 0) return FileError("read", path_, errno);
    const bool same = (read_ == size() || size() == 0) && now.st_size == opened_.st_size &&
                      now.st_mtim.tv_sec == opened_.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec;
    if (same) return Ok();
    return Error::Make(ErrorKind::kDataLoss, "'" + path_ + "' changed while it was uploaded (" +
                                                 std::to_string(size()) + " bytes at first, " +
                                                 std::to_string(now.st_size) +
                                                 " now); nothing was published");
  }

 private:
  SourceFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Descriptor fd_;
  std::string path_;
  struct ::stat opened_ {};
  std::uint64_t read_ = 0;
};

// Reads an object into a new file, from the start for each call of Read. Arguments of the
// constructor that are references must outlive it.
class FileRead {
 public:
  FileRead(Folder folder, std::string name, const FileDownloadOptions& options,
           const Interrupt& interrupt)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        options_(options),
        interrupt_(interrupt) {}

  Result<void> Read(const std::shared_ptr<ObjectStore>& store, const ObjectStream::Source& source) {
    const auto stream = ObjectStream::Open(store, source,
                                           {.part_size_bytes = options_.part_size_bytes,
                                            .read_ahead_parts = options_.max_parallel_parts - 1,
                                            .call = options_.call,
                                            .customer_key = options_.customer_key});
    // No file is created for an object that cannot be read.
    PENSTOCK_ASSIGN(std::optional<StreamBlock> block, stream->Next(interrupt_));
    if (target_) {
      PENSTOCK_TRY(target_->Clear());
    } else {
      PENSTOCK_ASSIGN(
          FileTarget created,
          FileTarget::Create(std::move(folder_), std::move(name_),
                             options_.replace ? ExistingFile::kReplace : ExistingFile::kKeep));
      target_.emplace(std::move(created));
    }
    metadata_ = stream->metadata();
    while (block) {
      PENSTOCK_TRY(target_->Append({block->data.get(), block->size}));
      block.reset();  // returns its memory before the next block
      if (target_->bytes() > reported_) PENSTOCK_TRY(Report());  // the second read repeats bytes
      PENSTOCK_ASSIGN(block, stream->Next(interrupt_));
    }
    metadata_ = stream->metadata();
    return Ok();
  }

  // The version whose bytes arrived; nullopt: none did, or the response had no ETag.
  std::optional<ETag> etag() const {
    if (!metadata_ || metadata_->etag.value.empty()) return std::nullopt;
    return metadata_->etag;
  }

  Result<FileDownloadResponse> Publish() {
    if (target_->bytes() == 0) PENSTOCK_TRY(Report());  // nothing was reported yet
    PENSTOCK_TRY(target_->Publish(options_.sync));
    return FileDownloadResponse{target_->bytes(), std::move(metadata_).value_or(ObjectMetadata())};
  }

 private:
  Result<void> Report() {
    if (!options_.progress) return Ok();
    reported_ = target_->bytes();
    return Caught("FileDownloadOptions::progress", [&] {
      options_.progress({reported_, metadata_ ? std::optional(metadata_->size) : std::nullopt});
    });
  }

  Folder folder_;
  std::string name_;
  const FileDownloadOptions& options_;
  const Interrupt& interrupt_;
  std::optional<FileTarget> target_;
  std::optional<ObjectMetadata> metadata_;  // set: bytes arrived
  std::uint64_t reported_ = 0;
};

}  // namespace

Result<void> Check(const FileDownloadOptions& options) {
  constexpr std::uint64_t kLargestPart = 5ull << 30;
  constexpr int kMaxParts = 256;
  if (options.part_size_bytes < 1 || options.part_size_bytes > kLargestPart) {
    return Error::Make(ErrorKind::kInvalidArgument, "part_size_bytes must be 1 to " +
                                                        std::to_string(kLargestPart) + ", not " +
                                                        std::to_string(options.part_size_bytes));
  }
  if (options.max_parallel_parts < 1 || options.max_parallel_parts > kMaxParts) {
    return Error::Make(ErrorKind::kInvalidArgument, "max_parallel_parts must be 1 to " +
                                                        std::to_string(kMaxParts) + ", not " +
                                                        std::to_string(options.max_parallel_parts));
  }
  return Ok();
}

Result<FileDownloadResponse> DownloadInto(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                          ObjectKey key, Folder folder, std::string name,
                                          const FileDownloadOptions& options,
                                          const Interrupt& interrupt) {
  if (!options.replace) PENSTOCK_TRY(CheckAbsent(folder, name));
  ObjectStream::Source source;
  source.bucket = std::move(bucket);
  source.key = std::move(key);
  source.known_etag = options.if_match;
  source.version_id = options.version_id;
  source.listed = options.listed;
  FileRead read(std::move(folder), std::move(name), options, interrupt);
  Result<void> got = read.Read(store, source);
  const bool may_repeat =
      store->may_repeat() && !options.call.deadline.Passed(SystemClock()) && read.etag();
  if (!got.ok() && got.error().kind == ErrorKind::kDataLoss && may_repeat) {
    const Error first = std::move(got).error();
    source.known_etag = read.etag();  // the same version
    got = read.Read(store, source);
    if (!got.ok()) return ErrorOfSecondRead(std::move(got).error(), first);
  }
  PENSTOCK_TRY(std::move(got));
  return read.Publish();
}

Result<UploadResponse> UploadFrom(std::shared_ptr<ObjectStore> store, const std::string& path,
                                  int open_flags, BucketName bucket, ObjectKey key,
                                  UploadOptions options, const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(SourceFile file, SourceFile::Open(path, open_flags));
  std::vector<std::byte> block(static_cast<std::size_t>(
      file.size() == 0 ? kUnsizedBlockBytes : std::min(file.size() + 1, kBlockBytes)));
  PENSTOCK_ASSIGN(std::size_t count, file.Read(block));
  if (count < block.size()) {
    PENSTOCK_TRY(file.CheckUnchanged());
    return Upload(std::move(store), std::move(bucket), std::move(key), ByteView(block).first(count),
                  std::move(options), interrupt);
  }
  if (!options.size_hint_bytes && file.size() != 0) options.size_hint_bytes = file.size();
  const auto writer =
      ObjectWriter::Create(std::move(store), std::move(bucket), std::move(key), std::move(options));
  while (count != 0) {
    PENSTOCK_TRY(writer->Write(ByteView(block).first(count), interrupt));
    PENSTOCK_ASSIGN(count, file.Read(block));
  }
  PENSTOCK_TRY(file.CheckUnchanged());  // otherwise the writer aborts the upload
  return writer->Finish(interrupt);
}

}  // namespace transfer

Result<UploadResponse> UploadFile(std::shared_ptr<ObjectStore> store, const std::string& path,
                                  BucketName bucket, ObjectKey key, UploadOptions options,
                                  const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("UploadFile"));
  return transfer::UploadFrom(std::move(store), path, 0, std::move(bucket), std::move(key),
                              std::move(options), interrupt);
}

Result<FileDownloadResponse> DownloadFile(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                          ObjectKey key, const std::string& path,
                                          FileDownloadOptions options, const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("DownloadFile"));
  PENSTOCK_TRY(transfer::Check(options));
  PENSTOCK_ASSIGN(const transfer::FilePath target, transfer::SplitPath(path));
  PENSTOCK_ASSIGN(transfer::Folder folder, transfer::OpenFolder(target.folder));
  return transfer::DownloadInto(std::move(store), std::move(bucket), std::move(key),
                                std::move(folder), target.name, options, interrupt);
}

}  // namespace penstock
