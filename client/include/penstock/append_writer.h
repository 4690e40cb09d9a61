// Appending to objects of directory buckets (S3 Express One Zone).
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

#include "penstock/object_store.h"

namespace penstock {

struct AppendOptions {
  CallOptions call;  // of every request
};

// Appends to one object. What Append was given is in the object, once, when it returns without
// error; nothing is buffered.
//
// Each append goes where this writer left off, and only onto the version it left: another writer's
// change is kPreconditionFailed or kConflict, never a torn or doubled record, and ends this writer.
//
// Where no answer came, the object is looked at: its size, its ETag, and the bytes at the place in
// question. An append whose object is still as it was may be on its way yet. It is unsettled until
// S3 takes or refuses a later one, as both stand on the same condition. Of the same bytes, appended
// to the same place by another writer, nobody can tell whose they are.
//
// S3 takes 10,000 appends per object (TooManyParts; a copy of the object begins anew) and 5 GiB in
// each.
//
// Thread safety: one user at a time.
class AppendWriter {
 public:
  // Looks at the object; where there is none, the first append makes it. kUnsupported for a general
  // purpose bucket.
  static Result<std::unique_ptr<AppendWriter>> Open(std::shared_ptr<ObjectStore> store,
                                                    BucketName bucket, ObjectKey key,
                                                    AppendOptions options = {},
                                                    const Interrupt& interrupt = {});

  // Blocks. No bytes: does nothing.
  //
  // After an error size() has grown by those of the first bytes of `data` that are in the object
  // all the same; the next call takes what follows them. While unsettled_bytes() is not 0, that
  // many of its first bytes must be the same as before (else kInvalidArgument, and nothing is
  // sent); more may follow. What arrived in the meantime is then found in the object and not sent
  // again, the rest is appended. After a change by another writer every further call is kConflict.
  Result<void> Append(ByteView data, const Interrupt& interrupt = {});

  // How many bytes behind size() an earlier Append left open: in the object, on their way, or lost.
  // 0: none.
  std::uint64_t unsettled_bytes() const { return tries_.empty() ? 0 : tries_.back(); }

  // Bytes of the object, as this writer knows it.
  std::uint64_t size() const { return size_; }
  // Of the object; unset while there is none.
  const std::optional<ETag>& etag() const { return etag_; }

 private:
  AppendWriter(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
               AppendOptions options);
  Result<PutObjectResponse> Put(ByteView data, const Interrupt& interrupt);
  Result<void> Take(std::uint64_t count, PutObjectResponse response);
  Result<void> CheckTriedAgain(ByteView data) const;
  void NoteTry(ByteView data);
  Error Ended() const;
  Error Changed(Error error, std::string_view now);
  Error Unsettled(Error error) const;
  Result<std::uint64_t> Settle(ByteView data, Error error, const Interrupt& interrupt);
  Result<std::uint64_t> Arrived(ByteView data, const ObjectMetadata& now,
                                const Interrupt& interrupt) const;

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator
  const BucketName bucket_;
  const ObjectKey key_;
  const AppendOptions options_;
  std::uint64_t size_ = 0;
  std::optional<ETag> etag_;
  std::string checksum_algorithm_;  // of the object; empty: ours to choose
  // Lengths, growing, of what was sent for size_ and etag_ and may arrive yet. Each is the
  // beginning of the next.
  std::vector<std::uint64_t> tries_;
  std::array<std::byte, 32> tried_{};  // SHA-256 of the longest
  std::string ended_;                  // why nothing more is appended; empty: it goes on
};

}  // namespace penstock

#endif  // PENSTOCK_APPEND_WRITER_H_
