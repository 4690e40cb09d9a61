// Writes pickles opcode by opcode.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_WRITER_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "penstock/base/result.h"
#include "penstock/checkpoint.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {

// Each member pushes one value or applies one opcode of the pickle machine. Equal names of classes
// are written once and then referred to.
class PickleWriter {
 public:
  // A pickle with bytes needs protocol 3.
  explicit PickleWriter(char protocol = 2) : out_{'\x80', protocol} {}

  void None() { out_ += 'N'; }
  void Bool(bool value) { out_ += value ? '\x88' : '\x89'; }
  void Int(std::int64_t value);
  void Float(double value);
  void Text(std::string_view text);    // Requires UTF-8 of less than 2^32 bytes.
  void Bytes(std::string_view bytes);  // Requires less than 2^32 bytes.
  void Value(const SavedValue& value);
  void Global(std::string_view module, std::string_view name);
  // A tuple of integers.
  void Integers(std::span<const std::int64_t> numbers);
  // torch.Size of these integers.
  void Size(std::span<const std::int64_t> numbers);
  void EmptyTuple() { out_ += ')'; }
  void EmptyDict() { out_ += '}'; }
  void EmptyList() { out_ += ']'; }
  void Mark() { out_ += '('; }
  void Tuple() { out_ += 't'; }         // Of the values above the mark.
  void SetItems() { out_ += 'u'; }      // Keys and values above the mark, into the dict below it.
  void Appends() { out_ += 'e'; }       // Values above the mark, into the list below it.
  void Reduce() { out_ += 'R'; }        // Calls a function with a tuple.
  void NewObject() { out_ += '\x81'; }  // Creates an object of a class with a tuple.
  void Build() { out_ += 'b'; }         // Sets the state of the object below it.
  void OrderedDict();
  // Requires a known dtype and a UTF-8 storage key.
  void Tensor(const PickledTensor& tensor);

  std::string Finish() && { return std::move(out_ += '.'); }

 private:
  void Number(std::uint64_t value, int bytes);

  std::string out_;
  std::unordered_map<std::string, std::uint32_t> memo_;  // of names of classes
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_WRITER_H_
