// Transfers of whole objects: a parallel download into the caller's memory, an ordered stream of
// parts, a writer, a lister.
//
// Everything here uses ObjectStore, never HTTP. All byte ranges of an object are pinned to one
// ETag. A body of the wrong length is kDataLoss. An upload is published whole or not at all.
#ifndef PENSTOCK_TRANSFER_H_
#define PENSTOCK_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// ---- Progress ----

struct TransferProgress {
  // Never decreases, even if bytes must be transferred again.
  std::uint64_t bytes_done = 0;
  std::optional<std::uint64_t> bytes_total;  // Unset: not known yet.
};

// Called about every 100 ms while bytes move, and once at the end of a successful transfer with the
// final count. Runs on the thread that moves the bytes, one call at a time; it must be quick and
// must not wait for a transfer. An exception fails the transfer unless the object has already been
// published.
using ProgressCallback = std::function<void(const TransferProgress&)>;

// ---- Download ----

// Unset members are chosen during the download. Objects up to 8 MiB use one request. Larger ones
// use up to 16 requests with parts of 8 to 64 MiB, depending on the measured rate. No further
// requests are started while one request transfers gigabytes per second.
struct DownloadOptions {
  std::optional<std::uint64_t> part_size_bytes = {};
  std::optional<int> max_parallel_parts = {};  // Concurrent requests.
  ProgressCallback progress = {};              // Null: no progress reports.
  CallOptions call = {};
  CustomerKey customer_key = {};  // Of an object with SSE-C.
};

// Passes the destination memory to a download. No effect after the download has failed.
using GiveMemory = std::function<void(Result<MutableByteView>)>;

struct DownloadRequest {
  BucketName bucket;
  ObjectKey key;
  std::uint64_t begin = 0;
  // Half-open; clipped to the object's size. Unset: to the end of the object.
  std::optional<std::uint64_t> end = {};
  // Size and ETag, if known from a listing, a HEAD or an earlier read. They avoid a probing first
  // part.
  std::optional<std::uint64_t> known_size = {};
  // Sent as If-Match: a changed object fails with kPreconditionFailed.
  std::optional<ETag> known_etag = {};
  // As GetObjectRequest::listed_etag: for a store with a cache.
  std::optional<ETag> listed_etag = {};
  // ObjectMetadata::checksums of this version, if known, and the CRC of the object's bytes before
  // `begin`, of the kind that verifies this object (CRC64NVME, else CRC32C, else CRC32; 0 for no
  // bytes). With both, the response has prefix_crc, and a read up to the object's end is verified.
  std::vector<std::pair<std::string, std::string>> known_checksums = {};
  std::optional<std::uint64_t> prefix_crc = {};
  // Called exactly once, before any byte, with the number of bytes that the server announced.
  // Returns memory of exactly that size, which the caller keeps alive until the call completes.
  // Runs on an I/O thread, or on the calling thread if size and ETag are known. An exception fails
  // the call.
  std::function<Result<MutableByteView>(std::uint64_t size_bytes)> destination = {};
  // Replaces `destination` if an I/O thread must not allocate the memory because the allocation may
  // block, for example on an interpreter's lock. Called at most once, on an I/O thread, not for 0
  // bytes; must return at once. Call `give` exactly once, on any thread but an I/O thread, with the
  // memory or with an error that fails the call. Until then the first bytes, up to part_size_bytes
  // or 8 MiB, are received into another buffer and copied. The rest is requested after `give`.
  std::function<void(std::uint64_t size_bytes, GiveMemory give)> ask_memory = {};
  DownloadOptions options = {};
  VersionId version_id = {};  // Empty: the current version.
};

struct DownloadResponse {
  std::uint64_t bytes = 0;  // Delivered.
  ObjectMetadata metadata;
  // CRC of the object's bytes before the end of the range. Set if the request has known_checksums
  // and prefix_crc and does not cover the whole object.
  std::optional<std::uint64_t> prefix_crc;
};

// Asynchronous. The first GET asks for the whole range, so its response gives size, ETag and
// whole-object checksum without a HEAD. It delivers bytes from the start; further requests carry
// If-Match and fetch parts from the end until they meet it. The rest of the first response is then
// discarded with its connection.
//
// If the store sends a CRC64NVME, CRC32C or CRC32 with the whole object, all bytes are verified. A
// mismatch is kDataLoss and names both values. An empty object gives 0 bytes, as does `begin`
// beyond the end; neither is an error. The download keeps `store` alive.
void StartDownload(std::shared_ptr<ObjectStore> store, DownloadRequest request,
                   Callback<DownloadResponse> done);

// Same, with the result in a Pending: a future, an awaitable, or a callback with an executor.
Pending<DownloadResponse> DownloadAsync(std::shared_ptr<ObjectStore> store,
                                        DownloadRequest request);

// Blocking form.
Result<DownloadResponse> Download(ObjectStore& store, DownloadRequest request,
                                  const Interrupt& interrupt = {});

// ---- ObjectStream ----

// An object as a listing has it. It is not a condition: another version is read as it is.
struct ListedObject {
  std::uint64_t size = 0;  // Bytes.
  ETag etag = {};          // Empty: not known.
};

struct StreamOptions {
  std::uint64_t part_size_bytes = 8ull << 20;
  int read_ahead_parts = 4;  // Bounds memory to (read_ahead_parts + 1) * part_size_bytes.
  // For readers that may stop early: size of the first block in bytes, at least 1. The second block
  // is requested when the reader asks for it. Prefetching then grows with the bytes read: in total
  // at most four times as many are requested, up to the limits above. An object of at most one part
  // is still fetched whole. Unset: full prefetching from the start.
  std::optional<std::uint64_t> first_part_bytes = {};
  CallOptions call = {};
  CustomerKey customer_key = {};  // Of an object with SSE-C.
};

// A block of an object, in order. Owns its bytes.
struct StreamBlock {
  std::uint64_t offset = 0;  // In the object.
  std::shared_ptr<const std::byte[]> data;
  std::size_t size = 0;
};

// Reads [begin, end) of an object in order, with prefetching.
//
// Blocks use the memory budget of the process (penstock/memory.h). The block that the reader waits
// for also waits for the budget; prefetched blocks are skipped if memory is short. All active
// streams share the budget evenly: with more streams, each has smaller blocks and prefetches less.
// Blocks prefetched while the reader is not in Next are evicted when other callers wait for memory,
// and fetched again when needed. A block that the caller keeps also keeps its share of the budget.
//
// If the stream covers the whole object and the store sends its CRC64NVME, CRC32C or CRC32, the
// bytes are verified. The last block is returned only if the checksum matches; otherwise Next
// returns kDataLoss, which names both values.
//
// Thread safety: one reader at a time. Destruction cancels requests in flight and waits for them;
// on an I/O thread it leaves the wait to another thread. In a forked child an inherited stream
// returns kInvalidArgument and may be destroyed.
class ObjectStream {
 public:
  struct Source {
    BucketName bucket;
    ObjectKey key;
    std::uint64_t begin = 0;
    std::optional<std::uint64_t> end;
    std::optional<std::uint64_t> known_size;
    std::optional<ETag> known_etag;
    // Replaces [begin, end): these non-empty ranges, in this order. Requires known_size, which
    // bounds them, and known_etag.
    std::vector<ByteRange> ranges;
    // ObjectMetadata::checksums of this version. Requires known_size and known_etag. The last block
    // of the object is verified as in a whole stream if the bytes before `begin` are known by
    // prefix_crc, or if `ranges` and already_read cover the whole object exactly once.
    std::vector<std::pair<std::string, std::string>> known_checksums;
    // As in DownloadRequest. Not with `ranges`.
    std::optional<std::uint64_t> prefix_crc;
    // With `ranges`: bytes that the caller already read.
    struct Piece {
      std::uint64_t begin = 0;
      ByteView bytes;
    };
    std::vector<Piece> already_read;  // Open reads them and does not keep them.
    VersionId version_id;             // Empty: the current version.
    // As GetObjectRequest::listed_etag: for a store with a cache.
    std::optional<ETag> listed_etag = {};
    // If the first response has this ETag and another size, Next returns kDataLoss.
    ListedObject listed = {};
  };
  static std::unique_ptr<ObjectStream> Open(std::shared_ptr<ObjectStore> store, Source source,
                                            StreamOptions options);
  virtual ~ObjectStream() = default;

  // Blocks; returns the next block, or nullopt at the end. `wanted_bytes`: bytes that the reader is
  // going to read from here on, if known; prefetching counts them as read. `used_bytes`: bytes of
  // earlier blocks that the reader used; by default all. A reader may skip bytes.
  virtual Result<std::optional<StreamBlock>> Next(const Interrupt& interrupt = {},
                                                  std::uint64_t wanted_bytes = 0,
                                                  std::uint64_t used_bytes = UINT64_MAX) = 0;
  // Returns the unread `rest`, a suffix of the last block of Next; the next call of Next returns it
  // again. For a reader that may pause: like prefetched blocks, `rest` may be evicted. No other
  // owner may hold its bytes.
  virtual void Unread(StreamBlock rest) = 0;
  // Offset in the object up to which bytes are present or requested, without a gap from the next
  // byte on.
  virtual std::uint64_t asked_until() const = 0;
  // Known after the first block, or from the source.
  virtual std::optional<ObjectMetadata> metadata() const = 0;
  // CRC of the object's bytes before the next byte, if this stream verifies the object. For the
  // prefix_crc of the request that reads the rest.
  virtual std::optional<std::uint64_t> prefix_crc() const = 0;
};

// ---- Upload ----

// Unset members are chosen automatically. For an object of known size (Upload, size_hint_bytes) a
// part is 1/32 of the size, within 8 to 64 MiB. Above 625 GiB parts are larger, because S3 allows
// 10,000 parts. 1 GiB takes 34 requests. Parts of a stream grow from 8 to 64 MiB with the bytes
// written, then by doubling. 2 to 16 parts are in flight at a time, depending on the measured rate.
struct UploadOptions {
  std::uint64_t single_put_limit_bytes = 64ull << 20;  // Up to this size: one PutObject.
  // Size of the first 1000 parts of a stream. Later parts are larger, so that 10,000 parts that
  // start at 8 MiB hold 17 TiB. If the memory budget (memory.h) is exhausted, a smaller part of at
  // least 5 MiB is sent.
  std::optional<std::uint64_t> part_size_bytes = {};
  // S3's minimum. Lower it only for a store that accepts smaller parts.
  std::uint64_t min_part_size_bytes = 5ull << 20;
  // ObjectWriter only: the approximate size, if known. Above single_put_limit_bytes, the first part
  // is sent as soon as it is full.
  std::optional<std::uint64_t> size_hint_bytes = {};
  std::optional<int> max_parallel_parts = {};
  ObjectAttributes attributes = {};
  // Publish only if the current object has this ETag, or only if the key has no object; otherwise
  // kPreconditionFailed. Mutually exclusive.
  std::optional<ETag> if_match = {};
  bool if_none_match_any = false;
  ProgressCallback progress = {};  // Of bytes written to the connection. Null: no reports.
  CallOptions call = {};
};

struct UploadResponse {
  ETag etag;
  std::uint64_t bytes = 0;
};

// Writes one object. Nothing is visible before Finish succeeds. Destruction or Abort without Finish
// leaves no object and no parts: the multipart upload is aborted.
//
// Thread safety: one writer at a time. Members block. On an I/O thread, and in a forked child of
// the creating process, they do nothing and return kInvalidArgument. Destruction is safe there,
// except on an I/O thread while the writer holds the caller's memory.
class ObjectWriter {
 public:
  static std::unique_ptr<ObjectWriter> Create(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                              ObjectKey key, UploadOptions options);
  virtual ~ObjectWriter() = default;

  // Takes all of `data`, which the caller may change or free on return. Small writes are copied
  // into memory of the process's budget. Most of a large write is sent from `data` while this call
  // waits; the rest is copied so that a part is in flight after the return. After an error the
  // upload is aborted and every further call returns that error.
  virtual Result<void> Write(ByteView data, const Interrupt& interrupt = {}) = 0;
  // Like Write, but 64 KiB or more are not copied and the call does not wait for the last byte. The
  // caller keeps `data` alive and unchanged until Drain, Finish or Abort returns, or this writer
  // is destroyed. Waits while enough parts are in flight.
  virtual Result<void> WriteNoCopy(ByteView data, const Interrupt& interrupt = {}) = 0;
  // Same, and returns the CRC64NVME of `data`. The upload uses it too, so it is computed once.
  virtual Result<std::uint64_t> WriteNoCopyWithCrc(ByteView data,
                                                   const Interrupt& interrupt = {}) = 0;
  // Reserves the first `bytes` of the object for ReplaceHead. Call it before the first write. The
  // first part, of at least min_part_size_bytes, is then copied to the heap and sent last.
  virtual Result<void> ReserveHead(std::uint64_t bytes) = 0;
  // Replaces the first bytes of the object, before Finish. They must be reserved and written.
  virtual Result<void> ReplaceHead(ByteView head) = 0;
  // Waits until no memory passed to WriteNoCopy is in use. A remainder smaller than a part may be
  // copied.
  virtual Result<void> Drain(const Interrupt& interrupt = {}) = 0;
  // Publishes the object. Blocks until S3 confirms it. A second call returns the first result.
  virtual Result<UploadResponse> Finish(const Interrupt& interrupt = {}) = 0;
  // Aborts the upload. Idempotent; does nothing after a successful Finish.
  virtual Result<void> Abort() = 0;
  virtual std::uint64_t bytes_written() const = 0;
};

// Uploads memory that stays valid during the call, without copying it. S3 verifies the bytes before
// it publishes them: a single PUT against its CRC64NVME, and a multipart upload against the
// combined CRC64NVME of the parts. The client also compares the checksum of each part with the one
// that S3 returns.
Result<UploadResponse> Upload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                              ByteView data, UploadOptions options,
                              const Interrupt& interrupt = {});

// ---- Lister ----

// Pages of a listing in S3's order, with one page prefetched. Directory buckets list in no
// particular order.
//
// Thread safety: one reader at a time. On an I/O thread, and in a forked child of the creating
// process, Next returns kInvalidArgument. Destruction is safe there.
class Lister {
 public:
  static std::unique_ptr<Lister> Create(std::shared_ptr<ObjectStore> store,
                                        ListObjectsRequest first);
  // Ascending keys in every bucket, for readers that must agree on the index of each object. A
  // directory bucket lists in any order, so its first page waits for the whole listing, which is
  // kept packed (ObjectList). Of `first`, only bucket, prefix, page size and call options are used.
  static std::unique_ptr<Lister> CreateOrdered(std::shared_ptr<ObjectStore> store,
                                               ListObjectsRequest first);
  virtual ~Lister() = default;
  // Requests the first page without waiting. Optional: otherwise Next requests it. Later calls do
  // nothing.
  virtual void Start() = 0;
  // Returns nullopt after the last page. The first page is always requested. `interrupt` is polled
  // before each page and while it waits; no page is lost. Returns kDataLoss if a continuation token
  // occurs twice, and after 10,000 pages in succession without keys and common prefixes.
  virtual Result<std::optional<ListObjectsResponse>> Next(const Interrupt& interrupt = {}) = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_TRANSFER_H_
