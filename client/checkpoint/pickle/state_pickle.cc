#include "client/checkpoint/pickle/state_pickle.h"

#include <algorithm>
#include <set>

#include "base/text/utf8.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/pickle/pickle.h"
#include "client/checkpoint/pickle/pickle_writer.h"
#include "client/checkpoint/pickle/pickled_tensor.h"

namespace penstock::checkpoint {
namespace {

constexpr int kMaxDepth = 100;
// A value that is referred to from many places is copied each time. The copies of healthy files are
// small compared with these limits.
constexpr std::size_t kMaxGrowth = 256;  // bytes of copies for each byte of the pickle
constexpr std::size_t kFreeBytes = std::size_t{1} << 20;

std::string Joined(std::string_view prefix, std::string_view name) {
  if (prefix.empty()) return std::string(name);
  return std::string(prefix).append(".").append(name);
}

bool IsQuantized(std::string_view dtype) {
  constexpr std::string_view kNames[] = {"quint8", "qint8", "qint32", "quint4x2", "quint2x4"};
  return std::find(std::begin(kNames), std::end(kNames), dtype) != std::end(kNames);
}

// Bytes of text that Python encoded as latin-1.
std::optional<std::string> FromLatin1(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
      continue;
    }
    if ((byte != 0xC2 && byte != 0xC3) || ++i == text.size()) return std::nullopt;
    bytes += static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[i]) & 0x3F));
  }
  return bytes;
}

class StateReader {
 public:
  StateReader(const PickleDocument& document, const NameFilter& filter, std::size_t pickle_bytes)
      : document_(document), filter_(filter), bytes_left_(kMaxGrowth * pickle_bytes + kFreeBytes) {}

  Result<SavedState> Read(std::string_view prefix) {
    PENSTOCK_TRY(Visit(document_.root(), std::string(prefix), 0));
    PENSTOCK_TRY(CheckNames());
    return std::move(state_);
  }

 private:
  bool IsWanted(const std::string& name) const { return !filter_ || filter_(name); }

  // Subtracts the bytes that a value takes.
  Result<void> Charge(std::size_t bytes, const std::string& name) {
    if (bytes_left_ < bytes) {
      return Error::Make(ErrorKind::kUnsupported,
                         "the pickle repeats its values too often: they need more than " +
                             std::to_string(kMaxGrowth) + " times its size, at '" +
                             name.substr(0, 100) + "'");
    }
    bytes_left_ -= bytes;
    return Ok();
  }

  Result<void> Visit(PickleId id, const std::string& name, int depth) {
    constexpr std::size_t kVisitBytes = 64;
    if (depth > kMaxDepth) {
      return Error::Make(ErrorKind::kUnsupported,
                         "the pickle is nested more than " + std::to_string(kMaxDepth) +
                             " levels deep, at '" + name.substr(0, 100) + "'");
    }
    PENSTOCK_TRY(Charge(kVisitBytes + name.size(), name));
    switch (document_.kind(id)) {
      case PickleKind::kDict: return VisitDict(id, name, depth);
      case PickleKind::kList:
      case PickleKind::kTuple:
      case PickleKind::kSet: return VisitItems(document_.items(id), name, depth);
      case PickleKind::kCall: return VisitCall(id, name, depth);
      default: break;
    }
    if (!IsWanted(name)) return Ok();
    PENSTOCK_TRY(Charge(document_.at(id).text.size(), name));
    auto value = PlainValue(id);
    if (!value) return Unsupported(id, name);
    state_.values.emplace_back(name, std::move(*value));
    return Ok();
  }

  Result<void> VisitDict(PickleId id, const std::string& name, int depth) {
    const auto items = document_.items(id);
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const PickleValue& key = document_.at(items[i]);
      if (key.kind == PickleKind::kText) {
        PENSTOCK_TRY(Visit(items[i + 1], Joined(name, key.text), depth + 1));
      } else if (key.kind == PickleKind::kInt) {
        PENSTOCK_TRY(Visit(items[i + 1], Joined(name, std::to_string(key.number)), depth + 1));
      } else if (IsWanted(name)) {
        return Error::Make(ErrorKind::kUnsupported, "the dict '" + name + "' has " +
                                                        document_.Describe(items[i]) +
                                                        " as a key; str and int are supported");
      }
    }
    return Ok();
  }

  Result<void> VisitItems(std::span<const PickleId> items, const std::string& name, int depth) {
    for (std::size_t i = 0; i < items.size(); ++i)
      PENSTOCK_TRY(Visit(items[i], Joined(name, std::to_string(i)), depth + 1));
    return Ok();
  }

  Result<void> VisitCall(PickleId id, const std::string& name, int depth) {
    const std::string_view callee = document_.Callee(id);
    const auto arguments = document_.Arguments(id);
    if (arguments.size() == 1 && (callee == "torch.Size" || callee == "collections.OrderedDict" ||
                                  callee == "collections.Counter" || callee == "builtins.set" ||
                                  callee == "builtins.frozenset"))
      return Visit(arguments[0], name, depth + 1);
    if (!IsWanted(name)) return Ok();
    if (IsPickledTensor(document_, id)) {
      auto tensor = ReadPickledTensor(document_, id);
      if (!tensor.ok()) {
        tensor.error().message = "'" + name + "': " + tensor.error().message;
        return std::move(tensor).error();
      }
      PENSTOCK_TRY(Charge(sizeof(SavedTensor) + tensor->storage_key.size() + tensor->dtype.size() +
                              16 * tensor->sizes.size(),
                          name));
      state_.tensors.push_back({name, std::move(*tensor)});
      return Ok();
    }
    if (!arguments.empty()) PENSTOCK_TRY(Charge(document_.at(arguments[0]).text.size(), name));
    auto text = CalledText(callee, arguments);
    if (!text) return Unsupported(id, name);
    state_.values.emplace_back(name, std::move(*text));
    return Ok();
  }

  // bytes and bytearrays of protocol 2, a layout as "torch.strided", and a device as "cuda:0".
  std::optional<std::string> CalledText(std::string_view callee,
                                        std::span<const PickleId> arguments) const {
    const bool bytes = callee == "builtins.bytes" || callee == "builtins.bytearray";
    if (bytes && arguments.empty()) return std::string();
    if (callee == "builtins.bytearray" && arguments.size() == 1 &&
        document_.kind(arguments[0]) == PickleKind::kBytes)
      return std::string(document_.at(arguments[0]).text);
    if (arguments.empty() || document_.kind(arguments[0]) != PickleKind::kText) return std::nullopt;
    const std::string_view text = document_.at(arguments[0]).text;
    if ((callee == "_codecs.encode" || callee == "builtins.bytearray") && arguments.size() == 2 &&
        document_.kind(arguments[1]) == PickleKind::kText &&
        (document_.at(arguments[1]).text == "latin1" ||
         document_.at(arguments[1]).text == "latin-1"))
      return FromLatin1(text);
    if (callee == "torch.serialization._get_layout" && arguments.size() == 1)
      return std::string(text);
    if (callee != "torch.device" || arguments.size() > 2) return std::nullopt;
    if (arguments.size() == 1) return std::string(text);
    if (document_.kind(arguments[1]) != PickleKind::kInt) return std::nullopt;
    return std::string(text) + ":" + std::to_string(document_.at(arguments[1]).number);
  }

  std::optional<SavedValue> PlainValue(PickleId id) const {
    const PickleValue& value = document_.at(id);
    switch (value.kind) {
      case PickleKind::kNone: return SavedValue();
      case PickleKind::kBool: return SavedValue(value.number != 0);
      case PickleKind::kInt: return SavedValue(value.number);
      case PickleKind::kFloat: return SavedValue(value.real);
      case PickleKind::kText:
      case PickleKind::kBytes: return SavedValue(std::string(value.text));
      case PickleKind::kGlobal:  // a dtype
        if (value.text.starts_with("torch.") &&
            (FindDtype(value.text.substr(6)) || IsQuantized(value.text.substr(6))))
          return SavedValue(std::string(value.text));
        return std::nullopt;
      default: return std::nullopt;
    }
  }

  Error Unsupported(PickleId id, const std::string& name) const {
    return Error::Make(ErrorKind::kUnsupported,
                       "the value '" + name + "' is " + document_.Describe(id) +
                           ", which this reader does not support; it was not run. Exclude the "
                           "name with a filter, or save tensors and plain values only (None, bool, "
                           "int of 64 bits, float, str, bytes)");
  }

  Result<void> CheckNames() const {
    std::vector<std::string_view> names;
    for (const SavedTensor& each : state_.tensors) names.push_back(each.name);
    for (const auto& each : state_.values) names.push_back(each.first);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return Ok();
    return Error::Make(ErrorKind::kUnsupported,
                       "two values have the name '" + std::string(*twice) +
                           "' after the names of nested dicts are joined by \".\"");
  }

  const PickleDocument& document_;
  const NameFilter& filter_;
  std::size_t bytes_left_;  // of copies
  SavedState state_;
};

Result<void> CheckText(std::string_view text) {
  if (IsValidUtf8(text) && text.size() <= UINT32_MAX) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     "a name or text is not UTF-8 and cannot be saved: '" +
                         std::string(text.substr(0, 100)) + "'");
}

Result<void> CheckTensor(const PickledTensor& tensor) {
  if (FindDtype(tensor.dtype) != nullptr) return CheckText(tensor.storage_key);
  return Error::Make(ErrorKind::kInvalidArgument, "the dtype " + tensor.dtype + " cannot be saved");
}

Result<void> CheckValue(const SavedValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? CheckText(*text) : Ok();
}

}  // namespace

Result<SavedState> ReadStatePickle(std::string_view pickle, const NameFilter& filter,
                                   std::string_view prefix) {
  PENSTOCK_ASSIGN(const PickleDocument document, PickleDocument::Read(pickle));
  return StateReader(document, filter, pickle.size()).Read(prefix);
}

Result<std::string> WriteStatePickle(const SavedState& state) {
  PickleWriter writer;
  std::set<std::string_view> names;
  const auto add_name = [&](const std::string& name) -> Result<void> {
    PENSTOCK_TRY(CheckText(name));
    if (!names.insert(name).second)
      return Error::Make(ErrorKind::kInvalidArgument, "the name '" + name + "' occurs twice");
    writer.Text(name);
    return Ok();
  };
  writer.EmptyDict();
  writer.Mark();
  for (const auto& [name, tensor] : state.tensors) {
    PENSTOCK_TRY(add_name(name));
    PENSTOCK_TRY(CheckTensor(tensor));
    writer.Tensor(tensor);
  }
  for (const auto& [name, value] : state.values) {
    PENSTOCK_TRY(add_name(name));
    PENSTOCK_TRY(CheckValue(value));
    writer.Value(value);
  }
  writer.SetItems();
  return std::move(writer).Finish();
}

Result<std::string> WriteTensorPickle(const PickledTensor& tensor) {
  PENSTOCK_TRY(CheckTensor(tensor));
  PickleWriter writer;
  writer.Tensor(tensor);
  return std::move(writer).Finish();
}

Result<std::string> WriteValuePickle(const SavedValue& value) {
  PENSTOCK_TRY(CheckValue(value));
  PickleWriter writer;
  writer.Value(value);
  return std::move(writer).Finish();
}

}  // namespace penstock::checkpoint
