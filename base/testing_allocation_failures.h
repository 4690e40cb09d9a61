// Tests that fail each allocation of a piece of code once. Include it in one file of a test program
// only.
#ifndef PENSTOCK_BASE_TESTING_ALLOCATION_FAILURES_H_
#define PENSTOCK_BASE_TESTING_ALLOCATION_FAILURES_H_

#include <gtest/gtest.h>

#include <utility>

#include "base/caught.h"
#include "base/testing_allocations.h"

namespace penstock::testing {

// No allocation fails in a scope of this, so that only the code under test runs out of memory, not
// the code it calls.
class PausesFailures {
 public:
  PausesFailures() : left_(std::exchange(allocations_until_failure, -1)) {}
  ~PausesFailures() { allocations_until_failure = left_; }
  PausesFailures(const PausesFailures&) = delete;
  PausesFailures& operator=(const PausesFailures&) = delete;

  // Runs `code` of the code under test with failures. An exception becomes an error, as in a
  // client.
  template <class Code>
  Result<void> Resume(Code code) {
    allocations_until_failure = left_;
    Result<void> result = Caught("the test", code);
    left_ = std::exchange(allocations_until_failure, -1);
    return result;
  }

 private:
  int left_;
};

// Runs `code` with its nth allocation failing. Returns whether there were so many.
template <class Code>
bool FailsAllocation(int nth, Code code) {
  allocations_until_failure = nth;
  code();
  return std::exchange(allocations_until_failure, -1) == -1;
}

// Runs `attempt` with n = 0, 1, 2, ... as long as it returns that the nth allocation failed.
// Returns how many did.
template <class Attempt>
int ForEachAllocation(Attempt attempt) {
  constexpr int kMostAllocations = 10'000;
  for (int nth = 0; nth < kMostAllocations; ++nth) {
    SCOPED_TRACE(nth);
    const bool failed = attempt(nth);
    if (!failed || ::testing::Test::HasFatalFailure()) return nth;
  }
  ADD_FAILURE() << "more than " << kMostAllocations << " allocations";
  return kMostAllocations;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_BASE_TESTING_ALLOCATION_FAILURES_H_
