// Files and directories: uploads and downloads that split large files into parts and never leave a
// partial file or object behind.
//
//   UploadFile(client, "model.bin", bucket, ObjectKey("model.bin"));
//   DownloadFile(client, bucket, ObjectKey("model.bin"), "model.bin");
//   UploadDirectory(client, "checkpoints", bucket, "runs/7/");
//   DownloadDirectory(client, bucket, "runs/7/", "checkpoints");
//
// The functions block. They read and write files on the calling thread (directories: on threads of
// their own), never on an I/O thread, where they return kInvalidArgument. They work with every
// ObjectStore.
//
// Thread safety: may be called from any thread.
#ifndef PENSTOCK_FILES_H_
#define PENSTOCK_FILES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"
#include "penstock/transfer.h"

namespace PENSTOCK_EXPORT penstock {

// ---- One file ----

// Uploads a regular file. A file of up to 8 MiB is one PutObject; larger files are written as by
// ObjectWriter, with UploadOptions::single_put_limit_bytes and its parts. The object is published
// whole or not at all.
//
// Errors: kNotFound, kAccessDenied or kInvalidArgument (not a regular file) with the path;
// kDataLoss if the size or the modification time of the file changed during the upload; those of
// the store.
Result<UploadResponse> UploadFile(std::shared_ptr<ObjectStore> store, const std::string& path,
                                  BucketName bucket, ObjectKey key, UploadOptions options = {},
                                  const Interrupt& interrupt = {});

struct FileDownloadOptions {
  std::uint64_t part_size_bytes = 8ull << 20;  // 1 to 5 GiB.
  int max_parallel_parts = 8;  // 1 to 256. Requests in flight. Memory: about this many parts.
  VersionId version_id = {};   // Empty: the current version.
  std::optional<ETag> if_match = {};  // Any other version fails with kPreconditionFailed.
  // If the response has this ETag and another size, one of the two is wrong: kDataLoss, before any
  // file is created.
  ListedObject listed = {};
  // True: the data is on the disk (fsync of the file and its folder) before the function returns.
  bool sync = false;
  // False: anything that has the name `path` is kept, also if it appears during the download. The
  // result is kAlreadyExists then, without a request if it existed before.
  bool replace = true;
  // On the calling thread, after each part. An exception ends the call.
  ProgressCallback progress = {};
  CallOptions call = {};
  CustomerKey customer_key = {};  // Of an object with SSE-C.
};

struct FileDownloadResponse {
  std::uint64_t bytes = 0;
  ObjectMetadata metadata;
};

// The first eight of the 16 digits in the names of temporary files that this process makes. Other
// processes have others, except for forked children.
std::string TemporaryFilesOfProcess();

// Downloads an object to a file. Parts are fetched in parallel from one version, and a failed part
// is retried from the byte reached. The bytes go to a temporary file in the same folder,
// ".NAME.penstock-XXXXXXXXXXXXXXXX" (of long names the first 200 bytes), which is renamed to `path`
// once it is complete and verified against the object's checksum. After an error it is removed, and
// an earlier file at `path` is unchanged. The folder must exist. A symbolic link at `path` is
// replaced. The new file has the permissions of a file that it replaces. A folder, a device, a FIFO
// or a socket at `path` is an error.
//
// Errors: kNotFound (of the object or the folder), kAccessDenied, kResourceExhausted (full disk),
// kDataLoss (wrong checksum, another size than `listed`), kAlreadyExists (`replace`), kUnsupported
// (`replace` is false on a file system that has neither RENAME_NOREPLACE nor hard links); those of
// the store.
Result<FileDownloadResponse> DownloadFile(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                          ObjectKey key, const std::string& path,
                                          FileDownloadOptions options = {},
                                          const Interrupt& interrupt = {});

// ---- Directories ----

// A file of a directory that was not transferred.
struct FileFailure {
  std::string path;
  ObjectKey key;
  Error error;
};

struct DirectoryResponse {
  std::uint64_t files = 0;  // Transferred.
  std::uint64_t bytes = 0;
  std::vector<FileFailure> failures;  // In the order in which they happened.
  // Upload: paths of symbolic links that were not followed, and of devices, sockets and pipes.
  // Download with FileDownloadOptions::replace false: paths of files that existed and were kept.
  std::vector<std::string> skipped;
};

enum class Symlinks {
  kSkip,    // Listed in DirectoryResponse::skipped.
  kFollow,  // As the file or folder that they refer to. A loop is a failure of the link.
};

struct DirectoryOptions {
  int max_parallel_files = 16;  // 1 to 256. Each file has a thread while it is transferred.
  // After this many failures no further file is started.
  std::size_t max_failures = 1000;
  Symlinks symlinks =
      Symlinks::kSkip;        // Upload only. Links below a target folder are never followed.
  UploadOptions upload = {};  // Of each file. Its `call` and `progress` are not used.
  FileDownloadOptions download = {};  // Of each file. Same; `listed` is set from the listing.
  // Called after each file, one call at a time, on any thread; null error: it was transferred;
  // kAlreadyExists: it was kept (`download.replace` is false).
  std::function<void(const std::string& path, const ObjectKey& key, const Error* error)> on_file =
      {};
  CallOptions call = {};  // A stop or the deadline ends the files in progress.
};

// Uploads every regular file below `folder`, recursively, as `prefix` and the path relative to
// `folder`, with '/' between the components. If `prefix` is not empty and does not end in '/', one
// is added. Empty folders are not uploaded.
//
// A failed file does not end the transfer: the response lists it. The function itself fails if the
// folder cannot be read (kNotFound, ...), and with kCancelled or kTimeout.
Result<DirectoryResponse> UploadDirectory(std::shared_ptr<ObjectStore> store,
                                          const std::string& folder, BucketName bucket,
                                          const std::string& prefix, DirectoryOptions options = {},
                                          const Interrupt& interrupt = {});

// Downloads every object whose key begins with `prefix` to the rest of its key below `folder`,
// which is created with the folders in it. As for an upload, a '/' is added to `prefix`. One
// request per object of up to one part. Keys that end in '/' are folders, which are created but do
// not count as files; if such an object has content, it is a failure of that key.
//
// To resume a download that was cancelled or killed, start it again with `download.replace` false:
// files that exist are complete, are kept without a request, and are listed as skipped. They are
// not compared with S3; an object that has changed meanwhile keeps its earlier file.
//
// A key that would leave the folder, or that is not a path, is a failure of that key: components
// "..", "." or "" ("a//b"), or a NUL. Symbolic links below `folder` are not followed, so a link
// that another process placed there cannot redirect a file.
Result<DirectoryResponse> DownloadDirectory(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                            const std::string& prefix, const std::string& folder,
                                            DirectoryOptions options = {},
                                            const Interrupt& interrupt = {});

}  // namespace penstock

#endif  // PENSTOCK_FILES_H_
