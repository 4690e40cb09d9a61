// Selects one fuzz target of a table at compile time.
#ifndef PENSTOCK_BASE_TESTING_FUZZER_H_
#define PENSTOCK_BASE_TESTING_FUZZER_H_

#include <string_view>

namespace penstock::testing_fuzzer {

// Returns the `check` of the target `name`. A constant, so that the linker drops the code of other
// targets: libFuzzer scans the counters of all linked code after each execution.
template <class Targets>
consteval auto CheckNamed(const Targets& targets, std::string_view name) {
  for (const auto& target : targets) {
    if (target.name == name) return target.check;
  }
  throw "no fuzz target has this name";  // does not compile
}

}  // namespace penstock::testing_fuzzer

#endif  // PENSTOCK_BASE_TESTING_FUZZER_H_
