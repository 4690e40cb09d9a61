// Fetches one byte range of one object into memory, pinned to one ETag.
//
// Download, ObjectStream and RangeReader use it: they plan the ranges and own the memory. The store
// retries requests and resumes interrupted bodies; this code does not.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_FETCH_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_FETCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "client/transfer/object_checksum.h"
#include "client/transfer/progress_meter.h"
#include "penstock/object_store.h"

namespace penstock::transfer {

// The memory for a range and the CRC to compute over it. With kNone, the store verifies whole
// objects and retries. Otherwise the caller verifies.
struct Placement {
  MutableByteView memory;
  Crc crc = Crc::kNone;
  // Alternative to `memory`: the range is written to these views in order. None is empty.
  std::vector<MutableByteView> pieces = {};
};

struct Grant {
  // How many bytes from the start of the range to receive now. If equal to `reached_bytes`, the
  // fetch stops and succeeds with fewer bytes than the range has.
  std::uint64_t until = 0;
  // If set, replaces the memory. It must contain the bytes received so far.
  std::optional<MutableByteView> memory;
};

struct RangeFetchSpec {
  BucketName bucket;
  ObjectKey key;
  ByteRange range;           // not empty; may end after the object; UINT64_MAX: to the end
  std::optional<ETag> etag;  // sent as If-Match; unset: the first response sets it
  std::optional<ETag> listed_etag = {};  // as GetObjectRequest::listed_etag; only without `etag`
  CallOptions call;
  // Returns memory for the range. Called when the first response gives the length (clipped to the
  // object), and again if the bodies of all responses with that length failed and two responses in
  // a row gave another one, for the same ETag. The memory has exactly `length_bytes`, or as much as
  // `grant` will ever allow, and must stay valid until the completion. After kDataLoss the store
  // reads again. Runs on the thread that delivers the response, and may start other calls.
  std::function<Result<Placement>(const ObjectMetadata& metadata, std::uint64_t length_bytes)>
      place;
  // If set, called at the start of each response and whenever the granted bytes have arrived. May
  // start other calls.
  std::function<Grant(std::uint64_t reached_bytes)> grant;
  // Counts the bytes. May be null. Must outlive the completion.
  ProgressMeter* progress = nullptr;
  VersionId version_id;  // empty: the current version
  CustomerKey customer_key;
};

struct RangeFetched {
  std::uint64_t bytes = 0;
  std::uint64_t crc = 0;    // of these bytes, as set by Placement::crc
  ObjectMetadata metadata;  // from the first response
};

// Asynchronous. Succeeds only if every byte of the clipped range arrived from one version of the
// object. Fails with kPreconditionFailed if the object changed, and with kDataLoss if a response is
// shorter or longer than the range. `store` must outlive the completion.
void StartRangeFetch(ObjectStore& store, RangeFetchSpec spec, Callback<RangeFetched> done);

// Returns the error for an object of `size_bytes` bytes that had `expected_bytes` before. One ETag
// has one size: if both have the ETag `pinned`, one of the responses was wrong, which is kDataLoss.
// Else the object changed, which is kPreconditionFailed.
Error OtherSize(std::uint64_t size_bytes, std::uint64_t expected_bytes,
                const std::optional<ETag>& pinned);

// S3 responds 416 with the object's size if a range starts at or after the end, which includes any
// range of an empty object. Returns metadata with that size. Returns nullopt for every other error,
// for a 416 without a size, and for a size above `begin_bytes`, the start of the range.
std::optional<ObjectMetadata> BeyondTheEnd(const Error& error, std::uint64_t begin_bytes);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_FETCH_H_
