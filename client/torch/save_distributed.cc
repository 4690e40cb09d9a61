// Saves distributed checkpoints of one rank.
#include "penstock/torch_checkpoint.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "base/crc/crc.h"
#include "base/encoding.h"
#include "client/checkpoint/dcp_metadata.h"
#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/state_pickle.h"
#include "client/checkpoint/zip_writer.h"
#include "client/torch/tensor_bytes.h"

namespace penstock::torch {
namespace {

using checkpoint::DcpMetadata;
using checkpoint::ZipWriter;

constexpr std::string_view kOperation = "SaveDistributed";

// A new name in every save, so that the objects of an older checkpoint stay as they are until the
// metadata is replaced.
std::string NewShardName() {
  std::random_device random;
  const std::uint32_t bits = random();
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  return "__0_g" + HexEncode(AsBytes(bytes)) + "_0.distcp";
}

// The metadata that a save replaces.
struct Older {
  std::optional<ETag> etag;     // nullopt: there is none
  std::set<std::string> paths;  // of its objects; empty if it cannot be read
};

Result<Older> ReadOlder(const checkpoint::LoadContext& context, const S3Uri& place) {
  const auto object = checkpoint::CheckpointObject::Open(
      context, place.bucket, ObjectKey(place.path + ".metadata"), 4 << 20);
  Older older;
  if (!object.ok()) {
    if (object.error().kind == ErrorKind::kNotFound && object.error().code == "NoSuchKey")
      return older;
    return object.error();
  }
  older.etag = object->etag();
  PENSTOCK_ASSIGN(const std::string pickle, object->Read(context, 0, object->size()));
  const auto metadata = checkpoint::ReadDcpMetadata(pickle);
  if (!metadata.ok()) return older;
  for (const auto& tensor : metadata->tensors) {
    for (const auto& chunk : tensor.chunks) older.paths.insert(chunk.place.path);
  }
  for (const auto& bytes : metadata->bytes) older.paths.insert(bytes.place.path);
  return older;
}

// Writes items one after the other into one object.
class ShardWriter {
 public:
  ShardWriter(ObjectWriter& writer, std::string path, const Interrupt& interrupt)
      : writer_(writer), path_(std::move(path)), interrupt_(interrupt) {}

  Result<void> Add(const std::string& name, const at::Tensor& tensor) {
    PENSTOCK_ASSIGN(const at::Tensor plain, PlainTensor(name, tensor));
    const at::Tensor dense = plain.contiguous();
    const ByteView bytes = BytesOf(dense);
    const std::vector<std::int64_t> sizes = dense.sizes().vec();
    const PickledTensor described{NameOf(dense.scalar_type()),
                                  sizes,
                                  checkpoint::RowMajorStrides(sizes),
                                  0,
                                  "0",
                                  bytes.size()};
    PENSTOCK_ASSIGN(const std::string pickle, checkpoint::WriteTensorPickle(described));
    ZipWriter zip;
    std::string head = BeginArchive(zip, pickle);
    head += zip.Begin("data/0", bytes.size());
    PENSTOCK_TRY(writer_.Write(AsBytes(head), interrupt_));
    const bool borrowed = dense.is_alias_of(tensor);
    PENSTOCK_TRY(borrowed ? writer_.WriteNoCopy(bytes, interrupt_)
                          : writer_.Write(bytes, interrupt_));
    std::string tail = zip.End(Crc32(bytes));
    tail += EndArchive(zip);
    PENSTOCK_TRY(writer_.Write(AsBytes(tail), interrupt_));
    checkpoint::DcpChunk chunk{{checkpoint::Dimensions(sizes.size()), sizes},
                               PlaceOf(zip.bytes_written())};
    metadata_.tensors.push_back({name, described.dtype, sizes, {std::move(chunk)}});
    return Ok();
  }

  Result<void> Add(const std::string& name, const SavedValue& value) {
    PENSTOCK_ASSIGN(const std::string pickle, checkpoint::WriteValuePickle(value));
    ZipWriter zip;
    std::string item = BeginArchive(zip, pickle);
    item += EndArchive(zip);
    PENSTOCK_TRY(writer_.Write(AsBytes(item), interrupt_));
    metadata_.bytes.push_back({name, PlaceOf(item.size())});
    return Ok();
  }

  const DcpMetadata& metadata() const { return metadata_; }

 private:
  checkpoint::DcpPlace PlaceOf(std::uint64_t length) {
    return {path_, std::exchange(at_, at_ + length), length, {}};
  }

  ObjectWriter& writer_;
  const std::string path_;
  const Interrupt& interrupt_;
  std::uint64_t at_ = 0;
  DcpMetadata metadata_;
};

// Deletes objects that no metadata names. Failures leave them.
void Delete(ObjectStore& store, const S3Uri& place, const std::set<std::string>& paths,
            const CallOptions& options, const Interrupt& interrupt) {
  constexpr std::size_t kMostKeys = 1000;
  DeleteObjectsRequest request;
  request.bucket = place.bucket;
  request.options = options;
  const auto send = [&] {
    if (!request.keys.empty()) (void)store.Call(request, interrupt).ok();
    request.keys.clear();
  };
  for (const std::string& path : paths) {
    request.keys.push_back(ObjectKey(place.path + path));
    if (request.keys.size() == kMostKeys) send();
  }
  send();
}

Result<void> Save(const std::shared_ptr<ObjectStore>& store, const S3Uri& place,
                  const StateDict& state, const UploadOptions& options,
                  const Interrupt& interrupt) {
  checkpoint::LoadContext context{store, {}, interrupt};
  context.ranges.call = options.call;
  PENSTOCK_ASSIGN(const Older older, ReadOlder(context, place));
  // The pickle of the names checks them before anything is written.
  checkpoint::SavedState names;
  for (const auto& [name, tensor] : state.tensors) names.values.emplace_back(name, SavedValue());
  for (const auto& [name, value] : state.values) names.values.emplace_back(name, value);
  PENSTOCK_TRY(checkpoint::WriteStatePickle(names));

  const std::string path = NewShardName();
  const std::unique_ptr<ObjectWriter> writer =
      ObjectWriter::Create(store, place.bucket, ObjectKey(place.path + path), options);
  ShardWriter shard(*writer, path, interrupt);
  for (const auto& [name, tensor] : state.tensors) PENSTOCK_TRY(shard.Add(name, tensor));
  for (const auto& [name, value] : state.values) PENSTOCK_TRY(shard.Add(name, value));
  PENSTOCK_TRY(writer->Finish(interrupt));

  UploadOptions publish = options;
  publish.progress = nullptr;
  publish.size_hint_bytes.reset();
  publish.if_match = older.etag;
  publish.if_none_match_any = !older.etag;
  const std::string pickle = WriteDcpMetadata(shard.metadata());
  auto published = Upload(store, place.bucket, ObjectKey(place.path + ".metadata"), AsBytes(pickle),
                          std::move(publish), interrupt);
  if (!published.ok()) {
    // Nothing names the shard. After other errors the metadata may have been stored.
    if (published.error().kind == ErrorKind::kPreconditionFailed)
      Delete(*store, place, {path}, options.call, interrupt);
    return std::move(published).error();
  }
  Delete(*store, place, older.paths, options.call, interrupt);
  return Ok();
}

}  // namespace

Result<void> SaveDistributed(std::shared_ptr<ObjectStore> store, std::string_view uri,
                             const StateDict& state, UploadOptions options,
                             const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(S3Uri place, ParseS3Uri(uri));
  if (!place.path.empty() && !place.path.ends_with('/')) place.path += '/';
  return Guarded(kOperation, place,
                 [&]() -> Result<void> { return Save(store, place, state, options, interrupt); });
}

}  // namespace penstock::torch
