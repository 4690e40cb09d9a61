// Loads distributed checkpoints into tensors.
#include "penstock/torch_checkpoint.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>
#include <utility>

#include "client/checkpoint/file_kind.h"
#include "client/checkpoint/load/explain_missing.h"
#include "client/checkpoint/load/item_load.h"
#include "client/checkpoint/load/state_file.h"
#include "client/checkpoint/pickle/dcp_metadata.h"
#include "client/torch/metadata_object.h"
#include "client/torch/pinned_store.h"
#include "client/torch/tensor_bytes.h"

namespace penstock::torch {
namespace {

using checkpoint::Box;
using checkpoint::DcpBytes;
using checkpoint::DcpPlace;
using checkpoint::DcpTensor;
using checkpoint::ItemRead;
using checkpoint::LoadContext;

constexpr std::string_view kOperation = "DistributedCheckpoint";
constexpr std::uint64_t kStagedBytes = 256 << 20;  // limit of the staging copies of one group

// Whether stored bytes can be written to the memory of `tensor`.
bool IsInPlace(const at::Tensor& tensor, at::ScalarType stored) {
  return tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.scalar_type() == stored &&
         !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg() &&
         tensor.is_non_overlapping_and_dense();
}

// Reads that run together. Their memory does not overlap.
class Group {
 public:
  bool Overlaps(const at::Tensor& tensor) const {
    const auto [begin, end] = RangeOf(tensor);
    const auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first < end) return true;
    return next != ranges_.begin() && std::prev(next)->second > begin;
  }
  bool IsFull() const { return staged_bytes_ >= kStagedBytes; }

  Result<void> Add(const DcpTensor& stored, const TensorTarget& target) {
    const auto dtype = DtypeOf(stored.dtype);
    if (!dtype) {
      return Error::Make(ErrorKind::kUnsupported, "'" + stored.name + "' has the dtype " +
                                                      stored.dtype +
                                                      ", which this version of libtorch lacks");
    }
    at::Tensor memory = target.tensor.detach();
    Box box{target.offsets, memory.sizes().vec()};
    if (box.offsets.empty()) box.offsets.resize(box.lengths.size());
    if (!box.IsWithin(stored.sizes)) {  // before memory is allocated
      PENSTOCK_TRY(PlanBox(stored, box, {}));
    }
    if (IsInPlace(memory, *dtype)) {
      const auto [begin, end] = RangeOf(memory);
      if (begin != end) ranges_[begin] = end;
    } else {
      const at::Tensor staged = at::empty(memory.sizes(), at::TensorOptions().dtype(*dtype));
      staged_bytes_ += staged.nbytes();
      staged_.emplace_back(memory, staged);
      memory = staged;
    }
    PENSTOCK_ASSIGN(
        std::vector<ItemRead> reads,
        PlanBox(stored, box, {static_cast<std::byte*>(memory.data_ptr()), memory.strides().vec()}));
    std::move(reads.begin(), reads.end(), std::back_inserter(reads_));
    return Ok();
  }

  Result<void> Run(const LoadContext& context, const checkpoint::ItemLocation& location,
                   const LoadIntoOptions& options) {
    PENSTOCK_TRY(LoadItems(context, location, reads_, options.verify_all));
    for (auto& [target, staged] : staged_) target.copy_(staged);
    *this = Group();
    return Ok();
  }

 private:
  static std::pair<std::uintptr_t, std::uintptr_t> RangeOf(const at::Tensor& tensor) {
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
    return {begin, begin + tensor.nbytes()};
  }

  std::vector<ItemRead> reads_;
  std::map<std::uintptr_t, std::uintptr_t> ranges_;        // memory that is read in place
  std::vector<std::pair<at::Tensor, at::Tensor>> staged_;  // target and staged values
  std::uint64_t staged_bytes_ = 0;
};

}  // namespace

struct [[gnu::visibility("hidden")]] DistributedCheckpoint::Impl {
  std::shared_ptr<ObjectStore> store;
  RangeReaderOptions ranges;
  S3Uri uri;
  checkpoint::ItemLocation location;
  checkpoint::DcpMetadata metadata;
  std::vector<StoredTensor> tensors;
  std::map<std::string_view, const DcpTensor*> by_name;  // views into `metadata`

  Error At(Error error) const {
    return std::move(error).At(kOperation, uri.bucket.value, location.prefix);
  }

  Result<void> ReadMetadata(const Interrupt& interrupt) {
    const LoadContext context{store, ranges, interrupt};
    const std::string& prefix = location.prefix;
    auto object = OpenMetadata(context, uri.bucket, prefix);
    if (!object.ok()) {
      const std::string path = prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1));
      return ExplainMissingMetadata(context, uri.bucket, path, std::move(object).error());
    }
    PENSTOCK_ASSIGN(const std::string pickle, torch::ReadMetadata(context, *object));
    auto read = checkpoint::ReadDcpMetadata(pickle);
    if (!read.ok()) return object->At(std::move(read).error(), kOperation);
    metadata = std::move(*read);
    for (const DcpTensor& tensor : metadata.tensors) {
      tensors.push_back({tensor.name, tensor.dtype, tensor.sizes});
      by_name[tensor.name] = &tensor;
    }
    return Ok();
  }

  // For one load: all its reads of an object have one version.
  LoadContext ContextOf(const Interrupt& interrupt) const {
    return {PinVersions(store), ranges, interrupt};
  }

  Result<void> Fill(const LoadContext& context, const std::vector<TensorTarget>& targets,
                    const LoadIntoOptions& options = {}) const {
    Group group;
    for (const TensorTarget& target : targets) {
      const auto found = by_name.find(target.name);
      if (found == by_name.end()) {
        return At(Error::Make(ErrorKind::kNotFound,
                              "the checkpoint has no tensor '" + target.name + "'"));
      }
      if (!target.tensor.defined())
        return Error::Make(ErrorKind::kInvalidArgument,
                           "the target of '" + target.name + "' is undefined");
      if (group.IsFull() || (target.tensor.is_cpu() && group.Overlaps(target.tensor)))
        PENSTOCK_TRY(group.Run(context, location, options));
      auto added = group.Add(*found->second, target);
      if (!added.ok()) return At(std::move(added).error());
    }
    return group.Run(context, location, options);
  }

  Result<StateDict> LoadAll(const LoadTensorsOptions& options, const Interrupt& interrupt) const {
    const LoadContext context = ContextOf(interrupt);
    StateDict state;
    std::vector<TensorTarget> targets;
    for (const DcpTensor& tensor : metadata.tensors) {
      if (options.filter && !options.filter(tensor.name)) continue;
      const auto dtype = DtypeOf(tensor.dtype);
      if (!dtype) {
        return At(Error::Make(
            ErrorKind::kUnsupported,
            "'" + tensor.name + "' has the dtype " + tensor.dtype + ", which this libtorch lacks"));
      }
      at::Tensor target =
          at::empty(tensor.sizes, at::TensorOptions().dtype(*dtype).device(options.device));
      targets.push_back({tensor.name, {}, target});
      state.tensors[tensor.name] = std::move(target);
    }
    PENSTOCK_TRY(Fill(context, targets));
    PENSTOCK_TRY(LoadValues(context, options, state));
    return state;
  }

  Result<void> LoadValues(const LoadContext& context, const LoadTensorsOptions& options,
                          StateDict& state) const {
    std::vector<const DcpBytes*> wanted;
    std::vector<DcpPlace> places;
    for (const DcpBytes& bytes : metadata.bytes) {
      // Names inside an encoded item cannot be read, so that the filter sees only the item's own
      // name.
      if (!bytes.place.transforms.empty() && options.filter && !options.filter(bytes.name))
        continue;
      wanted.push_back(&bytes);
      places.push_back(bytes.place);
    }
    PENSTOCK_ASSIGN(const std::vector<std::string> items, ReadItemBytes(context, location, places));
    for (std::size_t i = 0; i < items.size(); ++i) {
      auto read = LoadValue(*wanted[i], items[i], options, state);
      if (read.ok()) continue;
      read.error().message = "'" + wanted[i]->name + "': " + read.error().message;
      return At(std::move(read).error());
    }
    return Ok();
  }

  static Result<void> LoadValue(const DcpBytes& bytes, const std::string& item,
                                const LoadTensorsOptions& options, StateDict& state) {
    if (!bytes.place.transforms.empty()) {
      return Error::Make(ErrorKind::kUnsupported,
                         "it was encoded by the extension " + bytes.place.transforms);
    }
    const checkpoint::FileKind kind = checkpoint::KindOf(item);
    if (kind != checkpoint::FileKind::kZip) {
      if (options.filter && !options.filter(bytes.name)) return Ok();
      return WrongKind("a value of torch.save", kind);
    }
    PENSTOCK_ASSIGN(const checkpoint::StateInMemory read,
                    checkpoint::ReadStateArchive(item, options.filter, bytes.name));
    for (const auto& [name, value] : read.state.values) {
      PENSTOCK_TRY(CheckNew(name, state));
      state.values.emplace(name, value);
    }
    std::map<std::string_view, at::Tensor> storages;  // by key
    for (std::size_t i = 0; i < read.state.tensors.size(); ++i) {
      const checkpoint::SavedTensor& saved = read.state.tensors[i];
      const auto dtype = DtypeOf(saved.tensor.dtype);
      if (!dtype) return Error::Make(ErrorKind::kUnsupported, "its dtype is not supported");
      PENSTOCK_TRY(CheckNew(saved.name, state));
      at::Tensor& storage = storages[saved.tensor.storage_key];
      if (!storage.defined()) {
        const at::Tensor copy = EmptyStorage(read.storages[i].size());
        std::copy(read.storages[i].begin(), read.storages[i].end(),
                  static_cast<char*>(copy.data_ptr()));
        storage = copy.to(options.device);
      }
      state.tensors.emplace(saved.name, ViewOf(storage, *dtype, saved.tensor.storage_offset,
                                               saved.tensor.sizes, saved.tensor.strides));
    }
    return Ok();
  }

  // Joined names of nested values may be equal: "x" = {"0": ...} and "x.0".
  static Result<void> CheckNew(const std::string& name, const StateDict& state) {
    if (!state.values.contains(name) && !state.tensors.contains(name)) return Ok();
    return Error::Make(ErrorKind::kUnsupported,
                       "the checkpoint has two values with the name '" + name + "'");
  }
};

DistributedCheckpoint::DistributedCheckpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DistributedCheckpoint::DistributedCheckpoint(DistributedCheckpoint&&) noexcept = default;
DistributedCheckpoint& DistributedCheckpoint::operator=(DistributedCheckpoint&&) noexcept = default;
DistributedCheckpoint::~DistributedCheckpoint() = default;

Result<DistributedCheckpoint> DistributedCheckpoint::Open(std::shared_ptr<ObjectStore> store,
                                                          std::string_view uri,
                                                          RangeReaderOptions ranges,
                                                          const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseS3Uri(uri));
  return Guarded(kOperation, place, [&]() -> Result<DistributedCheckpoint> {
    auto impl = std::make_unique<Impl>();
    impl->store = std::move(store);
    impl->ranges = std::move(ranges);
    std::string prefix = place.path;
    if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
    impl->location = {place.bucket, std::move(prefix)};
    impl->uri = place;
    PENSTOCK_TRY(impl->ReadMetadata(interrupt));
    return DistributedCheckpoint(std::move(impl));
  });
}

const std::vector<StoredTensor>& DistributedCheckpoint::tensors() const { return impl_->tensors; }

Result<void> DistributedCheckpoint::LoadInto(const std::vector<TensorTarget>& targets,
                                             const LoadIntoOptions& options,
                                             const Interrupt& interrupt) const {
  return Guarded(kOperation, impl_->uri,
                 [&] { return impl_->Fill(impl_->ContextOf(interrupt), targets, options); });
}

Result<StateDict> DistributedCheckpoint::Load(const LoadTensorsOptions& options,
                                              const Interrupt& interrupt) const {
  return Guarded(kOperation, impl_->uri, [&] { return impl_->LoadAll(options, interrupt); });
}

}  // namespace penstock::torch
