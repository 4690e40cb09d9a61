// GET /_penstock/explain: which statement decided a request.
#ifndef PENSTOCK_EMULATOR_SERVER_EXPLAIN_H_
#define PENSTOCK_EMULATOR_SERVER_EXPLAIN_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/identity/identities.h"
#include "emulator/s3/authorization/explain.h"
#include "penstock/journal.h"

namespace penstock::emulator::server {

struct ExplainQuestion {
  std::string request_id;                // Empty: the request is described.
  std::optional<std::string> principal;  // An access key id or an ARN; nullopt: anonymous.
  s3::DescribedRequest described;        // Without its identity.
};

// kInvalidArgument names the member.
Result<ExplainQuestion> ParseExplainQuestion(std::string_view json);

// Returns the decisions about a request of the journal. kNotFound: the journal has no such request.
Result<std::string> ExplainRecorded(const JournalReading& reading, std::string_view request_id);

// Decides a described request.
Result<std::string> ExplainAsked(const identity::Identities& identities,
                                 const std::shared_ptr<s3::Namespace>& space,
                                 const s3::RouterOptions& options, const ExplainQuestion& question);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_EXPLAIN_H_
