// Moving whole objects: a parallel download into caller memory, an ordered stream of parts, a
// writer, a lister.
//
// Everything here speaks ObjectStore, never HTTP. Every byte range of one object is pinned to one
// ETag; a short or long body is kDataLoss; an upload is published whole or not at all.
#ifndef PENSTOCK_TRANSFER_H_
#define PENSTOCK_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/object_store.h"

namespace penstock {

// ---- Progress
// -------------------------------------------------------------------------------------------------

struct TransferProgress {
  // never falls; bytes that must be moved again are not taken back
  std::uint64_t bytes_done = 0;
  std::optional<std::uint64_t> bytes_total;  // unset: not known yet
};

// Told about every 100 ms while bytes move, and once at the end of a transfer that succeeded, with
// everything done. On the thread that moves the bytes, one call at a time: it must be quick and
// must not wait for a transfer. An exception that leaves it ends the transfer with an error, unless
// the object has been published by then.
using ProgressCallback = std::function<void(const TransferProgress&)>;

// ---- Download
// -------------------------------------------------------------------------------------------------

// Unset members are planned while the download runs: up to 8 MiB one request, then as many as the
// measured rate makes worth having (one that moves gigabytes per second stays alone, up to 16 on
// S3), with parts of 8 to 64 MiB.
struct DownloadOptions {
  std::optional<std::uint64_t> part_size_bytes;
  std::optional<int> max_parallel_parts;  // requests at a time
  ProgressCallback progress;              // null: nobody is told
  CallOptions call;
};

// Does nothing once the download has failed.
using GiveMemory = std::function<void(Result<MutableByteView>)>;

struct DownloadRequest {
  BucketName bucket;
  ObjectKey key;
  std::uint64_t begin = 0;
  // half-open; unset: to the end of the object. Clipped to the object's size.
  std::optional<std::uint64_t> end;
  // Size and ETag where already known (a listing, a HEAD, an earlier read); saves the probing first
  // part.
  std::optional<std::uint64_t> known_size;
  // sent as If-Match: a changed object fails with kPreconditionFailed
  std::optional<ETag> known_etag;
  // Called exactly once, before any byte, with the number of bytes that will arrive, which is what
  // the server announced. Returns memory of exactly that size, which the caller keeps alive until
  // the call completes. On an I/O thread or, where size and ETag are known, the calling thread. An
  // exception ends the call with an error.
  std::function<Result<MutableByteView>(std::uint64_t size_bytes)> destination;
  // Instead of `destination`, for memory that an I/O thread must not make because it would have to
  // wait, for example for an interpreter's lock. Called at most once, on an I/O thread, and not for
  // 0 bytes; returns at once. The memory is then given by `give`, once, on any thread but an I/O
  // thread, or an error that ends the call. Until then the first bytes, up to part_size_bytes or 8
  // MiB, are received elsewhere and copied; the rest is asked for when the memory is there.
  std::function<void(std::uint64_t size_bytes, GiveMemory give)> ask_memory;
  DownloadOptions options;
  VersionId version_id;  // empty: the object as it is now
};

struct DownloadResponse {
  std::uint64_t bytes = 0;  // delivered
  ObjectMetadata metadata;
};

// Asynchronous. No HEAD: the first GET asks for everything, so that its answer tells size, ETag and
// whole-object checksum, and runs from the begin; further requests carry If-Match and take parts
// from the end until it meets them. What is left of its answer is then dropped with its connection.
// Every byte is counted into the object's CRC64NVME, CRC32C or CRC32, if the store sent one with
// the whole object: kDataLoss names both values when they differ. An empty object is 0 bytes, not
// an error; begin beyond the end gives 0 bytes. The download keeps `store`.
void StartDownload(std::shared_ptr<ObjectStore> store, DownloadRequest request,
                   Callback<DownloadResponse> done);

// Blocking form.
Result<DownloadResponse> Download(ObjectStore& store, DownloadRequest request,
                                  const Interrupt& interrupt = {});

// ---- ObjectStream
// ---------------------------------------------------------------------------------------------

struct StreamOptions {
  std::uint64_t part_size_bytes = 8ull << 20;
  int read_ahead_parts = 4;  // bounds memory: at most (read_ahead_parts + 1) * part_size_bytes
  // For a reader that may stop early: the first block has so many bytes (1 at least), a second is
  // asked for when the reader wants it, and then fetching ahead grows with what was read: at most
  // four times that is asked for in all, up to the above. An object of up to one part comes whole
  // even so. Unset: full from the start.
  std::optional<std::uint64_t> first_part_bytes;
  CallOptions call;
};

// A piece of an object, in order. Owns its bytes.
struct StreamBlock {
  std::uint64_t offset = 0;  // in the object
  std::shared_ptr<const std::byte[]> data;
  std::size_t size = 0;
};

// Reads [begin, end) of an object in order, fetching ahead.
//
// Blocks are memory within the process's budget (penstock/memory.h): the one that is waited for
// waits for the budget as well, those ahead do without when there is none. All streams in use share
// the budget evenly: the more they are, the smaller their blocks and the less is ahead. What is
// ahead of a reader who is not in Next is let go of where somebody else waits for memory, and
// fetched again when it is wanted. A block that is kept keeps its share.
//
// Where the stream covers the whole object and the store sends a CRC64NVME, CRC32C or CRC32 of it,
// the bytes are held to that: the last block is given out only when all amount to it, else Next is
// kDataLoss, which names both values.
//
// Thread safety: one reader at a time. Destroying it cancels what is in flight and waits for it; on
// an I/O thread another thread waits instead. In a forked child an inherited stream gives
// kInvalidArgument, and destroying it is safe.
class ObjectStream {
 public:
  struct Source {
    BucketName bucket;
    ObjectKey key;
    std::uint64_t begin = 0;
    std::optional<std::uint64_t> end;
    std::optional<std::uint64_t> known_size;
    std::optional<ETag> known_etag;
    // Instead of [begin, end): these, none empty, in this order. Needs known_size, which bounds
    // them, and known_etag.
    std::vector<ByteRange> ranges;
    // With `ranges`: ObjectMetadata::checksums of this version, and those of its bytes that came
    // another way. Where they and `ranges` are the whole object, each byte once, the last block is
    // held to its checksum as that of a whole stream is.
    struct Piece {
      std::uint64_t begin = 0;
      ByteView bytes;
    };
    std::vector<std::pair<std::string, std::string>> known_checksums;
    std::vector<Piece> already_read;  // looked at by Open, not kept
    VersionId version_id;             // empty: the object as it is now
  };
  static std::unique_ptr<ObjectStream> Open(std::shared_ptr<ObjectStore> store, Source source,
                                            StreamOptions options);
  virtual ~ObjectStream() = default;

  // The next block; nullopt at the end. Blocks. `wanted_bytes`: that the reader is going to read
  // from here on, if he knows; they count as read in what is fetched ahead. Of those he was given
  // before so do `used_bytes`, or all: a reader passes over what he does not want.
  virtual Result<std::optional<StreamBlock>> Next(const Interrupt& interrupt = {},
                                                  std::uint64_t wanted_bytes = 0,
                                                  std::uint64_t used_bytes = UINT64_MAX) = 0;
  // `rest` is an end of the block that Next gave last; the next Next gives it again. For a reader
  // who may not come back soon: like what is ahead it is let go of where memory is short. Nobody
  // else may hold its bytes.
  virtual void GiveBack(StreamBlock rest) = 0;
  // Where in the object the bytes end that are here or on their way, from the next one on without a
  // gap.
  virtual std::uint64_t asked_until() const = 0;
  // Known after the first block (or from the source).
  virtual std::optional<ObjectMetadata> metadata() const = 0;
};

// ---- Upload
// ---------------------------------------------------------------------------------------------------

// Unset members are planned. Parts of an object of known size (Upload, size_hint_bytes) are a
// thirty-second of it, within 8 and 64 MiB, or what S3's 10,000 parts ask for beyond 625 GiB; 1 GiB
// is 34 requests. Those of a stream grow from 8 to 64 MiB with what is written, then by doubling. 2
// to 16 parts fly at a time, as the measured rate makes worth having.
struct UploadOptions {
  std::uint64_t single_put_limit_bytes = 64ull << 20;  // up to this size: one PutObject
  // Of the first 1000 parts of a stream; later ones are larger, so that from 8 MiB 10,000 parts
  // hold 17 TiB. A part is smaller where the process's memory budget (memory.h) is spent: what is
  // there then leaves first, 5 MiB at the least.
  std::optional<std::uint64_t> part_size_bytes;
  // S3's; lower only for a store that takes smaller parts
  std::uint64_t min_part_size_bytes = 5ull << 20;
  // Of ObjectWriter: roughly what will be written, if known. More than single_put_limit_bytes:
  // parts leave from the first on.
  std::optional<std::uint64_t> size_hint_bytes;
  std::optional<int> max_parallel_parts;
  ObjectAttributes attributes;
  // Published only over the object with this ETag, or only where there is none; else
  // kPreconditionFailed. Not both.
  std::optional<ETag> if_match;
  bool if_none_match_any = false;
  ProgressCallback progress;  // of bytes handed to the connection; null: nobody is told
  CallOptions call;
};

struct UploadResponse {
  ETag etag;
  std::uint64_t bytes = 0;
};

// Writes one object. Nothing is visible before Finish returns success; destruction or Abort without
// Finish leaves no object and no parts behind (the multipart upload is aborted).
//
// Thread safety: one writer at a time. Its members block: on an I/O thread, and in a forked child
// of the process that made it, they do nothing and return kInvalidArgument. Destroying it is safe
// there; while it was lent memory not on an I/O thread.
class ObjectWriter {
 public:
  static std::unique_ptr<ObjectWriter> Create(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                              ObjectKey key, UploadOptions options);
  virtual ~ObjectWriter() = default;

  // Takes all of `data`, which the caller may change or free as soon as this returns. Small writes
  // are copied, into memory of the process's budget; of large ones most is sent from where it lies
  // while this call waits, and the rest copied, so that something is under way when the caller goes
  // on. After an error the upload is aborted and every further call returns that error.
  virtual Result<void> Write(ByteView data, const Interrupt& interrupt = {}) = 0;
  // As Write, but of 64 KiB and more nothing is copied and the last byte is not waited for: the
  // caller keeps `data` alive and unchanged until Settle, Finish or Abort has returned, or this
  // writer is gone. Waits while enough parts are in flight.
  virtual Result<void> Lend(ByteView data, const Interrupt& interrupt = {}) = 0;
  // Waits until nothing that was lent is needed any more. Little of it, less than a part may have,
  // is copied.
  virtual Result<void> Settle(const Interrupt& interrupt = {}) = 0;
  // Publishes. Blocks until S3 has acknowledged. A second call returns the first result.
  virtual Result<UploadResponse> Finish(const Interrupt& interrupt = {}) = 0;
  // Gives up; idempotent; does nothing after Finish succeeded.
  virtual Result<void> Abort() = 0;
  virtual std::uint64_t bytes_written() const = 0;
};

// Uploads memory that stays valid during the call, without copying it. Its bytes are verified by S3
// before they are published: a single PUT against the CRC64NVME sent with it, parts one by one
// against what S3 received, and the whole against the combined CRC64NVME of the parts.
Result<UploadResponse> Upload(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                              ByteView data, UploadOptions options,
                              const Interrupt& interrupt = {});

// ---- Lister
// ---------------------------------------------------------------------------------------------------

// Pages of a listing, in S3's order (directory buckets have none), one page fetched ahead.
//
// Thread safety: one reader at a time. On an I/O thread, and in a forked child of the process that
// made it, Next returns kInvalidArgument; destroying it is safe.
class Lister {
 public:
  static std::unique_ptr<Lister> Create(std::shared_ptr<ObjectStore> store,
                                        ListObjectsRequest first);
  // Keys ascending in every bucket: for who counts objects and has to come to the same numbers as
  // others do. A directory bucket lists in any order: there the first page waits for the whole
  // listing, which is kept packed (ObjectList). Of `first` bucket, prefix, page size and call
  // options count.
  static std::unique_ptr<Lister> CreateOrdered(std::shared_ptr<ObjectStore> store,
                                               ListObjectsRequest first);
  virtual ~Lister() = default;
  // Asks for the first page, which Next does otherwise, and does not wait for it. Later: nothing.
  virtual void Start() = 0;
  // nullopt after the last page. The first page is always requested.
  virtual Result<std::optional<ListObjectsResponse>> Next(const Interrupt& interrupt = {}) = 0;
};

}  // namespace penstock

#endif  // PENSTOCK_TRANSFER_H_
