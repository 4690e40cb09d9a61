// The bytes of objects: immutable blobs, and contents made of slices of blobs.
//
// Knows nothing of buckets or keys. A blob's bytes stay readable until the last pointer to it is
// gone, also after the object was deleted or overwritten: a download never changes under its
// reader.
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

// An immutable run of bytes, in memory or in a file. Thread safety: safe from any thread.
class Blob {
 public:
  virtual ~Blob() = default;
  virtual std::uint64_t size() const = 0;
  // The bytes, when they are in memory.
  virtual std::optional<ByteView> Memory() const = 0;
  // A descriptor to pread/sendfile from (offset 0 is the first byte), when they are in a file; else
  // -1. Owned by the blob. Whoever only asks whether there is one asks InFile: pages that were
  // handed out are not used again.
  virtual int FileDescriptor() const = 0;
  virtual bool InFile() const { return FileDescriptor() >= 0; }
  // How many bytes from range.begin on match their checksums, one at least; before they are read
  // for a client. Bytes that this process has verified since they were written cost nothing.
  // kDataLoss naming the file and the offset of the damage. `range` lies inside and is not empty.
  virtual Result<std::uint64_t> Checked(ByteRange range) const { return range.size(); }
  // Reads the blocks of `range` and compares them with their checksums, verified before or not.
  virtual Result<void> CheckAnew(ByteRange /*range*/) const { return Ok(); }
};
using BlobPtr = std::shared_ptr<const Blob>;

struct ContentSlice {
  BlobPtr blob;
  ByteRange range;  // within the blob
};

// An object's bytes in order. Completing a multipart upload only joins the slices of its parts.
struct Content {
  std::vector<ContentSlice> slices;

  std::uint64_t size() const;
  // The slices that make up [range.begin, range.end) of this content; range must lie inside.
  Content Sub(ByteRange range) const;
};

// kDataLoss when bytes of `range` do not match their checksums: verified once per process, or each
// time.
Result<void> CheckContent(const Content& content, ByteRange range);
Result<void> CheckContentAnew(const Content& content, ByteRange range);

// Copies [offset, offset + into.size()) of `content` into `into`. kInternal when a file cannot be
// read, kDataLoss when the bytes do not match their checksums.
Result<void> ReadContent(const Content& content, std::uint64_t offset, MutableByteView into);

// Receives the bytes of one new blob. Destroyed without Finish: nothing stays behind.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // kResourceExhausted when the disk is full.
  virtual Result<void> Append(ByteView bytes) = 0;
  // Seals the blob. In strict durability its bytes are on disk when this returns.
  virtual Result<Content> Finish() = 0;
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_BLOBS_CONTENT_H_
