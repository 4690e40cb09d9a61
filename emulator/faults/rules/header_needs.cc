#include "emulator/faults/rules/header_needs.h"

namespace penstock::emulator::faults {
namespace {

bool NeedsRange(const RangeCondition& range) {
  return range.covers || range.first || range.length || range.present.value_or(false);
}

}  // namespace

HeaderNameSet HeaderNameSet::Of(const s3::RequestHead& head) {
  HeaderNameSet names;
  for (const s3::HeaderView& header : head.headers) names.Add(header.name);
  return names;
}

HeaderNameSet HeaderNameSet::All() {
  HeaderNameSet names;
  names.bits_ = ~std::uint64_t{0};
  return names;
}

HeaderNeeds NeedsOf(const Condition& condition) {
  HeaderNeeds needs;
  for (const auto& [name, pattern] : condition.headers) needs.all.Add(name);
  if (condition.range && NeedsRange(*condition.range)) needs.all.Add("range");
  // A request without the header counts as a first attempt.
  if (condition.attempt && !condition.attempt->Has(1)) needs.all.Add("amz-sdk-request");
  if (condition.user_agent && !condition.user_agent->Matches("")) needs.all.Add("user-agent");
  if (condition.rank) {
    needs.any.Add("x-penstock-rank");
    needs.any.Add("user-agent");
  } else if (condition.size) {
    needs.any.Add("x-amz-decoded-content-length");
    needs.any.Add("content-length");
  }
  return needs;
}

}  // namespace penstock::emulator::faults
