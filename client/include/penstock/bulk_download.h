// Many small objects to files: one request for each, many requests at a time, no thread per file.
//
//   auto downloads = BulkDownload::Create(client, {});
//   for (const ObjectSummary& object : page.objects)
//     (*downloads)->Add({bucket, object.key, object.size, object.etag, "folder/" + name});
//   while ((*downloads)->pending() > 0)
//     for (const BulkFileResult& file : (*downloads)->Take().value()) Report(file);
//
// For objects whose size and ETag are known from a listing. DownloadFile (penstock/files.h) is for
// large objects, which it fetches in parts.
#ifndef PENSTOCK_BULK_DOWNLOAD_H_
#define PENSTOCK_BULK_DOWNLOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// An object of a listing, and the file that receives it.
struct BulkFile {
  BucketName bucket;
  ObjectKey key;
  std::uint64_t size = 0;  // Bytes. The whole object is received into memory.
  ETag etag;               // Sent as If-Match.
  std::string path;        // As for DownloadFile: its folder must exist.
};

struct BulkFileResult {
  std::uint64_t number = 0;  // As returned by Add.
  Result<ObjectMetadata> result;
};

struct BulkDownloadOptions {
  int max_parallel_requests = 32;  // 1 to 10,000.
  // Limit on the bytes of objects that are being received or wait to be written. A larger object
  // is downloaded alone. The bytes also count against the process's limit (penstock/memory.h). If
  // other transfers use all of it, one object at a time is downloaded.
  std::uint64_t max_memory_bytes = 64ull << 20;
  int writer_threads = 8;  // 1 to 256.
  // True: the file gets the modification time of the object.
  bool keep_modification_time = false;
  bool sync = false;              // As FileDownloadOptions::sync, for each file.
  bool replace = true;            // As FileDownloadOptions::replace, for each file.
  CallOptions call = {};          // Of each request. A stop ends all of them.
  CustomerKey customer_key = {};  // Of objects with SSE-C.
};

// Each object is one GetObject with If-Match, verified against its checksum. The bytes are received
// into memory. A writer thread then writes them to a temporary file, which it renames to the
// target, by the rules of DownloadFile. After an error, an earlier file at the path is unchanged,
// and no temporary file is left.
//
// Errors of a file: kPreconditionFailed if the object has another ETag than in the listing,
// kDataLoss if it has the ETag and another size; those of DownloadFile.
//
// Thread safety: one caller at a time; Cancel from any thread. Destruction cancels what is left and
// waits for it; on an I/O thread it leaves the wait to another thread. In a forked child an
// inherited object returns kInvalidArgument and may be destroyed.
class BulkDownload {
 public:
  // Returns kInvalidArgument for options out of their range, and kResourceExhausted if no thread
  // can be started.
  static Result<std::unique_ptr<BulkDownload>> Create(std::shared_ptr<ObjectStore> store,
                                                      BulkDownloadOptions options);
  virtual ~BulkDownload() = default;

  // Adds a file to the queue, and does not wait. Returns its number: 0, 1, 2, and so on. Requests
  // start in this order. The caller bounds the queue by pending().
  virtual Result<std::uint64_t> Add(BulkFile file) = 0;
  // Waits until some files have ended, and returns their results, in the order in which they ended.
  // Returns at once if pending() is 0. Returns kCancelled after `interrupt`, which is polled about
  // every 100 ms, returned true; no result is lost then.
  virtual Result<std::vector<BulkFileResult>> Take(const Interrupt& interrupt = {}) = 0;
  // Same, without waiting: returns the results that exist.
  virtual std::vector<BulkFileResult> TakeReady() = 0;
  // Files whose results have not been taken.
  virtual std::uint64_t pending() const = 0;
  // Changes max_parallel_requests for requests that start later.
  virtual void SetMaxParallelRequests(int max_parallel_requests) = 0;
  // Ends the files that are not being written with kCancelled, soon. Also those added later.
  virtual void Cancel() = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_BULK_DOWNLOAD_H_
