// libFuzzer's entry. `--target=NAME` selects one of kFuzzTargets.
#include <cstddef>
#include <cstdint>

#include "base/testing_fuzzer.h"
#include "emulator/fuzz/targets.h"

static void (*check)(std::string_view input) = nullptr;

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  check = penstock::testing_fuzzer::SelectCheck(penstock::emulator::kFuzzTargets, *count, *arguments);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}
