// The decisions about a request, kept until its journal entry is written.
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_DECISIONS_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_DECISIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/policy/evaluator.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::s3 {

// Returns one decision as JSON: {"action":...,"resource":...,"allowed":...,"decided_by":...}, with
// "policy", "statement" and "sid" if a statement decided. It has no secrets.
std::string DecisionJson(std::string_view action, std::string_view resource,
                         const policy::Decision& decision, std::string_view bucket_name);

class Decisions final : public message::Attachment {
 public:
  // Of a request with many keys the first decisions are kept, and denials take precedence.
  static constexpr std::size_t kMost = 8;

  static void Add(Exchange& exchange, bool allowed, std::string json);
  // Moves the decisions about `from`, an operation that is a part of the request, to `to`.
  static void Move(Exchange& from, Exchange& to);
  // Returns the decisions as a JSON list; empty if none was recorded: the requester is the root of
  // the account that owns a bucket without a policy, or authorization is off.
  static std::string Of(const Exchange& exchange);

 private:
  struct Item {
    bool allowed = false;
    std::string json;
  };
  std::vector<Item> items_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_DECISIONS_H_
