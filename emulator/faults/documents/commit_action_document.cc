#include "emulator/faults/documents/commit_action_document.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "emulator/faults/documents/kind_document.h"
#include "emulator/faults/documents/milliseconds_document.h"

namespace penstock::emulator::faults {
namespace {

Result<void> RequireUnlikeS3(const JsonFields& fields) {
  PENSTOCK_ASSIGN(const std::optional<bool> unlike, fields.Flag("unlike_s3"));
  if (unlike.value_or(false)) return Ok();
  return FieldError(
      fields.Place("unlike_s3"),
      "must be true, because no correct S3 server does this; add \"unlike_s3\": true");
}

}  // namespace

Result<Action> ReadDuplicate(const Json& json, const std::string& place) {
  using Answer = DuplicateAction::Answer;
  constexpr std::array<std::pair<std::string_view, Answer>, 2> kAnswers{
      {{"second", Answer::kSecond}, {"first", Answer::kFirst}}};
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"answer"}));
  DuplicateAction duplicate;
  PENSTOCK_TRY(ReadKind(fields, "answer", kAnswers, duplicate.answer));
  return Action(duplicate);
}

Result<Action> ReadCommitPartial(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"bytes", "unlike_s3"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> bytes, fields.Whole("bytes"));
  if (!bytes)
    return FieldError(fields.Place("bytes"), "is missing: set the number of bytes to keep");
  PENSTOCK_TRY(RequireUnlikeS3(fields));
  return Action(CommitPartialAction{.bytes = *bytes});
}

Result<Action> ReadDelayVisibility(const Json& json, const std::string& place) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"ms", "unlike_s3"}));
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> ms, fields.Whole("ms"));
  if (!ms) return FieldError(fields.Place("ms"), "is missing: set the time in milliseconds");
  if (*ms < 1 || *ms > kLongestMs) return fields.OutOfRange("ms", "1 to 3600000 milliseconds");
  PENSTOCK_TRY(RequireUnlikeS3(fields));
  return Action(DelayVisibilityAction{.time = std::chrono::milliseconds(*ms)});
}

}  // namespace penstock::emulator::faults
