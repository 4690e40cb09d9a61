#include <cstddef>
#include <cstdint>

#include "emulator/http/fuzz/properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  penstock::emulator::http::CheckHead({reinterpret_cast<const char*>(data), size});
  return 0;
}
