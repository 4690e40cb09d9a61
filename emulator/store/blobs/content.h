// Object data: immutable blobs, and contents made of slices of blobs.
//
// This file is independent of buckets and keys. A blob stays readable until its last pointer is
// released, even if its object is deleted or overwritten. A download therefore never changes while
// it is read.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_CONTENT_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_CONTENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::store {

// An immutable sequence of bytes, in memory or in a file. Thread safety: any thread.
class Blob {
 public:
  virtual ~Blob() = default;
  virtual std::uint64_t size() const = 0;
  // The bytes if they are in memory.
  virtual std::optional<ByteView> Memory() const = 0;
  // If the bytes are in a file, a descriptor for pread and sendfile; offset 0 is the first byte.
  // Otherwise -1. The blob owns the descriptor. To test only for a file, call InFile: after a call
  // of FileDescriptor the pages of a memory file are never reused.
  virtual int FileDescriptor() const = 0;
  virtual bool InFile() const { return FileDescriptor() >= 0; }
  // Verifies the checksums of the bytes from range.begin on, before they are read for a client.
  // Returns the number of verified bytes, at least one. Bytes that this process has verified since
  // they were written are not read again. kDataLoss, naming the file and the offset, if the data is
  // damaged. `range` must be inside the blob and not empty.
  virtual Result<std::uint64_t> Checked(ByteRange range) const { return range.size(); }
  // Verifies all blocks of `range`, even those that were verified before.
  virtual Result<void> Reverify(ByteRange /*range*/) const { return Ok(); }
};
using BlobPtr = std::shared_ptr<const Blob>;

struct ContentSlice {
  BlobPtr blob;
  ByteRange range;  // within the blob
};

// The data of an object, in order. Completing a multipart upload only joins the slices of its
// parts.
struct Content {
  std::vector<ContentSlice> slices;

  std::uint64_t size() const;
  // The part [range.begin, range.end) of this content. The range must be inside it.
  Content Sub(ByteRange range) const;
};

// Fails with kDataLoss if bytes of `range` do not match their checksums. CheckContent verifies each
// block once per process, CheckContentAnew every time.
Result<void> CheckContent(const Content& content, ByteRange range);
Result<void> CheckContentAnew(const Content& content, ByteRange range);

// Copies [offset, offset + into.size()) of `content` to `into`. kInternal if a file cannot be
// read; kDataLoss if the bytes do not match their checksums.
Result<void> ReadContent(const Content& content, std::uint64_t offset, MutableByteView into);

// Receives the bytes of one new blob. If it is destroyed before Finish, the bytes are discarded.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // kResourceExhausted if the disk is full.
  virtual Result<void> Append(ByteView bytes) = 0;
  // Completes the blob. With strict durability its bytes are on disk when this returns.
  virtual Result<Content> Finish() = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_CONTENT_H_
