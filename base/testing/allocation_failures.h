// Tests that fail each allocation of some code in turn. Include it in only one file of a test
// program.
#ifndef PENSTOCK_BASE_TESTING_ALLOCATION_FAILURES_H_
#define PENSTOCK_BASE_TESTING_ALLOCATION_FAILURES_H_

#include <gtest/gtest.h>

#include <utility>

#include "base/log/caught.h"
#include "base/testing/allocations.h"

namespace penstock::testing {

// Disables allocation failures in its scope, so that only the code under test runs out of memory,
// not the code it calls.
class PausesFailures {
 public:
  PausesFailures() : left_(std::exchange(allocations_until_failure, -1)) {}
  ~PausesFailures() { allocations_until_failure = left_; }
  PausesFailures(const PausesFailures&) = delete;
  PausesFailures& operator=(const PausesFailures&) = delete;

  // Runs `code`, which belongs to the code under test, with failures enabled. An exception becomes
  // an error, as in a client.
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

// Runs `code` and fails its nth allocation. Returns false if it made fewer allocations.
template <class Code>
bool FailsAllocation(int nth, Code code) {
  allocations_until_failure = nth;
  code();
  return std::exchange(allocations_until_failure, -1) == -1;
}

// Runs `attempt` with n = 0, 1, 2, ... until it returns false: the nth allocation did not happen.
// Returns how many allocations failed.
template <class Attempt>
int ForEachAllocation(Attempt attempt) {
  constexpr int kMaxAllocations = 10'000;
  for (int nth = 0; nth < kMaxAllocations; ++nth) {
    SCOPED_TRACE(nth);
    const bool failed = attempt(nth);
    if (!failed || ::testing::Test::HasFatalFailure()) return nth;
  }
  ADD_FAILURE() << "more than " << kMaxAllocations << " allocations";
  return kMaxAllocations;
}

}  // namespace penstock::testing

#endif  // PENSTOCK_BASE_TESTING_ALLOCATION_FAILURES_H_
