// Appends to objects in directory buckets (S3 Express One Zone).
#ifndef PENSTOCK_APPEND_WRITER_H_
#define PENSTOCK_APPEND_WRITER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

struct AppendOptions {
  CallOptions call = {};  // Applies to every request.
};

// Appends to one object. When Append returns without an error, the object contains its data exactly
// once. Nothing is buffered.
//
// Each append continues at the offset and on the object version that the previous append of this
// writer left. A change by another writer fails with kPreconditionFailed or kConflict and ends this
// writer. Records are never torn or duplicated, with one exception: the first append to a missing
// object has no ETag to depend on. If its response is lost and the object is deleted or renamed
// before it is sent again, it creates the object again.
//
// If an append gets no response, the writer reads the object's size, its ETag, its CRC and the
// bytes at the append offset. Responses to reads of a range have no checksum, so bytes count as
// missing only if two readings are equal and the CRC does not show them. If that decides nothing,
// or if the object is unchanged, the append stays unsettled until a later append decides: all of
// them depend on the same condition. If another writer appended the same bytes at the same offset,
// the writer cannot distinguish them from its own.
//
// S3 allows 10,000 appends per object and 5 GiB per append. Beyond that it returns TooManyParts; a
// copy of the object starts a new count.
//
// Thread safety: one user at a time.
class AppendWriter {
 public:
  // Reads the object's metadata. If the object does not exist, the first append creates it. Returns
  // kUnsupported for a general purpose bucket.
  static Result<std::unique_ptr<AppendWriter>> Open(std::shared_ptr<ObjectStore> store,
                                                    BucketName bucket, ObjectKey key,
                                                    AppendOptions options = {},
                                                    const Interrupt& interrupt = {});

  // Blocks until S3 confirms the append. Empty `data` is a no-op.
  //
  // After an error, size() includes the leading bytes of `data` that reached the object; the next
  // call continues after them. While unsettled_bytes() is N > 0, the first N bytes of the next call
  // must equal the bytes sent before. Otherwise the call returns kInvalidArgument and sends
  // nothing. More bytes may follow. Bytes that arrived in the meantime are found in the object and
  // not sent again; the rest is appended. After a change by another writer every further call
  // returns kConflict.
  Result<void> Append(ByteView data, const Interrupt& interrupt = {});

  // Bytes after size() whose earlier Append has an unknown outcome: stored, in flight, or lost. 0:
  // none.
  std::uint64_t unsettled_bytes() const { return tries_.empty() ? 0 : tries_.back(); }

  // Size of the object in bytes, as known to this writer.
  std::uint64_t size() const { return size_; }
  // ETag of the object. Unset until the object exists.
  const std::optional<ETag>& etag() const { return etag_; }

 private:
  AppendWriter(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
               AppendOptions options);
  Result<PutObjectResponse> Put(ByteView data, const Interrupt& interrupt);
  Result<void> Take(ByteView data, PutObjectResponse response);
  Result<void> CheckTriedAgain(ByteView data) const;
  void NoteTry(ByteView data);
  Error Ended() const;
  Error Changed(Error error, std::string_view now);
  Error Unsettled(Error error) const;
  Result<std::uint64_t> ResolveOutcome(ByteView data, Error error, const Interrupt& interrupt);
  Result<std::uint64_t> Arrived(ByteView data, const ObjectMetadata& now,
                                const Interrupt& interrupt) const;
  bool ShownByCrc(ByteView data, const ObjectMetadata& now) const;
  void Advance(ByteView data, ETag etag);

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator
  const BucketName bucket_;
  const ObjectKey key_;
  const AppendOptions options_;
  std::uint64_t size_ = 0;
  std::optional<ETag> etag_;
  std::string checksum_algorithm_;    // Of the object. Empty: the writer chooses.
  std::optional<std::uint64_t> crc_;  // Of the first size_ bytes. Unset: unknown.
  // Ascending lengths of the appends at size_ and etag_ that S3 may still execute. Each is a prefix
  // of the next.
  std::vector<std::uint64_t> tries_;
  std::array<std::byte, 32> tried_{};  // SHA-256 of the longest one.
  std::string ended_;                  // Why the writer has ended. Empty: it has not.
};

}  // namespace penstock

#endif  // PENSTOCK_APPEND_WRITER_H_
