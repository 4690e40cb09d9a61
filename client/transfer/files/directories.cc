// UploadDirectory and DownloadDirectory.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/io/file_error.h"
#include "client/transfer/files/file_pool.h"
#include "client/transfer/files/file_transfer.h"
#include "penstock/base/blocking.h"
#include "penstock/files.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using transfer::FilePool;

constexpr int kMaxParallelFiles = 256;

Result<void> Check(const DirectoryOptions& options) {
  if (options.max_parallel_files >= 1 && options.max_parallel_files <= kMaxParallelFiles)
    return Ok();
  return Error::Make(ErrorKind::kInvalidArgument, "max_parallel_files must be 1 to " +
                                                      std::to_string(kMaxParallelFiles) + ", not " +
                                                      std::to_string(options.max_parallel_files));
}

std::string FolderPrefix(std::string prefix) {
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  return prefix;
}

// Ends waits of a file that no request takes part in, such as one for memory.
Interrupt EndOf(const CallOptions& call) {
  return [&call] { return call.cancel.stop_requested() || call.deadline.Passed(SystemClock()); };
}

// Identifies a folder, to find loops of symbolic links.
using FolderId = std::pair<std::uint64_t, std::uint64_t>;

// Walks a folder, and submits its files.
class FolderWalk {
 public:
  FolderWalk(FilePool& pool, const std::shared_ptr<ObjectStore>& store, const BucketName& bucket,
             const DirectoryOptions& options)
      : pool_(pool), store_(store), bucket_(bucket), options_(options) {}

  // Returns false once no further file will be started.
  bool Walk(const std::string& folder, const std::string& key_prefix) {
    const std::optional<FolderId> id = IdOf(folder);
    if (id && std::ranges::find(open_, *id) != open_.end()) {
      return pool_.Fail(
          folder, ObjectKey(key_prefix),
          Error::Make(ErrorKind::kInvalidArgument, "'" + folder + "' is a loop of symbolic links"));
    }
    if (id) open_.push_back(*id);
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    bool more = true;
    for (; !error && more && entry != fs::directory_iterator(); entry.increment(error))
      more = Visit(*entry, key_prefix + entry->path().filename().string());
    if (id) open_.pop_back();
    if (error)
      return pool_.Fail(folder, ObjectKey(key_prefix),
                        FileError("read the folder", folder, error.value()));
    return more;
  }

 private:
  static std::optional<FolderId> IdOf(const std::string& folder) {
    struct ::stat status {};
    if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
    return FolderId{status.st_dev, status.st_ino};
  }

  bool Visit(const fs::directory_entry& entry, std::string key) {
    std::string path = entry.path().string();
    std::error_code error;
    const bool is_link = entry.is_symlink(error);
    if (is_link && options_.symlinks == Symlinks::kSkip) {
      pool_.Skip(std::move(path));
      return true;
    }
    const fs::file_status status = entry.status(error);
    if (error) return pool_.Fail(path, ObjectKey(key), FileError("read", path, error.value()));
    if (fs::is_directory(status)) return Walk(path, key + "/");
    if (!fs::is_regular_file(status)) {
      pool_.Skip(std::move(path));
      return true;
    }
    return Submit(std::move(path), ObjectKey(std::move(key)));
  }

  bool Submit(std::string path, ObjectKey key) {
    auto run = [store = store_, bucket = bucket_, path, key,
                &options = options_](const CallOptions& call) -> Result<std::uint64_t> {
      UploadOptions upload = options.upload;
      upload.call = call;
      upload.progress = nullptr;
      // Another process may have put a link in the place of the file since the walk saw it.
      const int open_flags = options.symlinks == Symlinks::kSkip ? O_NOFOLLOW : 0;
      PENSTOCK_ASSIGN(
          const UploadResponse sent,
          transfer::UploadFrom(store, path, open_flags, bucket, key, upload, EndOf(call)));
      return sent.bytes;
    };
    return pool_.Submit({std::move(path), std::move(key), std::move(run)});
  }

  FilePool& pool_;
  const std::shared_ptr<ObjectStore> store_;  // Shared with the files in progress.
  const BucketName bucket_;
  const DirectoryOptions& options_;
  std::vector<FolderId> open_;  // From the top to the folder being read.
};

// What the files of a download share. It outlives the pool.
struct DownloadPlan {
  std::shared_ptr<ObjectStore> store;  // Shared with the files in progress.
  BucketName bucket;
  std::string prefix;
  transfer::Folder folder;
  const DirectoryOptions& options;
};

Result<std::uint64_t> DownloadOne(const DownloadPlan& plan, const ObjectKey& key,
                                  const ListedObject& listed, const CallOptions& call) {
  PENSTOCK_ASSIGN(std::vector<std::string> path,
                  transfer::PathOfKey(std::string_view(key.value).substr(plan.prefix.size())));
  const std::string name = std::move(path.back());
  path.pop_back();
  PENSTOCK_ASSIGN(transfer::Folder folder, transfer::MakeFolders(plan.folder, path));
  FileDownloadOptions options = plan.options.download;
  options.call = call;
  options.progress = nullptr;
  options.listed = listed;
  PENSTOCK_ASSIGN(const FileDownloadResponse got,
                  transfer::DownloadInto(plan.store, plan.bucket, key, std::move(folder), name,
                                         options, EndOf(call)));
  return got.bytes;
}

// Creates the folder of a key that ends in '/'. That of the prefix itself exists.
Result<void> MakeFolderOf(const DownloadPlan& plan, const ObjectSummary& object) {
  if (const std::string_view rest = std::string_view(object.key.value).substr(plan.prefix.size());
      !rest.empty()) {
    PENSTOCK_ASSIGN(const std::vector<std::string> path, transfer::PathOfKey(rest));
    PENSTOCK_TRY(transfer::MakeFolders(plan.folder, path));
  }
  if (object.size == 0) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the key '" + object.key.value +
                         "' ends in '/', so it is a folder here, but the object has " +
                         std::to_string(object.size) +
                         " bytes; download it with DownloadFile to a path of your choice");
}

// Submits the objects of all pages. Returns false once no further file will be started.
Result<bool> SubmitListing(const DownloadPlan& plan, FilePool& pool, const Interrupt& interrupt) {
  ListObjectsRequest request{.bucket = plan.bucket, .prefix = plan.prefix, .options = pool.call()};
  const auto pages = Lister::Create(plan.store, std::move(request));
  for (;;) {
    PENSTOCK_ASSIGN(const std::optional<ListObjectsResponse> page, pages->Next(interrupt));
    if (!page) return true;
    for (const ObjectSummary& object : page->objects) {
      const std::string path = plan.folder.path + "/" + object.key.value.substr(plan.prefix.size());
      if (object.key.value.ends_with('/')) {
        Result<void> made = MakeFolderOf(plan, object);
        if (!made.ok() && !pool.Fail(path, object.key, std::move(made).error())) return false;
        continue;
      }
      auto run = [&plan, key = object.key, listed = ListedObject{object.size, object.etag}](
                     const CallOptions& call) { return DownloadOne(plan, key, listed, call); };
      if (!pool.Submit({path, object.key, std::move(run)})) return false;
    }
  }
}

}  // namespace

Result<DirectoryResponse> UploadDirectory(std::shared_ptr<ObjectStore> store,
                                          const std::string& folder, BucketName bucket,
                                          const std::string& prefix, DirectoryOptions options,
                                          const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("UploadDirectory"));
  PENSTOCK_TRY(Check(options));
  PENSTOCK_TRY(transfer::OpenFolder(folder));
  FilePool pool(options, interrupt);
  FolderWalk(pool, store, bucket, options).Walk(folder, FolderPrefix(prefix));
  return pool.Finish();
}

Result<DirectoryResponse> DownloadDirectory(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                            const std::string& prefix, const std::string& folder,
                                            DirectoryOptions options, const Interrupt& interrupt) {
  PENSTOCK_TRY(CheckMayBlock("DownloadDirectory"));
  PENSTOCK_TRY(Check(options));
  PENSTOCK_TRY(transfer::Check(options.download));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return FileError("create the folder", folder, error.value());
  PENSTOCK_ASSIGN(transfer::Folder opened, transfer::OpenFolder(folder));
  const DownloadPlan plan{std::move(store), std::move(bucket), FolderPrefix(prefix),
                          std::move(opened), options};
  FilePool pool(options, interrupt);
  const Result<bool> listed = SubmitListing(plan, pool, interrupt);
  Result<DirectoryResponse> response = pool.Finish();
  if (!listed.ok() && response.ok()) return listed.error();
  return response;
}

}  // namespace penstock
