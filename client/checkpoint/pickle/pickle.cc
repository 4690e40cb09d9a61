#include "client/checkpoint/pickle/pickle.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace penstock::checkpoint {
namespace {

constexpr PickleId kNoneId = 0;
constexpr PickleId kFalseId = 1;
constexpr PickleId kTrueId = 2;

bool HasItems(PickleKind kind) {
  switch (kind) {
    case PickleKind::kList:
    case PickleKind::kTuple:
    case PickleKind::kSet:
    case PickleKind::kDict:
    case PickleKind::kCall:
    case PickleKind::kPersistent: return true;
    default: return false;
  }
}

std::string Hex(unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

Error Invalid(std::string what) {
  return Error::Make(ErrorKind::kDataLoss, "invalid pickle: " + std::move(what));
}

}  // namespace

// Executes the opcodes. A step returns false after setting `error_`.
class PickleMachine {
 public:
  PickleMachine(std::string_view pickle, const PickleLimits& limits)
      : pickle_(pickle), left_(pickle), limits_(limits) {
    Add({PickleKind::kNone});
    Add({PickleKind::kBool, 0, {0}});
    Add({PickleKind::kBool, 0, {1}});
  }

  Result<PickleDocument> Run() {
    while (!left_.empty()) {
      const auto opcode = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      if (opcode == '.') {
        if (!left_.empty()) return Invalid(std::to_string(left_.size()) + " bytes follow its end");
        if (stack_.size() != 1 || !marks_.empty()) return Invalid("it ends within a value");
        document_.root_ = stack_.back();
        return std::move(document_);
      }
      if (!Step(opcode)) return Failure(opcode);
    }
    return Invalid("it is truncated after " + std::to_string(pickle_.size()) + " bytes");
  }

 private:
  Error Failure(unsigned char opcode) {
    if (error_) return std::move(*error_);
    return Invalid("opcode " + Hex(opcode) + " before byte " +
                   std::to_string(pickle_.size() - left_.size()) + " cannot be applied");
  }

  bool Step(unsigned char opcode) {
    switch (opcode) {
      case 0x80: return Protocol();
      case 0x95: return Take(8).has_value();  // FRAME
      case 'N': return Push(kNoneId);
      case 0x88: return Push(kTrueId);
      case 0x89: return Push(kFalseId);
      case 'K': return Integer(1);
      case 'M': return Integer(2);
      case 'J': return Integer(4);
      case 0x8a: return Long(1);
      case 0x8b: return Long(4);
      case 'G': return Float();
      case 0x8c: return Text(PickleKind::kText, 1);
      case 'X': return Text(PickleKind::kText, 4);
      case 0x8d: return Text(PickleKind::kText, 8);
      case 'U': return Text(PickleKind::kText, 1);   // SHORT_BINSTRING of Python 2
      case 'T': return Text(PickleKind::kText, 4);   // BINSTRING
      case 'C': return Text(PickleKind::kBytes, 1);  // SHORT_BINBYTES
      case 'B': return Text(PickleKind::kBytes, 4);
      case 0x8e:                                      // BINBYTES8
      case 0x96: return Text(PickleKind::kBytes, 8);  // BYTEARRAY8
      default: return StepContainer(opcode);
    }
  }

  bool StepContainer(unsigned char opcode) {
    switch (opcode) {
      case '(': marks_.push_back(stack_.size()); return true;
      case ')': return PushItems(PickleKind::kTuple, {});
      case ']': return PushItems(PickleKind::kList, {});
      case '}': return PushItems(PickleKind::kDict, {});
      case 0x8f: return PushItems(PickleKind::kSet, {});
      case 't': return FromMark(PickleKind::kTuple);
      case 'l': return FromMark(PickleKind::kList);
      case 'd': return FromMark(PickleKind::kDict);
      case 0x91: return FromMark(PickleKind::kSet);  // FROZENSET
      case 0x85: return FromTop(PickleKind::kTuple, 1);
      case 0x86: return FromTop(PickleKind::kTuple, 2);
      case 0x87: return FromTop(PickleKind::kTuple, 3);
      case 'a': return Append(1, PickleKind::kList);
      case 's': return Append(2, PickleKind::kDict);
      case 'e': return AppendFromMark(PickleKind::kList);
      case 'u': return AppendFromMark(PickleKind::kDict);
      case 0x90: return AppendFromMark(PickleKind::kSet);
      case '0': return Pop();
      case '1': return PopMark();
      case '2': return CanPop(1) && Push(stack_.back());
      default: return StepObject(opcode);
    }
  }

  bool StepObject(unsigned char opcode) {
    switch (opcode) {
      case 'c': return Global();
      case 0x93: return StackGlobal();
      case 'R':                   // REDUCE
      case 0x81: return Call(2);  // NEWOBJ
      case 0x92: return Call(3);  // NEWOBJ_EX
      case 'b': return Build();
      case 'Q': return FromTop(PickleKind::kPersistent, 1);
      case 'q': return Remember(Take(1));
      case 'r': return Remember(Take(4));
      case 0x94: return Remember(memo_.size());
      case 'h': return Recall(Take(1));
      case 'j': return Recall(Take(4));
      default:
        error_ = Error::Make(ErrorKind::kUnsupported,
                             "the pickle has the opcode " + Hex(opcode) + " at byte " +
                                 std::to_string(pickle_.size() - left_.size() - 1) +
                                 ", which pickles of protocol 2 to 5 of tensors do not use");
        return false;
    }
  }

  // ---- input

  // Takes a little-endian unsigned number.
  std::optional<std::uint64_t> Take(std::size_t bytes) {
    if (left_.size() < bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(left_[i]);
    left_.remove_prefix(bytes);
    return value;
  }
  std::optional<std::string_view> TakeText(std::optional<std::uint64_t> size) {
    if (!size || left_.size() < *size) return std::nullopt;
    const std::string_view text = left_.substr(0, *size);
    left_.remove_prefix(*size);
    return text;
  }
  std::optional<std::string_view> TakeLine() {
    const std::size_t end = left_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return line;
  }

  bool Protocol() {
    const auto version = Take(1);
    if (!version || *version <= 5) return version.has_value();
    error_ =
        Error::Make(ErrorKind::kUnsupported, "the pickle has protocol " + std::to_string(*version) +
                                                 "; protocols up to 5 are supported");
    return false;
  }

  // ---- values

  std::optional<PickleId> Add(PickleValue value) {
    if (document_.values_.size() >= limits_.max_values) {
      error_ = Error::Make(
          ErrorKind::kResourceExhausted,
          "the pickle has more than " + std::to_string(limits_.max_values) + " values, the limit");
      return std::nullopt;
    }
    document_.values_.push_back(value);
    return static_cast<PickleId>(document_.values_.size() - 1);
  }
  bool Push(PickleId id) {
    stack_.push_back(id);
    return true;
  }
  bool PushValue(PickleValue value) {
    const auto id = Add(value);
    return id && Push(*id);
  }
  bool PushItems(PickleKind kind, std::vector<PickleId> items) {
    document_.items_.push_back(std::move(items));
    return PushValue({kind, static_cast<std::uint32_t>(document_.items_.size() - 1)});
  }
  std::vector<PickleId>& ItemsOf(PickleId id) {
    return document_.items_[document_.values_[id].items];
  }

  bool Integer(std::size_t bytes) {
    const auto value = Take(bytes);
    if (!value) return false;
    PickleValue made{PickleKind::kInt};
    made.number =
        bytes == 4 ? static_cast<std::int32_t>(*value) : static_cast<std::int64_t>(*value);
    return PushValue(made);
  }

  bool Long(std::size_t size_bytes) {
    const auto text = TakeText(Take(size_bytes));
    if (!text) return false;
    if (text->size() > 8) return PushValue({PickleKind::kLargeInt, 0, {0}, *text});
    PickleValue made{PickleKind::kInt};
    if (!text->empty()) {
      std::uint64_t value = 0;
      for (std::size_t i = text->size(); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>((*text)[i]);
      const unsigned unused = 64 - 8 * static_cast<unsigned>(text->size());
      made.number = static_cast<std::int64_t>(value << unused) >> unused;
    }
    return PushValue(made);
  }

  bool Float() {
    const auto text = TakeText(8);
    if (!text) return false;
    std::uint64_t bits = 0;
    for (const char byte : *text) bits = bits << 8 | static_cast<unsigned char>(byte);
    PickleValue made{PickleKind::kFloat};
    made.real = std::bit_cast<double>(bits);
    return PushValue(made);
  }

  bool Text(PickleKind kind, std::size_t size_bytes) {
    const auto text = TakeText(Take(size_bytes));
    return text && PushValue({kind, 0, {0}, *text});
  }

  // ---- containers

  // Whether `count` values are above the last mark.
  bool CanPop(std::size_t count) const {
    return stack_.size() - (marks_.empty() ? 0 : marks_.back()) >= count;
  }
  std::vector<PickleId> PopTop(std::size_t count) {
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleId> top(first, stack_.end());
    stack_.erase(first, stack_.end());
    return top;
  }
  std::optional<std::vector<PickleId>> PopToMark() {
    if (marks_.empty()) return std::nullopt;
    std::vector<PickleId> top = PopTop(stack_.size() - marks_.back());
    marks_.pop_back();
    return top;
  }
  bool Pop() {
    if (CanPop(1)) {
      stack_.pop_back();
      return true;
    }
    return PopMark();
  }
  bool PopMark() { return PopToMark().has_value(); }

  bool FromTop(PickleKind kind, std::size_t count) {
    return CanPop(count) && PushItems(kind, PopTop(count));
  }
  bool FromMark(PickleKind kind) {
    auto top = PopToMark();
    if (!top || (kind == PickleKind::kDict && top->size() % 2 != 0)) return false;
    return PushItems(kind, std::move(*top));
  }
  bool Append(std::size_t count, PickleKind kind) {
    return CanPop(count + 1) && AppendTo(PopTop(count), kind);
  }
  bool AppendFromMark(PickleKind kind) {
    auto top = PopToMark();
    if (!top || (kind == PickleKind::kDict && top->size() % 2 != 0)) return false;
    return CanPop(1) && AppendTo(std::move(*top), kind);
  }
  // Subclasses of containers are calls, whose entries are kept behind their state.
  bool AppendTo(const std::vector<PickleId>& added, PickleKind kind) {
    const PickleKind found = document_.values_[stack_.back()].kind;
    if (found != kind && found != PickleKind::kCall) return false;
    std::vector<PickleId>& items = ItemsOf(stack_.back());
    items.insert(items.end(), added.begin(), added.end());
    return true;
  }

  // ---- names and calls

  // The limit: names of the memo could multiply a long name.
  bool PushGlobal(std::string_view module, std::string_view name) {
    if (module == "__builtin__") module = "builtins";  // in protocol 2, as in Python 2
    name_bytes_ += module.size() + name.size();
    if (name_bytes_ > pickle_.size() + kMaxNameBytes) return false;
    std::string& joined = document_.names_.emplace_back(module);
    joined.append(".").append(name);
    return PushValue({PickleKind::kGlobal, 0, {0}, joined});
  }
  bool Global() {
    const auto module = TakeLine();
    const auto name = module ? TakeLine() : std::nullopt;
    return name && PushGlobal(*module, *name);
  }
  bool StackGlobal() {
    if (!CanPop(2)) return false;
    const std::vector<PickleId> top = PopTop(2);
    const PickleValue& module = document_.values_[top[0]];
    const PickleValue& name = document_.values_[top[1]];
    if (module.kind != PickleKind::kText || name.kind != PickleKind::kText) return false;
    return PushGlobal(module.text, name.text);
  }

  bool Call(std::size_t count) {
    if (!CanPop(count)) return false;
    std::vector<PickleId> top = PopTop(count);
    const PickleValue& function = document_.values_[top[0]];
    if (document_.values_[top[1]].kind != PickleKind::kTuple) return false;
    const bool named = function.kind == PickleKind::kGlobal;
    const std::size_t arguments = ItemsOf(top[1]).size();
    if (named && ((function.text == "collections.OrderedDict" && arguments == 0) ||
                  (function.text == "collections.defaultdict" && arguments <= 1))) {
      return PushItems(PickleKind::kDict, {});
    }
    return PushItems(PickleKind::kCall, {top[0], top[1], kNoneId});
  }

  // The attributes of containers are ignored, for example those of `Module.state_dict()`.
  bool Build() {
    if (!CanPop(2)) return false;
    const PickleId state = stack_.back();
    stack_.pop_back();
    const PickleKind kind = document_.values_[stack_.back()].kind;
    if (kind == PickleKind::kCall) ItemsOf(stack_.back())[2] = state;
    return kind == PickleKind::kCall || kind == PickleKind::kDict || kind == PickleKind::kList;
  }

  // ---- memo

  bool Remember(std::optional<std::uint64_t> number) {
    if (!number || !CanPop(1) || *number >= pickle_.size()) return false;
    if (memo_.size() <= *number) memo_.resize(*number + 1, kUnset);
    memo_[*number] = stack_.back();
    return true;
  }
  bool Recall(std::optional<std::uint64_t> number) {
    if (!number || *number >= memo_.size() || memo_[*number] == kUnset) return false;
    return Push(memo_[*number]);
  }

  static constexpr PickleId kUnset = UINT32_MAX;
  static constexpr std::size_t kMaxNameBytes = std::size_t{1} << 20;
  const std::string_view pickle_;
  std::string_view left_;
  const PickleLimits limits_;
  PickleDocument document_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<PickleId> memo_;
  std::size_t name_bytes_ = 0;  // of globals
  std::optional<Error> error_;
};

Result<PickleDocument> PickleDocument::Read(std::string_view pickle, const PickleLimits& limits) {
  return PickleMachine(pickle, limits).Run();
}

std::span<const PickleId> PickleDocument::items(PickleId id) const {
  if (!HasItems(kind(id))) return {};
  return items_[values_[id].items];
}

std::optional<PickleId> PickleDocument::Find(PickleId dict, std::string_view key) const {
  if (kind(dict) != PickleKind::kDict) return std::nullopt;
  const std::span<const PickleId> all = items(dict);
  for (std::size_t i = all.size(); i >= 2; i -= 2) {
    const PickleValue& name = at(all[i - 2]);
    if (name.kind == PickleKind::kText && name.text == key) return all[i - 1];
  }
  return std::nullopt;
}

std::string_view PickleDocument::Callee(PickleId id) const {
  if (kind(id) != PickleKind::kCall) return {};
  const PickleValue& function = at(items(id)[0]);
  return function.kind == PickleKind::kGlobal ? function.text : std::string_view();
}

std::span<const PickleId> PickleDocument::Arguments(PickleId id) const {
  if (kind(id) != PickleKind::kCall) return {};
  return items(items(id)[1]);
}

std::optional<PickleId> PickleDocument::State(PickleId id) const {
  if (kind(id) != PickleKind::kCall || items(id)[2] == kNoneId) return std::nullopt;
  return items(id)[2];
}

std::optional<std::vector<std::int64_t>> PickleDocument::Integers(PickleId id) const {
  if (Callee(id) == "torch.Size") {
    const std::span<const PickleId> arguments = Arguments(id);
    if (arguments.empty()) return std::vector<std::int64_t>();
    if (arguments.size() != 1) return std::nullopt;
    id = arguments[0];
  }
  if (kind(id) != PickleKind::kTuple && kind(id) != PickleKind::kList) return std::nullopt;
  constexpr std::size_t kMaxDimensions = 64;  // torch's limit
  if (items(id).size() > kMaxDimensions) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const PickleId item : items(id)) {
    if (kind(item) != PickleKind::kInt) return std::nullopt;
    numbers.push_back(at(item).number);
  }
  return numbers;
}

std::string PickleDocument::Describe(PickleId id) const {
  switch (kind(id)) {
    case PickleKind::kNone: return "None";
    case PickleKind::kBool: return "a bool";
    case PickleKind::kInt: return "an int";
    case PickleKind::kLargeInt: return "an int of more than 64 bits";
    case PickleKind::kFloat: return "a float";
    case PickleKind::kText: return "a str";
    case PickleKind::kBytes: return "bytes";
    case PickleKind::kList: return "a list";
    case PickleKind::kTuple: return "a tuple";
    case PickleKind::kSet: return "a set";
    case PickleKind::kDict: return "a dict";
    case PickleKind::kGlobal: return "the name " + std::string(at(id).text);
    case PickleKind::kPersistent: return "a storage";
    case PickleKind::kCall: break;
  }
  const std::string_view name = Callee(id);
  return name.empty() ? "an object without a class name" : "a " + std::string(name);
}

}  // namespace penstock::checkpoint
