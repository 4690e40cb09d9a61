// Reads scattered ranges of many objects into the caller's memory, for example to load a
// distributed checkpoint.
#ifndef PENSTOCK_RANGE_READER_H_
#define PENSTOCK_RANGE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// The bytes [begin, begin + memory.size()) of an object are written to `memory`.
struct RangePiece {
  std::uint64_t begin = 0;
  MutableByteView memory;
};

struct RangeBatch {
  BucketName bucket;
  ObjectKey key;
  // In any order. Bytes that several pieces request are fetched once and copied. The memory of the
  // pieces must not overlap and belongs to the reader until the callback runs.
  std::vector<RangePiece> pieces;
  // The version to read, if known. Otherwise the first response determines it for all batches of
  // the object.
  std::optional<ETag> known_etag;
};

struct RangesRead {
  std::uint64_t bytes = 0;  // Of the pieces; shared bytes count once.
  ETag etag;                // Empty: nothing was requested, or the store has no ETags.
};

struct RangeReaderOptions {
  // Pieces at most this many bytes apart share one request, which skips the bytes between them.
  // Unset: 32 KiB, or up to 1 MiB while all skipped bytes stay within 1/64 of the bytes requested.
  std::optional<std::uint64_t> max_gap_bytes = {};
  // Longer runs are split into requests of at most this many bytes. Unset: 8 to 64 MiB, by the size
  // of the batch.
  std::optional<std::uint64_t> max_request_bytes = {};
  // Concurrent requests. Unset: chosen from the measured rate, up to 16.
  std::optional<int> max_parallel_requests = {};
  CallOptions call = {};
  CustomerKey customer_key = {};  // Of objects with SSE-C.
};

// Reads batches of pieces. Batches of several objects run concurrently and start in the order of
// Start. Pieces of 4 KiB or more are received in place. Smaller pieces and skipped bytes go through
// a buffer of at most one request's size.
//
// All bytes of an object come from one version; if the object is replaced, the read fails with
// kPreconditionFailed. If an object ends before a piece does, it fails with kDataLoss.
//
// Thread safety: Start and usage may be called from any thread. Destruction cancels pending batches
// and waits for them; on an I/O thread it leaves the wait to another thread. In a forked child an
// inherited reader returns kInvalidArgument and may be destroyed.
class RangeReader {
 public:
  struct Usage {
    std::uint64_t requests = 0;
    std::uint64_t bytes_wanted = 0;  // Of the pieces.
    std::uint64_t bytes_asked = 0;   // Of the requests, skipped bytes included.
    int peak_parallel = 0;           // Maximum of concurrent requests.
  };

  static std::unique_ptr<RangeReader> Create(std::shared_ptr<ObjectStore> store,
                                             RangeReaderOptions options);
  virtual ~RangeReader() = default;
  // `done` runs once: when the batch is complete, or when its first failure has ended all of its
  // requests. The memory then belongs to the caller again. It runs on an I/O thread or on this
  // thread. It may start other batches and must not wait.
  virtual void Start(RangeBatch batch, Callback<RangesRead> done) = 0;
  // Ends all batches with kCancelled, soon.
  virtual void Cancel() = 0;
  virtual Usage usage() const = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_RANGE_READER_H_
