// Reads the pickle of one tensor. Interprets only the opcodes that torch.save writes for a tensor,
// and runs no code.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "penstock/tensor_archive.h"

namespace penstock {
namespace {

constexpr std::size_t kMaxValues = 4096;  // the pickle of a tensor makes about 30

struct Value {
  enum class Kind {
    kNothing,
    kMark,
    kBool,
    kInt,
    kText,
    kGlobal,
    kTuple,
    kStorage,
    kDict,
    kTensor
  };
  Kind kind = Kind::kNothing;
  std::int64_t number = 0;
  std::string_view text;  // for a global: "module\nname"
  std::vector<Value> items;
};
using Kind = Value::Kind;

class Machine {
 public:
  explicit Machine(std::string_view pickle) : left_(pickle) {}

  // Returns the pickled value, or nullopt if it uses other opcodes or is invalid.
  std::optional<Value> Run() {
    while (!left_.empty() && made_ < kMaxValues) {
      const char opcode = left_.front();
      left_.remove_prefix(1);
      if (opcode == '.') {
        if (!left_.empty() || stack_.size() != 1) return std::nullopt;
        return std::move(stack_.back());
      }
      ++made_;
      if (!Step(opcode)) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  bool Step(char opcode) {
    switch (opcode) {
      case '\x80': {  // PROTO
        const auto version = Number(1);
        return version && *version <= 3;
      }
      case 'c': return Global();
      case '(': return Push({Kind::kMark});
      case ')': return Push({Kind::kTuple});
      case '}': return Push({Kind::kDict});
      case '\x88': return Push({Kind::kBool, 1});
      case '\x89': return Push({Kind::kBool, 0});
      case 'K': return Integer(1);
      case 'M': return Integer(2);
      case 'J': return Integer(4);
      case '\x8a': return Long();
      case 'X': return Text();
      case 't': return TupleFromMark();
      case '\x85': return Tuple(1);
      case '\x86': return Tuple(2);
      case '\x87': return Tuple(3);
      case 'q': return Remember(Number(1));
      case 'r': return Remember(Number(4));
      case 'h': return Recall(Number(1));
      case 'j': return Recall(Number(4));
      case 'Q': return Storage();
      case 'R': return Call();
      default: return false;
    }
  }

  // Takes a little-endian unsigned number.
  std::optional<std::uint64_t> Number(std::size_t bytes) {
    if (left_.size() < bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(left_[i]);
    left_.remove_prefix(bytes);
    return value;
  }

  std::optional<std::string_view> Line() {
    const std::size_t end = left_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return line;
  }

  bool Push(Value value) {
    stack_.push_back(std::move(value));
    return true;
  }

  bool Global() {
    const char* const begin = left_.data();
    const auto module = Line();
    const auto name = module ? Line() : std::nullopt;
    if (!name) return false;
    return Push({Kind::kGlobal, 0, std::string_view(begin, module->size() + 1 + name->size())});
  }

  bool Integer(std::size_t bytes) {
    const auto value = Number(bytes);
    if (!value) return false;
    return Push({Kind::kInt, bytes == 4 ? static_cast<std::int32_t>(*value)
                                        : static_cast<std::int64_t>(*value)});
  }

  bool Long() {
    const auto size = Number(1);
    if (!size || *size > 8) return false;
    if (*size == 0) return Push({Kind::kInt, 0});
    auto value = Number(*size);
    if (!value) return false;
    const unsigned unused = 64 - 8 * static_cast<unsigned>(*size);
    return Push({Kind::kInt, static_cast<std::int64_t>(*value << unused) >> unused});
  }

  bool Text() {
    const auto size = Number(4);
    if (!size || left_.size() < *size) return false;
    const std::string_view text = left_.substr(0, *size);
    left_.remove_prefix(*size);
    return Push({Kind::kText, 0, text});
  }

  bool Tuple(std::size_t count) {
    if (stack_.size() < count) return false;
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    if (std::any_of(first, stack_.end(),
                    [](const Value& value) { return value.kind == Kind::kMark; }))
      return false;
    Value tuple{Kind::kTuple};
    tuple.items.assign(std::make_move_iterator(first), std::make_move_iterator(stack_.end()));
    stack_.erase(first, stack_.end());
    return Push(std::move(tuple));
  }

  bool TupleFromMark() {
    const auto mark = std::find_if(stack_.rbegin(), stack_.rend(),
                                   [](const Value& value) { return value.kind == Kind::kMark; });
    if (mark == stack_.rend()) return false;
    const auto count = static_cast<std::size_t>(mark - stack_.rbegin());
    stack_.erase(std::next(mark).base());
    return Tuple(count);
  }

  // Remembers the top of the stack in the memo. Only small values are remembered, because copying a
  // tuple costs time and memory for each entry.
  bool Remember(std::optional<std::uint64_t> number) {
    if (!number || stack_.empty() || *number >= kMaxValues) return false;
    if (memo_.size() <= *number) memo_.resize(*number + 1);
    const Value& top = stack_.back();
    // These are never recalled.
    if (top.kind == Kind::kTensor || top.kind == Kind::kMark || top.items.size() > 64) return true;
    if (top.kind == Kind::kTuple && std::any_of(top.items.begin(), top.items.end(),
                                                [](const Value& v) { return !v.items.empty(); })) {
      return true;
    }
    memo_[*number] = top;
    return true;
  }

  bool Recall(std::optional<std::uint64_t> number) {
    if (!number || *number >= memo_.size() || memo_[*number].kind == Kind::kNothing) return false;
    return Push(memo_[*number]);
  }

  // Handles a persistent id: ("storage", type, key, location, elements).
  bool Storage() {
    if (stack_.empty() || stack_.back().kind != Kind::kTuple) return false;
    Value& id = stack_.back();
    constexpr std::array kKinds = {Kind::kText, Kind::kGlobal, Kind::kText, Kind::kText,
                                   Kind::kInt};
    if (id.items.size() != kKinds.size() || id.items[0].text != "storage") return false;
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (id.items[i].kind != kKinds[i]) return false;
    }
    id.kind = Kind::kStorage;
    return true;
  }

  bool Call() {
    if (stack_.size() < 2) return false;
    Value arguments = std::move(stack_.back());
    stack_.pop_back();
    Value& function = stack_.back();
    if (function.kind != Kind::kGlobal || arguments.kind != Kind::kTuple) return false;
    if (function.text == "collections\nOrderedDict") {
      function = {Kind::kDict};
      return arguments.items.empty();
    }
    if (function.text != "torch._utils\n_rebuild_tensor_v2" &&
        function.text != "torch._utils\n_rebuild_tensor_v3")
      return false;
    arguments.kind = Kind::kTensor;
    arguments.text = function.text;
    function = std::move(arguments);
    return true;
  }

  std::string_view left_;
  std::size_t made_ = 0;
  std::vector<Value> stack_;
  std::vector<Value> memo_;
};

struct TypedStorage {
  std::string_view global;
  std::string_view dtype;
  std::uint64_t element_bytes;
};
constexpr TypedStorage kTypedStorages[] = {
    {"torch\nFloatStorage", "float32", 4},
    {"torch\nBFloat16Storage", "bfloat16", 2},
    {"torch\nHalfStorage", "float16", 2},
    {"torch\nDoubleStorage", "float64", 8},
    {"torch\nLongStorage", "int64", 8},
    {"torch\nIntStorage", "int32", 4},
    {"torch\nShortStorage", "int16", 2},
    {"torch\nCharStorage", "int8", 1},
    {"torch\nByteStorage", "uint8", 1},
    {"torch\nBoolStorage", "bool", 1},
    {"torch\nComplexFloatStorage", "complex64", 8},
    {"torch\nComplexDoubleStorage", "complex128", 16},
};

bool AreNumbers(const Value& tuple, std::vector<std::int64_t>& out) {
  if (tuple.kind != Kind::kTuple) return false;
  for (const Value& item : tuple.items) {
    if (item.kind != Kind::kInt || item.number < 0) return false;
    out.push_back(item.number);
  }
  return true;
}

}  // namespace

std::optional<PickledTensor> ReadTensorPickle(std::string_view pickle) {
  const std::optional<Value> value = Machine(pickle).Run();
  if (!value || value->kind != Kind::kTensor) return std::nullopt;
  // Arguments: (storage, storage_offset, size, stride, requires_grad, backward_hooks), and for v3
  // also the dtype.
  const std::vector<Value>& arguments = value->items;
  const bool typed = value->text.ends_with("_v2");
  if (arguments.size() != (typed ? 6 : 7)) return std::nullopt;
  const Value& storage = arguments[0];
  if (storage.kind != Kind::kStorage || arguments[1].kind != Kind::kInt ||
      arguments[4].kind != Kind::kBool || arguments[5].kind != Kind::kDict) {
    return std::nullopt;
  }
  PickledTensor tensor;
  if (!AreNumbers(arguments[2], tensor.sizes) || !AreNumbers(arguments[3], tensor.strides))
    return std::nullopt;
  if (tensor.sizes.size() != tensor.strides.size()) return std::nullopt;
  tensor.storage_offset = arguments[1].number;
  tensor.storage_key = storage.items[2].text;
  const std::int64_t elements = storage.items[4].number;
  if (tensor.storage_offset < 0 || elements < 0 || elements >= std::int64_t{1} << 58)
    return std::nullopt;
  const std::string_view type = storage.items[1].text;
  if (typed) {
    const auto found =
        std::find_if(std::begin(kTypedStorages), std::end(kTypedStorages),
                     [&](const TypedStorage& known) { return known.global == type; });
    if (found == std::end(kTypedStorages)) return std::nullopt;
    tensor.dtype = found->dtype;
    tensor.storage_bytes = static_cast<std::uint64_t>(elements) * found->element_bytes;
  } else {
    const Value& dtype = arguments[6];
    if (!type.ends_with("\nUntypedStorage") || dtype.kind != Kind::kGlobal ||
        !dtype.text.starts_with("torch\n")) {
      return std::nullopt;
    }
    tensor.dtype = dtype.text.substr(6);
    tensor.storage_bytes = static_cast<std::uint64_t>(elements);
  }
  return tensor;
}

}  // namespace penstock
