// libFuzzer's entry, compiled once per target: PENSTOCK_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>

#include "client/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto& target : penstock::kFuzzTargets) {
    if (target.name == PENSTOCK_FUZZ_TARGET) target.check({reinterpret_cast<const char*>(data), size});
  }
  return 0;
}
