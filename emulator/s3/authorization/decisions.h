// The decisions about a request, kept until its journal entry is written.
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_DECISIONS_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_DECISIONS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/policy/evaluator.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// A decision about one action.
struct ActionDecision {
  std::string_view action;  // A literal.
  std::string resource;     // ARN.
  policy::Decision decision;
  // Keeps a statement of the bucket's policy. Those of identity policies belong to the requester's
  // identity, which the exchange has.
  std::shared_ptr<const policy::Document> bucket_policy;
};

// Returns a decision as JSON: {"action":...,"resource":...,"allowed":...,"decided_by":...}, with
// "policy", "statement" and "sid" if a statement decided. It has no secrets.
std::string DecisionJson(const ActionDecision& decided);

class Decisions final : public message::Attachment {
 public:
  // Of a request with many keys the first decisions are kept, and denials take precedence.
  static constexpr std::size_t kMost = 8;

  static void Add(Exchange& exchange, ActionDecision decided);
  // Moves the decisions about `from`, an operation that is a part of the request, to `to`.
  static void Move(Exchange& from, Exchange& to);
  // Returns the decisions as a JSON list; empty if none was recorded: the requester is the root of
  // the account that owns a bucket without a policy, or authorization is off.
  static std::string Of(const Exchange& exchange);

 private:
  std::vector<ActionDecision> items_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_DECISIONS_H_
