// The entry point of libFuzzer, compiled once per target. PENSTOCK_FUZZ_TARGET is the name of the
// target.
#include <cstddef>
#include <cstdint>

#include "base/testing/fuzzer.h"
#include "client/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr auto kCheck =
      penstock::testing_fuzzer::CheckNamed(penstock::kFuzzTargets, PENSTOCK_FUZZ_TARGET);
  kCheck({reinterpret_cast<const char*>(data), size});
  return 0;
}
