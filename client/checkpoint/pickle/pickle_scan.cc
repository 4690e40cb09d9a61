#include "client/checkpoint/pickle/pickle_scan.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace penstock::checkpoint {
namespace {

// The argument of an opcode, as in Python's pickletools.
enum class Argument : std::uint8_t {
  kNotAnOpcode,
  kFixed,     // `bytes` bytes
  kCounted,   // a length of `bytes` bytes, then as many bytes
  kLine,      // text up to a newline
  kTwoLines,  // a module and a name
};

struct Opcode {
  Argument argument = Argument::kNotAnOpcode;
  std::uint8_t bytes = 0;
};

constexpr std::uint8_t kPut = 'p';
constexpr std::uint8_t kLongBinPut = 'r';
constexpr std::uint8_t kStop = '.';

constexpr std::array<Opcode, 256> MakeOpcodes() {
  using enum Argument;
  std::array<Opcode, 256> all{};
  const auto set = [&all](std::string_view codes, Argument argument, std::uint8_t bytes) {
    for (const char code : codes) all[static_cast<std::uint8_t>(code)] = {argument, bytes};
  };
  set("(.012NQRabd}el]ost)u", kFixed, 0);
  set("\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98", kFixed, 0);
  set("Khq\x80\x82", kFixed, 1);
  set("M\x83", kFixed, 2);
  set("Jjr\x84", kFixed, 4);
  set("G\x95", kFixed, 8);
  set("UC\x8a\x8c", kCounted, 1);
  set("TXB\x8b", kCounted, 4);
  set("\x8d\x8e\x96", kCounted, 8);
  set("FILPSVgp", kLine, 0);
  set("ci", kTwoLines, 0);
  return all;
}

constexpr std::array<Opcode, 256> kOpcodes = MakeOpcodes();

// The little-endian number of up to 8 bytes.
std::uint64_t Number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    number = number << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
  return number;
}

// The memo index that PUT gives as text. nullopt: no number, which the unpickler refuses.
std::optional<std::uint64_t> IndexOf(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::size_t first = line.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return std::nullopt;
  line = line.substr(first, line.find_last_not_of(kSpaces) - first + 1);
  if (line.front() == '+') line.remove_prefix(1);
  std::uint64_t index = 0;
  for (const char digit : line) {
    if (digit == '_') continue;
    if (digit < '0' || digit > '9') return std::nullopt;
    if (index > UINT64_MAX / 100) return UINT64_MAX;
    index = index * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return index;
}

Error Invalid(const std::string& what) {
  return Error::Make(ErrorKind::kDataLoss, "is a pickle that " + what);
}

// Returns the bytes of the argument that `rest` begins with; nullopt: more than `rest`.
std::optional<std::uint64_t> SizeOfArgument(const Opcode& opcode, std::string_view rest) {
  if (opcode.argument == Argument::kLine || opcode.argument == Argument::kTwoLines) {
    std::size_t end = rest.find('\n');
    if (opcode.argument == Argument::kTwoLines && end != std::string_view::npos)
      end = rest.find('\n', end + 1);
    if (end == std::string_view::npos) return std::nullopt;
    return end + 1;
  }
  if (rest.size() < opcode.bytes) return std::nullopt;
  if (opcode.argument == Argument::kFixed) return opcode.bytes;
  const std::uint64_t counted = Number(rest.substr(0, opcode.bytes));
  if (counted > rest.size() - opcode.bytes) return std::nullopt;
  return opcode.bytes + counted;
}

}  // namespace

Result<void> ScanPickle(std::string_view pickle) {
  std::size_t at = 0;
  while (at < pickle.size()) {
    const auto code = static_cast<std::uint8_t>(pickle[at]);
    const Opcode& opcode = kOpcodes[code];
    if (opcode.argument == Argument::kNotAnOpcode || code == kStop) return Ok();
    const std::string_view rest = pickle.substr(at + 1);
    const auto size = SizeOfArgument(opcode, rest);
    if (!size) return Invalid("ends inside the opcode at byte " + std::to_string(at));
    if (code == kPut || code == kLongBinPut) {
      const std::string_view argument = rest.substr(0, *size);
      const std::uint64_t index = code == kPut ? IndexOf(argument).value_or(0) : Number(argument);
      if (index > at) {  // the picklers count the objects that they store
        return Invalid("stores an object at byte " + std::to_string(at) + " under the memo index " +
                       std::to_string(index) + ", which takes too much memory");
      }
    }
    at += 1 + *size;
  }
  return Ok();
}

}  // namespace penstock::checkpoint
