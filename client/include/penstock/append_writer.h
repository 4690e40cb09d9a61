// Appending to objects of directory buckets (S3 Express One Zone).
#ifndef PENSTOCK_APPEND_WRITER_H_
#define PENSTOCK_APPEND_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/object_store.h"

namespace penstock {

struct AppendOptions {
  CallOptions call;  // of every request
};

// Appends to one object. What Append was given is in the object, once, when it returns without error; nothing is buffered.
//
// Each append goes where this writer left off, and only onto the version it left: another writer's change is
// kPreconditionFailed or kConflict, never a torn or doubled record. Where an answer was lost, the object is looked at: its
// size, and the bytes at the place in question.
//
// S3 takes 10,000 appends per object (TooManyParts; a copy of the object begins anew) and 5 GiB in each.
//
// Thread safety: one user at a time.
class AppendWriter {
 public:
  // Looks at the object; where there is none, the first append makes it. kUnsupported for a general purpose bucket.
  static Result<std::unique_ptr<AppendWriter>> Open(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key,
                                                    AppendOptions options = {}, const Interrupt& interrupt = {});

  // Blocks. No bytes: does nothing. After an error that leaves open whether `data` was appended (it says so) every further
  // call is kConflict: open another writer and look at its size().
  Result<void> Append(ByteView data, const Interrupt& interrupt = {});

  // Bytes of the object, as this writer knows it.
  std::uint64_t size() const { return size_; }
  // Of the object; unset while there is none.
  const std::optional<ETag>& etag() const { return etag_; }

 private:
  AppendWriter(std::shared_ptr<ObjectStore> store, BucketName bucket, ObjectKey key, AppendOptions options);
  Error Lost(Error error);
  Result<void> Resolve(ByteView data, Error error, const Interrupt& interrupt);
  Result<bool> HoldsAtEnd(ByteView data, const ObjectMetadata& now, const Interrupt& interrupt);

  const std::shared_ptr<ObjectStore> store_;  // shared with the creator
  const BucketName bucket_;
  const ObjectKey key_;
  const AppendOptions options_;
  std::uint64_t size_ = 0;
  std::optional<ETag> etag_;
  std::string checksum_algorithm_;  // of the object; empty: ours to choose
  bool lost_ = false;               // what the object holds is not known
};

}  // namespace penstock

#endif  // PENSTOCK_APPEND_WRITER_H_
