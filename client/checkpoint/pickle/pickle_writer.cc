#include "client/checkpoint/pickle/pickle_writer.h"

#include <bit>
#include <variant>

#include "client/checkpoint/dtypes.h"

namespace penstock::checkpoint {

void PickleWriter::Number(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> 8 * i);
}

void PickleWriter::Int(std::int64_t value) {
  if (value >= 0 && value < 256) {
    out_ += 'K';
    return Number(static_cast<std::uint64_t>(value), 1);
  }
  if (value == static_cast<std::int32_t>(value)) {
    out_ += 'J';
    return Number(static_cast<std::uint64_t>(value), 4);
  }
  out_ += "\x8a\x08";
  Number(static_cast<std::uint64_t>(value), 8);
}

void PickleWriter::Float(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  out_ += 'G';
  for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
}

void PickleWriter::Text(std::string_view text) {
  out_ += 'X';
  Number(text.size(), 4);
  out_ += text;
}

void PickleWriter::Bytes(std::string_view bytes) {
  out_ += 'B';
  Number(bytes.size(), 4);
  out_ += bytes;
}

void PickleWriter::Value(const SavedValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return Bool(*flag);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return Int(*number);
  if (const auto* real = std::get_if<double>(&value)) return Float(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return Text(*text);
  None();
}

void PickleWriter::Global(std::string_view module, std::string_view name) {
  const std::string line = std::string(module) + '\n' + std::string(name) + '\n';
  const auto [found, added] = memo_.try_emplace(line, static_cast<std::uint32_t>(memo_.size()));
  out_ += added ? 'c' + line : std::string("j");
  if (added) out_ += 'r';
  Number(found->second, 4);
}

void PickleWriter::Integers(std::span<const std::int64_t> numbers) {
  if (numbers.empty()) return EmptyTuple();
  Mark();
  for (const std::int64_t number : numbers) Int(number);
  Tuple();
}

void PickleWriter::Size(std::span<const std::int64_t> numbers) {
  Global("torch", "Size");
  Mark();
  Integers(numbers);
  Tuple();
  Reduce();
}

void PickleWriter::OrderedDict() {
  Global("collections", "OrderedDict");
  EmptyTuple();
  Reduce();
}

void PickleWriter::Tensor(const PickledTensor& tensor) {
  const DtypeInfo* const dtype = FindDtype(tensor.dtype);
  const bool typed =
      dtype != nullptr && !dtype->storage.empty() && tensor.storage_bytes % dtype->item_bytes == 0;
  Global("torch._utils", typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
  Mark();
  Mark();
  Text("storage");
  if (typed) {
    Global("torch", dtype->storage);
  } else {
    Global("torch.storage", "UntypedStorage");
  }
  Text(tensor.storage_key);
  Text("cpu");
  Int(static_cast<std::int64_t>(tensor.storage_bytes / (typed ? dtype->item_bytes : 1)));
  Tuple();
  out_ += 'Q';
  Int(tensor.storage_offset);
  Integers(tensor.sizes);
  Integers(tensor.strides);
  Bool(false);
  OrderedDict();
  if (!typed) Global("torch", tensor.dtype);
  Tuple();
  Reduce();
}

}  // namespace penstock::checkpoint
