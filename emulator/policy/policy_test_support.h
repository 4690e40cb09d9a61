// Test only: condition keys as a map, and decisions in few words.
#ifndef PENSTOCK_EMULATOR_POLICY_POLICY_TEST_SUPPORT_H_
#define PENSTOCK_EMULATOR_POLICY_POLICY_TEST_SUPPORT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/policy/document.h"
#include "emulator/policy/pattern.h"
#include "penstock/base/check.h"

namespace penstock::emulator::policy::testing {

// Keys are written as in policies: "aws:SourceIp".
class MapContext final : public Context {
 public:
  MapContext() = default;
  MapContext(std::initializer_list<std::pair<const std::string, Values>> values) {
    for (const auto& [key, list] : values) Set(key, list);
  }
  void Set(std::string_view key, Values values) { values_[ContextKey(key)] = std::move(values); }
  std::optional<Values> Find(std::string_view key) const override {
    const auto found = values_.find(std::string(key));
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, Values> values_;
};

inline std::shared_ptr<const Document> Resource(std::string_view json) {
  auto parsed = ParseResourcePolicy(json);
  PENSTOCK_CHECK(parsed.ok());
  return std::move(parsed).value();
}
inline std::shared_ptr<const Document> Identity(std::string_view json) {
  auto parsed = ParseIdentityPolicy(json);
  PENSTOCK_CHECK(parsed.ok());
  return std::move(parsed).value();
}

}  // namespace penstock::emulator::policy::testing

#endif  // PENSTOCK_EMULATOR_POLICY_POLICY_TEST_SUPPORT_H_
