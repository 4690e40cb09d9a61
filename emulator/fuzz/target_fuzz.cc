// The entry point of libFuzzer, compiled once per target. PENSTOCK_FUZZ_TARGET is the target's
// name.
#include <cstddef>
#include <cstdint>

#include "base/testing/fuzzer.h"
#include "emulator/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr auto kCheck =
      penstock::testing_fuzzer::CheckNamed(penstock::emulator::kFuzzTargets, PENSTOCK_FUZZ_TARGET);
  kCheck({reinterpret_cast<const char*>(data), size});
  return 0;
}
