// A safetensors file on S3: its header, and its tensors into memory.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_SAFETENSORS_FILE_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_SAFETENSORS_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/safetensors.h"
#include "client/checkpoint/safetensors_crcs.h"

namespace penstock::checkpoint {

// A tensor to read into memory of exactly its size. `index`: in SafetensorsHeader::tensors.
struct SafetensorsRead {
  std::size_t index = 0;
  MutableByteView memory;
};

class SafetensorsFile {
 public:
  // Reads the header. Returns kUnsupported, with the function that reads it, for a file of another
  // format.
  static Result<SafetensorsFile> Open(const LoadContext& context, BucketName bucket, ObjectKey key);

  const SafetensorsHeader& header() const { return header_; }

  // Reads tensors, and compares them with the checksums that the Python package writes in the
  // header. The format itself has none: without them, if all tensors are read, they and the header
  // are compared with the CRC64NVME that S3 stores of the object, if there is one, by one
  // HeadObject request. A difference is kDataLoss.
  Result<void> Read(const LoadContext& context, const std::vector<SafetensorsRead>& reads) const;

 private:
  explicit SafetensorsFile(CheckpointObject object) : object_(std::move(object)) {}
  Result<void> CompareChecksum(const LoadContext& context,
                               std::vector<SafetensorsRead> reads) const;

  CheckpointObject object_;
  std::string json_;
  SafetensorsHeader header_;
  std::optional<SafetensorsCrcs> crcs_;
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_SAFETENSORS_FILE_H_
