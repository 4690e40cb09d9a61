#include "emulator/store/sqlite/callback_exceptions.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace penstock::emulator::store {
namespace {

template <class Exception>
bool RanOut(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return RanOutOfMemory("a callback");
  }
}

TEST(CallbackExceptions, AreCountedAndShowWhetherMemoryRanOut) {
  const std::uint64_t before = DiagnosticCounts()["store.sqlite_callback_threw"];
  EXPECT_TRUE(RanOut(std::bad_alloc()));
  EXPECT_FALSE(RanOut(std::runtime_error("invalid")));
  EXPECT_EQ(DiagnosticCounts()["store.sqlite_callback_threw"], before + 2);
}

}  // namespace
}  // namespace penstock::emulator::store
