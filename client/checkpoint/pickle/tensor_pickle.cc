// Reads tensors from pickles of torch.save.
#include <span>
#include <string>
#include <utility>

#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/pickle/pickled_tensor.h"

namespace penstock {
namespace checkpoint {
namespace {

constexpr std::string_view kUtils = "torch._utils.";
constexpr std::string_view kWithAttributes = "torch._tensor._rebuild_from_type_v2";
constexpr std::int64_t kMaxElements = std::int64_t{1} << 58;

Error Invalid(std::string_view what) {
  return Error::Make(ErrorKind::kDataLoss, "invalid tensor in a pickle: " + std::string(what));
}

// "_rebuild_tensor_v2" of "torch._utils._rebuild_tensor_v2"; empty for anything else.
std::string_view Rebuilder(std::string_view function) {
  if (!function.starts_with(kUtils)) return {};
  const std::string_view name = function.substr(kUtils.size());
  return name.starts_with("_rebuild_") ? name : std::string_view();
}

// A function that rebuilds a tensor, and its arguments.
struct Rebuild {
  std::string_view function;  // "_rebuild_tensor_v2"
  std::span<const PickleId> arguments;
};

// A tensor with attributes is _rebuild_from_type_v2(function, type, arguments, attributes).
Rebuild RebuildOf(const PickleDocument& document, PickleId id) {
  const std::string_view callee = document.Callee(id);
  const auto arguments = document.Arguments(id);
  if (callee != kWithAttributes) return {Rebuilder(callee), arguments};
  if (arguments.size() != 4 || document.kind(arguments[0]) != PickleKind::kGlobal ||
      document.kind(arguments[1]) != PickleKind::kGlobal ||
      document.at(arguments[1]).text != "torch.Tensor" ||
      document.kind(arguments[2]) != PickleKind::kTuple)
    return {};
  return {Rebuilder(document.at(arguments[0]).text), document.items(arguments[2])};
}

// A persistent ID: ("storage", type, key, location, elements).
struct Storage {
  std::string_view type;  // "torch.FloatStorage"
  std::string_view key;
  std::int64_t elements = 0;
};

Result<Storage> ReadStorage(const PickleDocument& document, PickleId id) {
  if (document.kind(id) != PickleKind::kPersistent)
    return Invalid("its first argument is not a storage");
  const PickleId tuple = document.items(id)[0];
  const auto items = document.items(tuple);
  if (document.kind(tuple) != PickleKind::kTuple || items.size() != 5)
    return Invalid("the ID of its storage does not have five elements");
  constexpr PickleKind kKinds[] = {PickleKind::kText, PickleKind::kGlobal, PickleKind::kText,
                                   PickleKind::kText, PickleKind::kInt};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (document.kind(items[i]) != kKinds[i])
      return Invalid("the ID of its storage has " + document.Describe(items[i]) + " as element " +
                     std::to_string(i));
  }
  const std::int64_t elements = document.at(items[4]).number;
  if (document.at(items[0]).text != "storage" || elements < 0 || elements >= kMaxElements)
    return Invalid("the ID of its storage is invalid");
  return Storage{document.at(items[1]).text, document.at(items[2]).text, elements};
}

bool AreNonNegative(const std::vector<std::int64_t>& numbers) {
  for (const std::int64_t number : numbers) {
    if (number < 0) return false;
  }
  return true;
}

bool IsEmpty(const PickleDocument& document, PickleId id) {
  return document.kind(id) == PickleKind::kNone ||
         (document.kind(id) == PickleKind::kDict && document.items(id).empty());
}

// Sets dtype and storage_bytes from the storage class and, for an untyped storage, from `dtype`.
Result<void> ReadDtype(const Storage& storage, const PickleValue* dtype, PickledTensor& tensor) {
  const std::string_view class_name = storage.type.substr(storage.type.rfind('.') + 1);
  if (dtype == nullptr) {
    const DtypeInfo* const found =
        storage.type.starts_with("torch.") ? FindDtypeOfStorage(class_name) : nullptr;
    if (found == nullptr) {
      return Error::Make(ErrorKind::kUnsupported, "a tensor has the storage class " +
                                                      std::string(storage.type) +
                                                      ", which is not supported");
    }
    tensor.dtype = found->name;
    tensor.storage_bytes = static_cast<std::uint64_t>(storage.elements) * found->item_bytes;
    return Ok();
  }
  if (class_name != "UntypedStorage" || dtype->kind != PickleKind::kGlobal ||
      !dtype->text.starts_with("torch.")) {
    return Invalid("it has no dtype");
  }
  tensor.dtype = dtype->text.substr(6);
  tensor.storage_bytes = static_cast<std::uint64_t>(storage.elements);
  return Ok();
}

// Arguments: (storage, storage_offset, size, stride, requires_grad, backward_hooks), for v3 also
// the dtype, and then optional attributes.
Result<PickledTensor> ReadPlain(const PickleDocument& document, const Rebuild& rebuild,
                                bool typed) {
  const auto arguments = rebuild.arguments;
  const std::size_t count = typed ? 6 : 7;
  if (arguments.size() < count || arguments.size() > count + 1)
    return Invalid("it has " + std::to_string(arguments.size()) + " arguments");
  if (arguments.size() > count && document.kind(arguments[count]) != PickleKind::kNone) {
    return Error::Make(ErrorKind::kUnsupported,
                       "a tensor has attributes (argument " + std::to_string(count) + " of " +
                           std::string(rebuild.function) +
                           "), for example a conjugate bit; only plain tensors are supported");
  }
  PENSTOCK_ASSIGN(const Storage storage, ReadStorage(document, arguments[0]));
  auto sizes = document.Integers(arguments[2]);
  auto strides = document.Integers(arguments[3]);
  if (!sizes || !strides || sizes->size() != strides->size() || !AreNonNegative(*sizes) ||
      !AreNonNegative(*strides))
    return Invalid("its sizes or strides are invalid");
  if (document.kind(arguments[1]) != PickleKind::kInt || document.at(arguments[1]).number < 0)
    return Invalid("its storage offset is invalid");
  if (document.kind(arguments[4]) != PickleKind::kBool || !IsEmpty(document, arguments[5]))
    return Invalid("it has hooks");
  PickledTensor tensor;
  tensor.sizes = std::move(*sizes);
  tensor.strides = std::move(*strides);
  tensor.storage_offset = document.at(arguments[1]).number;
  tensor.storage_key = storage.key;
  PENSTOCK_TRY(ReadDtype(storage, typed ? nullptr : &document.at(arguments[6]), tensor));
  return tensor;
}

// (data, requires_grad, hooks), and then the attributes.
bool IsParameter(const Rebuild& rebuild) {
  return rebuild.function == "_rebuild_parameter" ||
         rebuild.function == "_rebuild_parameter_with_state";
}

}  // namespace

bool IsPickledTensor(const PickleDocument& document, PickleId id) {
  return document.Callee(id) == kWithAttributes || !RebuildOf(document, id).function.empty();
}

Result<PickledTensor> ReadPickledTensor(const PickleDocument& document, PickleId id) {
  Rebuild rebuild = RebuildOf(document, id);
  if (IsParameter(rebuild)) {
    if (rebuild.arguments.size() < 2) return Invalid("a parameter has too few arguments");
    id = rebuild.arguments[0];
    rebuild = RebuildOf(document, id);
    if (IsParameter(rebuild)) return Invalid("a parameter contains a parameter");
  }
  if (rebuild.function == "_rebuild_tensor_v2") return ReadPlain(document, rebuild, true);
  if (rebuild.function == "_rebuild_tensor_v3") return ReadPlain(document, rebuild, false);
  return Error::Make(ErrorKind::kUnsupported,
                     "a tensor is rebuilt by " + std::string(document.Callee(id)) +
                         ", which is not supported: it is sparse, quantized or a subclass");
}

}  // namespace checkpoint

std::optional<PickledTensor> ReadTensorPickle(std::string_view pickle) {
  constexpr std::size_t kMaxValues = 4096;  // a tensor has about 30
  const auto document = checkpoint::PickleDocument::Read(pickle, {kMaxValues});
  if (!document.ok() || !document->Callee(document->root()).starts_with(checkpoint::kUtils))
    return std::nullopt;
  if (document->Callee(document->root()).starts_with("torch._utils._rebuild_parameter"))
    return std::nullopt;
  auto tensor = checkpoint::ReadPickledTensor(*document, document->root());
  if (!tensor.ok()) return std::nullopt;
  return std::move(*tensor);
}

}  // namespace penstock
