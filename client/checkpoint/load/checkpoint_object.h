// Blocking reads of parts of objects: small ranges as text, and many pieces into memory.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_CHECKPOINT_OBJECT_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_CHECKPOINT_OBJECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/object_store.h"
#include "penstock/range_reader.h"

namespace penstock::checkpoint {

// What every read of a checkpoint needs.
struct LoadContext {
  std::shared_ptr<ObjectStore> store;
  RangeReaderOptions ranges;  // Its call and customer_key apply to every request.
  Interrupt interrupt;
};

// One object, in one version: the first read pins its ETag, and a replaced object fails with
// kPreconditionFailed.
class CheckpointObject {
 public:
  // Reads the size and the first `first_bytes` bytes, fewer if the object is shorter. Returns
  // kInvalidArgument on an I/O thread.
  static Result<CheckpointObject> Open(const LoadContext& context, BucketName bucket, ObjectKey key,
                                       std::uint64_t first_bytes);

  const BucketName& bucket() const { return bucket_; }
  const ObjectKey& key() const { return key_; }
  const ETag& etag() const { return etag_; }
  std::uint64_t size() const { return size_; }
  const std::string& first() const { return first_; }

  // Returns the bytes [begin, end). Sends no request for bytes that are known. Requires
  // begin <= end <= size().
  Result<std::string> Read(const LoadContext& context, std::uint64_t begin,
                           std::uint64_t end) const;
  // Adds operation and place to an error.
  Error At(Error error, std::string_view operation) const;

 private:
  BucketName bucket_;
  ObjectKey key_;
  ETag etag_;
  std::uint64_t size_ = 0;
  std::string first_;
};

// Reads batches and returns them one by one, in the order of their completion. Destruction cancels
// what is in flight and waits for it, so that the memory of the pieces is no longer used.
class BatchReader {
 public:
  explicit BatchReader(const LoadContext& context);
  ~BatchReader();

  void Start(RangeBatch batch, std::uint64_t token);
  std::size_t in_flight() const { return in_flight_; }
  RangeReader::Usage usage() const { return reader_->usage(); }
  // Waits for a batch and returns its token, or its error. Requires in_flight() > 0.
  Result<std::uint64_t> Next();

 private:
  struct Completed;
  const Interrupt& interrupt_;
  std::shared_ptr<Completed> completed_;
  std::unique_ptr<RangeReader> reader_;
  std::size_t in_flight_ = 0;
};

// Reads pieces of one object into their memory and waits for all of them.
Result<void> ReadPieces(const LoadContext& context, const CheckpointObject& object,
                        std::vector<RangePiece> pieces);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_CHECKPOINT_OBJECT_H_
