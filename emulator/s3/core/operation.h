// An S3 operation: a row of the table of dispatch/operations.cc.
#ifndef PENSTOCK_EMULATOR_S3_CORE_OPERATION_H_
#define PENSTOCK_EMULATOR_S3_CORE_OPERATION_H_

#include <cstdint>
#include <string_view>

#include "emulator/s3/core/handlers.h"

namespace penstock::emulator::s3 {

enum class Level : std::uint8_t { kService, kBucket, kObject };

// The check that a request must pass before its operation begins.
enum class Entry : std::uint8_t {
  kBucket,   // OpenBucket.
  kAccount,  // The request must be signed; it addresses no bucket.
  kOpen,     // No check.
};

struct Operation {
  std::string_view name;
  std::string_view method;
  Level level;
  std::string_view selector;  // The sub-resource that selects it. Empty: none.
  OperationHandler handler;   // Null: an S3 operation that the emulator does not implement.
  Entry entry = Entry::kBucket;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_OPERATION_H_
