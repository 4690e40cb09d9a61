// Saves distributed checkpoints of one rank.
#include "penstock/torch_checkpoint.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "base/async/poll_interrupt.h"
#include "base/encoding.h"
#include "base/log/log.h"
#include "base/missing.h"
#include "client/checkpoint/pickle/dcp_metadata.h"
#include "client/checkpoint/pickle/state_pickle.h"
#include "client/checkpoint/piece_crcs.h"
#include "client/checkpoint/zip_writer.h"
#include "client/torch/metadata_object.h"
#include "client/torch/tensor_bytes.h"

namespace penstock::torch {
namespace {

using checkpoint::DcpMetadata;
using checkpoint::ZipWriter;

constexpr std::string_view kOperation = "SaveDistributed";

// A new name in every save, so that the objects of an older checkpoint stay as they are until the
// metadata is replaced. Of 64 random bits: the object is written without a condition, which some
// services would reject only after all bytes were sent.
std::string NewShardName() {
  std::random_device random;
  const std::uint32_t bits = random();
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift);
  return "__0_g" + HexEncode(AsBytes(bytes)) + "_" + std::to_string(random()) + ".distcp";
}

// The `.metadata` that exists.
struct Current {
  std::optional<ETag> etag;                    // nullopt: there is none
  std::string pickle;                          // empty if it is too large
  std::optional<std::set<std::string>> paths;  // of its objects; nullopt if it cannot be parsed
};

Result<Current> ReadCurrent(const checkpoint::LoadContext& context, const S3Uri& place) {
  const auto object = OpenMetadata(context, place.bucket, place.path);
  Current current;
  if (!object.ok()) {
    if (IsMissingKey(object.error())) return current;
    return object.error();
  }
  current.etag = object->etag();
  auto pickle = ReadMetadata(context, *object);
  if (!pickle.ok()) {
    if (pickle.error().kind == ErrorKind::kResourceExhausted) return current;
    return std::move(pickle).error();
  }
  current.pickle = *std::move(pickle);
  const auto metadata = checkpoint::ReadDcpMetadata(current.pickle);
  if (!metadata.ok()) return current;
  std::set<std::string>& paths = current.paths.emplace();
  for (const auto& tensor : metadata->tensors) {
    for (const auto& chunk : tensor.chunks) paths.insert(chunk.place.path);
  }
  for (const auto& bytes : metadata->bytes) paths.insert(bytes.place.path);
  return current;
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
    checkpoint::PieceCrcs crcs =
        checkpoint::ComputePieceCrcs(bytes, checkpoint::PieceBytes(sizes, dense.element_size()));
    std::string tail = zip.End(crcs.whole);
    tail += EndArchive(zip);
    PENSTOCK_TRY(writer_.Write(AsBytes(tail), interrupt_));
    checkpoint::DcpChunk chunk{{checkpoint::Dimensions(sizes.size()), sizes},
                               PlaceOf(zip.bytes_written())};
    if (crcs.pieces.size() > 1) chunk.place.crc32s = std::move(crcs.pieces);  // else as in the zip
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
  constexpr std::size_t kMaxKeys = 1000;
  DeleteObjectsRequest request;
  request.bucket = place.bucket;
  request.options = options;
  const auto send = [&] {
    if (!request.keys.empty()) (void)store.Call(request, interrupt).ok();
    request.keys.clear();
  };
  for (const std::string& path : paths) {
    request.keys.push_back(ObjectKey(place.path + path));
    if (request.keys.size() == kMaxKeys) send();
  }
  send();
}

void LogPublished(std::string_view event, const S3Uri& place, const Error& error) {
  Log({LogLevel::kWarning,
       event,
       {{"bucket", place.bucket.value},
        {"key", place.path + ".metadata"},
        {"error", error.ToString()}}});
}

// Waits. Ends early at the deadline or on a stop: the next request reports them.
Result<void> Pause(std::chrono::nanoseconds wait, const CallOptions& call,
                   const Interrupt& interrupt) {
  constexpr std::chrono::nanoseconds kPoll = std::chrono::milliseconds(100);
  const auto end = std::min(std::chrono::steady_clock::now() + wait, call.deadline.when());
  for (;;) {
    PENSTOCK_ASSIGN(const bool interrupted, PollInterrupt(interrupt));
    if (interrupted) return Error::Make(ErrorKind::kCancelled, "the save was interrupted");
    const std::chrono::nanoseconds left = end - std::chrono::steady_clock::now();
    if (left <= left.zero() || call.cancel.stop_requested()) return Ok();
    std::this_thread::sleep_for(std::min(left, kPoll));
  }
}

// Repeats the upload while another request for the key is in progress, as S3's documentation says
// ("Add preconditions to S3 operations with conditional requests", Amazon S3 User Guide). It may be
// an earlier attempt of this one, whose response was lost.
Result<UploadResponse> UploadUnlessInProgress(const std::shared_ptr<ObjectStore>& store,
                                              const S3Uri& place, const std::string& pickle,
                                              const UploadOptions& options,
                                              const Interrupt& interrupt) {
  using std::chrono::milliseconds;
  const ObjectKey key(place.path + ".metadata");
  std::minstd_rand random(std::random_device{}());
  for (const int longest : {100, 200, 400, 800, 1600}) {  // ms
    auto put = Upload(store, place.bucket, key, AsBytes(pickle), options, interrupt);
    if (put.ok() || put.error().code != "ConditionalRequestConflict") return put;
    const milliseconds wait(std::uniform_int_distribution<int>(longest / 2, longest)(random));
    PENSTOCK_TRY(Pause(wait, options.call, interrupt));
  }
  return Upload(store, place.bucket, key, AsBytes(pickle), options, interrupt);
}

// Writes `.metadata` on condition that it is still the older one. A service without conditional
// writes gets a plain request.
Result<void> PutMetadata(const std::shared_ptr<ObjectStore>& store, const S3Uri& place,
                         const std::string& pickle, const std::optional<ETag>& older,
                         UploadOptions options, const Interrupt& interrupt) {
  options.progress = nullptr;
  options.size_hint_bytes.reset();
  options.if_match = older;
  options.if_none_match_any = !older;
  auto published = UploadUnlessInProgress(store, place, pickle, options, interrupt);
  if (published.ok()) return Ok();
  Error error = std::move(published).error();
  if (error.code == "NotImplemented" || error.http_status == 501) {
    LogPublished("checkpoint.published_unconditionally", place, error);
    options.if_match.reset();
    options.if_none_match_any = false;
    PENSTOCK_TRY(Upload(store, place.bucket, ObjectKey(place.path + ".metadata"), AsBytes(pickle),
                        std::move(options), interrupt));
    return Ok();
  }
  // The older metadata was removed.
  if (older && IsMissingKey(error)) error.kind = ErrorKind::kPreconditionFailed;
  return error;
}

// Publishes the metadata of the object `shard`. Deletes the object if another save was faster.
Result<void> Publish(const checkpoint::LoadContext& context, const S3Uri& place,
                     const std::string& pickle, const std::string& shard,
                     const std::optional<ETag>& older, const UploadOptions& options) {
  auto put = PutMetadata(context.store, place, pickle, older, options, context.interrupt);
  // After other errors it is unknown whether the metadata was stored.
  if (put.ok() || put.error().kind != ErrorKind::kPreconditionFailed) return put;
  const auto current = ReadCurrent(context, place);
  if (current.ok() && current->pickle == pickle) {
    // S3 applied the request twice, and the second time its own condition failed.
    LogPublished("checkpoint.published_twice", place, put.error());
    return Ok();
  }
  const bool unnamed = current.ok() && (!current->etag || current->paths) &&
                       !(current->paths && current->paths->contains(shard));
  if (unnamed) Delete(*context.store, place, {shard}, options.call, context.interrupt);
  put.error().message =
      "another save has written or removed .metadata since this one began; this save was not "
      "published; save to another path (" +
      put.error().message + ")";
  return put;
}

Result<void> Save(const std::shared_ptr<ObjectStore>& store, const S3Uri& place,
                  const StateDict& state, const UploadOptions& options,
                  const Interrupt& interrupt) {
  checkpoint::LoadContext context{store, {}, interrupt};
  context.ranges.call = options.call;
  context.ranges.customer_key = CustomerKeyOf(options.attributes.encryption);
  PENSTOCK_ASSIGN(Current older, ReadCurrent(context, place));
  older.pickle = {};
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
  PENSTOCK_TRY(
      Publish(context, place, WriteDcpMetadata(shard.metadata()), path, older.etag, options));

  // Only names of shards: the older metadata may be anything.
  std::set<std::string> replaced = older.paths.value_or(std::set<std::string>());
  std::erase_if(replaced, [&](const std::string& name) {
    return !name.ends_with(".distcp") || name == path;
  });
  Delete(*store, place, replaced, options.call, interrupt);
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
