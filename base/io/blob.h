// Immutable bytes in memory or in a file, and sequences of slices of them.
//
// A blob stays readable until its last pointer is released.
#ifndef PENSTOCK_BASE_IO_BLOB_H_
#define PENSTOCK_BASE_IO_BLOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"
#include "penstock/base/types.h"

namespace penstock {

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

// A sequence of slices, for example the data of an object.
struct Content {
  std::vector<ContentSlice> slices;

  std::uint64_t size() const;
  // The part [range.begin, range.end) of this content. The range must be inside it.
  Content Sub(ByteRange range) const;
};

}  // namespace penstock

#endif  // PENSTOCK_BASE_IO_BLOB_H_
