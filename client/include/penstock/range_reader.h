// Scattered ranges of many objects into memory of the caller's: what loading a distributed
// checkpoint asks for.
#ifndef PENSTOCK_RANGE_READER_H_
#define PENSTOCK_RANGE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/object_store.h"

namespace penstock {

// The bytes [begin, begin + memory.size()) of an object land in `memory`.
struct RangePiece {
  std::uint64_t begin = 0;
  MutableByteView memory;
};

struct RangeBatch {
  BucketName bucket;
  ObjectKey key;
  // In any order; bytes that several want are brought once and copied. Their memory, in which none
  // may overlap, is the reader's until the completion.
  std::vector<RangePiece> pieces;
  // The version to read, where it is known; otherwise the first answer says which one it is, for
  // all batches of the object.
  std::optional<ETag> known_etag;
};

struct RangesRead {
  std::uint64_t bytes = 0;  // of the pieces, those that several wanted once
  ETag etag;                // empty: nothing was asked for, or the store names no version
};

struct RangeReaderOptions {
  // Pieces with at most so many bytes between them come by one request, which passes over what is
  // between. Unset: 32 KiB, or up to 1 MiB where all that is passed over stays within a
  // sixty-fourth of what is wanted of the batch.
  std::optional<std::uint64_t> max_gap_bytes;
  // Longer stretches are shared among requests of so many bytes at most. Unset: 8 to 64 MiB, by the
  // size of the batch.
  std::optional<std::uint64_t> max_request_bytes;
  // Requests at a time. Unset: as many as the measured rate makes worth having, up to 16.
  std::optional<int> max_parallel_requests;
  CallOptions call;
};

// Reads batches of pieces, those of all objects at a time, in the order in which they were started.
// Pieces of 4 KiB and more are received in place; smaller ones, and what lies between, by way of
// memory of at most a request's size.
//
// Every byte of one object comes from one version: kPreconditionFailed when it was replaced. An
// object that ends before a piece does is kDataLoss.
//
// Thread safety: Start and usage from any thread. Destroying it cancels what is not done, and waits
// for it; on an I/O thread another thread waits instead. In a forked child an inherited reader
// gives kInvalidArgument, and destroying it is safe.
class RangeReader {
 public:
  struct Usage {
    std::uint64_t requests = 0;
    std::uint64_t bytes_wanted = 0;  // of the pieces
    std::uint64_t bytes_asked = 0;   // of the requests: what was passed over too
    int most_parallel = 0;           // requests that were under way at once
  };

  static std::unique_ptr<RangeReader> Create(std::shared_ptr<ObjectStore> store,
                                             RangeReaderOptions options);
  virtual ~RangeReader() = default;
  // `done`: once, when the batch is complete or its first failure has ended all of its requests.
  // Its memory is then the caller's again. On an I/O thread or this one; it may start others, and
  // must not wait.
  virtual void Start(RangeBatch batch, Callback<RangesRead> done) = 0;
  // Everything ends with kCancelled, soon.
  virtual void Cancel() = 0;
  virtual Usage usage() const = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_RANGE_READER_H_
