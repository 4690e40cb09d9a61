// The entry of a libFuzzer program that has several targets: `--target=NAME` selects one of a table.
#ifndef PENSTOCK_BASE_TESTING_FUZZER_H_
#define PENSTOCK_BASE_TESTING_FUZZER_H_

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace penstock::testing_fuzzer {

// Returns the `check` of the target that the arguments name. Ends the program where they name none.
template <class Targets>
auto SelectCheck(const Targets& targets, int count, char** arguments) {
  constexpr std::string_view kOption = "--target=";  // libFuzzer ignores options with two dashes
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    for (const auto& target : targets) {
      if (argument.starts_with(kOption) && target.name == argument.substr(kOption.size())) return target.check;
    }
  }
  std::fputs("--target=NAME is missing or names no fuzz target; the targets are", stderr);
  for (const auto& target : targets) std::fprintf(stderr, " %s", target.name.data());
  std::fputs("\n", stderr);
  std::exit(1);
}

}  // namespace penstock::testing_fuzzer

#endif  // PENSTOCK_BASE_TESTING_FUZZER_H_
