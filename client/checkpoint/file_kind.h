// What a file is, by its bytes, for messages that name the function that reads it.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_FILE_KIND_H_
#define PENSTOCK_CLIENT_CHECKPOINT_FILE_KIND_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "client/checkpoint/archive_index.h"
#include "penstock/base/result.h"

namespace penstock::checkpoint {

enum class FileKind {
  kUnknown,
  kEmpty,
  kZip,              // Any zip archive; see KindOfArchive.
  kTorchSave,        // torch.save, in the zip format.
  kTorchScript,      // torch.jit.save, or torch::save of libtorch.
  kLegacyTorchSave,  // torch.save before torch 1.6, or without the zip format.
  kSafetensors,
  kSafetensorsIndex,  // model.safetensors.index.json
  kDcpMetadata,       // The .metadata of a distributed checkpoint.
  kPickle,
  kNumpy,
  kHdf5,
  kGguf,
  kGzip,
  kText,
};

// The kind of a file that begins with `first`; 64 KiB are enough. Accepts any bytes.
FileKind KindOf(std::string_view first);
FileKind KindOfArchive(const ArchiveIndex& index);

// The error of a reader of `expected` files that found a file of another kind: what the file is,
// and the function of penstock/torch_checkpoint.h that reads it.

Error WrongKind(std::string_view expected, FileKind found);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_FILE_KIND_H_
