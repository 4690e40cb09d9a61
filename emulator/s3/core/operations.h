// Which S3 operation a request addresses: one constexpr table and the rules around it
// (spec/protocol.md §0, appendix A).
#ifndef PENSTOCK_EMULATOR_S3_CORE_OPERATIONS_H_
#define PENSTOCK_EMULATOR_S3_CORE_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/handlers.h"

namespace penstock::emulator::s3 {

enum class Level : std::uint8_t { kService, kBucket, kObject };

// What a request must pass before its operation begins.
enum class Entry : std::uint8_t {
  kBucket,   // OpenBucket
  kAccount,  // be signed: there is no bucket to ask about
  kOpen,     // nothing
};

struct Operation {
  std::string_view name;
  std::string_view method;
  Level level;
  std::string_view selector;  // the sub-resource that selects it; empty: none
  OperationHandler handler;   // null: S3 has it, the emulator does not
  Entry entry = Entry::kBucket;
};

struct Resolution {
  const Operation* operation = nullptr;
  // Set when there is no operation: what S3 answers.
  std::optional<Error> error;
  std::string allow;  // value of the Allow header of a 405
};

Resolution ResolveOperation(const RequestHead& request, const Target& target);

// True for a query parameter that some operation reads or that selects one.
bool IsKnownParameter(std::string_view name);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_OPERATIONS_H_
