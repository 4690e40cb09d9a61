// One byte range of one object into memory, pinned to one ETag.
//
// Download, ObjectStream and RangeReader are built on it: they plan the ranges and own the memory.
// The store retries, and resumes a response body that broke off; this does not.
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

// The memory for a range, and the CRC that is to be computed of it. With kNone the store compares
// whole objects with their checksum, and tries again; otherwise that is the asker's.
struct Placement {
  MutableByteView memory;
  Crc crc = Crc::kNone;
  // Instead of `memory`: where the range's bytes go, one view after the other, none empty.
  std::vector<MutableByteView> pieces = {};
};

struct Grant {
  // How far to go now, as a length from the range's begin; `reached_bytes` itself: enough, the
  // fetch succeeds with fewer bytes than the range has.
  std::uint64_t until = 0;
  // Where set: replaces the memory, and holds the bytes that were reached already.
  std::optional<MutableByteView> memory;
};

struct RangeFetchSpec {
  BucketName bucket;
  ObjectKey key;
  ByteRange range;           // not empty; may reach beyond the object's end; UINT64_MAX: to the end
  std::optional<ETag> etag;  // sent as If-Match; unset: the first response pins its own
  CallOptions call;
  // Memory for the range, asked for once, when the first response says how long it is (clipped to
  // the object). Returns exactly `length_bytes`, or as much as `grant` will ever give, alive until
  // the completion. On the thread that delivers the response; may start other calls.
  std::function<Result<Placement>(const ObjectMetadata& metadata, std::uint64_t length_bytes)>
      place;
  // Where set: asked at each response's begin and whenever the bytes up to the last answer are
  // there. May start other calls.
  std::function<Grant(std::uint64_t reached_bytes)> grant;
  // counts the bytes; null: nobody does. Outlives the completion.
  ProgressMeter* progress = nullptr;
  VersionId version_id;  // empty: the object as it is now
};

struct RangeFetched {
  std::uint64_t bytes = 0;
  std::uint64_t crc = 0;    // of these bytes, as Placement::crc says
  ObjectMetadata metadata;  // of the first response
};

// Asynchronous. Succeeds only when every byte of the clipped range arrived from one version of the
// object: kPreconditionFailed when it changed, kDataLoss when a response is shorter or longer than
// the range. `store` outlives the completion.
void StartRangeFetch(ObjectStore& store, RangeFetchSpec spec, Callback<RangeFetched> done);

// S3 answers a range that begins at or beyond the end, as any range of an empty object, with 416
// and the object's size. Then the metadata that is known: the size. nullopt for every other error,
// and for a 416 that names no size or one above `begin_bytes`, where the range begins: that object
// has bytes there.
std::optional<ObjectMetadata> BeyondTheEnd(const Error& error, std::uint64_t begin_bytes);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_RANGE_FETCH_H_
