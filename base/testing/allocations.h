// Allocations that fail on request, for tests of out-of-memory handling.
//
// Replaces operator new and operator delete of the program: include it in only one file of a test
// program.
#ifndef PENSTOCK_BASE_TESTING_ALLOCATIONS_H_
#define PENSTOCK_BASE_TESTING_ALLOCATIONS_H_

#include <cstddef>
#include <cstdlib>
#include <new>

// Number of successful allocations of this thread before one fails. Negative: none fails.
static thread_local int allocations_until_failure = -1;
// If true, every later allocation fails too, until allocations_until_failure is set again.
[[maybe_unused]] static thread_local bool failures_last = false;
// Allocations of this thread minus the ones that it freed.
[[maybe_unused]] static thread_local std::ptrdiff_t live_allocations = 0;

// Both operators are replaced, and inlined into each other.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
// Sanitizers have their own version, which would not match the deletes below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory != nullptr) ++live_allocations;
  return memory;
}
void* operator new(std::size_t size) {
  if (allocations_until_failure >= 0 && allocations_until_failure-- == 0) {
    if (failures_last) allocations_until_failure = 0;
    throw std::bad_alloc();
  }
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) --live_allocations;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

#endif  // PENSTOCK_BASE_TESTING_ALLOCATIONS_H_
