// Object data: reads, checks and writes blobs (base/io/blob.h).
//
// This file is independent of buckets and keys. A blob stays readable even if its object is deleted
// or overwritten, so a download never changes while it is read. Completing a multipart upload only
// joins the slices of its parts.
#ifndef PENSTOCK_EMULATOR_STORE_BLOBS_CONTENT_H_
#define PENSTOCK_EMULATOR_STORE_BLOBS_CONTENT_H_

#include <cstdint>

#include "base/io/blob.h"
#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock::emulator::store {

using penstock::Blob;
using penstock::BlobPtr;
using penstock::Content;
using penstock::ContentSlice;

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
