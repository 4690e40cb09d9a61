// Properties of the parsers of multipart/form-data bodies, POST policies and bucket policies.
#ifndef PENSTOCK_EMULATOR_FUZZ_FORM_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_FORM_PROPERTIES_H_

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.h"
#include "emulator/fuzz/s3_properties.h"
#include "emulator/s3/access/policy.h"
#include "emulator/s3/post/form.h"
#include "emulator/s3/post/post_policy.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

struct FormOutcome {
  std::string fields;
  std::string content;
  std::string error;  // S3 code. Empty: read to its end.
  bool operator==(const FormOutcome&) const = default;
};

inline FormOutcome ReadForm(std::string_view type, std::string_view body, std::size_t step) {
  s3::RequestHead head;
  head.headers.push_back({"Content-Type", type});
  SteppedBody source(body, step);
  const auto opened = s3::FormReader::Open(head, source);
  if (!opened.ok()) {
    CheckError(opened.error());
    return {{}, {}, opened.error().code};
  }
  FormOutcome outcome;
  const s3::Form& form = (*opened)->form();
  for (const s3::FormField& field : form.fields)
    outcome.fields.append(field.name).append("=").append(field.value).append("\n");
  PENSTOCK_CHECK(outcome.fields.size() <= s3::kMaxFormPreludeBytes + form.fields.size() * 2);
  if (form.file_name)
    PENSTOCK_CHECK(form.file_name->find('/') == std::string::npos &&
                   form.file_name->find('\\') == std::string::npos);
  std::vector<std::byte> buffer(std::max<std::size_t>(step, 1));
  for (;;) {
    const Result<std::size_t> count = (*opened)->Read(buffer);
    if (!count.ok()) {
      CheckError(count.error());
      // The amount of content before the error depends on the step.
      return {{}, {}, count.error().code};
    }
    if (*count == 0) break;
    outcome.content.append(AsText(ByteView(buffer).first(*count)));
  }
  PENSTOCK_CHECK(outcome.content.size() <= body.size());
  return outcome;
}

// Input: "content-type\nbody". The result does not depend on the read size, and the output is not
// larger than the input.
inline void CheckForm(std::string_view input) {
  const std::string_view type = TakeLine(input);
  const FormOutcome whole = ReadForm(type, input, std::max<std::size_t>(input.size(), 1));
  PENSTOCK_CHECK(ReadForm(type, input, 1) == whole);
  PENSTOCK_CHECK(ReadForm(type, input, 7) == whole);
}

// A form that has the operands of an accepted policy as fields fulfills the policy only if no
// condition always fails, and never after the policy has expired.
inline void CheckPolicyText(std::string_view base64) {
  const auto policy = s3::ParsePostPolicy(base64);
  if (!policy.ok()) return CheckError(policy.error());
  PENSTOCK_CHECK(policy->conditions.size() <= base64.size());
  using Kind = s3::PostCondition::Kind;
  std::vector<s3::FormField> fields;
  bool never = false;
  for (const s3::PostCondition& condition : policy->conditions) {
    PENSTOCK_CHECK(!condition.description.empty());
    never = never || condition.kind == Kind::kNever;
    if (condition.kind != Kind::kEqual && condition.kind != Kind::kStartsWith) continue;
    fields.push_back({condition.field, condition.operand});
  }
  const s3::SizeRange size = policy->size();
  for (const s3::PostCondition& condition : policy->conditions) {
    PENSTOCK_CHECK(condition.kind != Kind::kSize ||
                   (size.min >= condition.size.min && size.max <= condition.size.max));
  }
  const WallTime before = policy->expiration - std::chrono::seconds(1);
  if (const auto held = s3::CheckPostPolicy(*policy, fields, "b", before); !held.ok()) {
    CheckError(held.error());
  } else {
    PENSTOCK_CHECK(!never);
  }
  fields.push_back({"extra", "x"});
  if (const auto held = s3::CheckPostPolicy(*policy, fields, "b", before); !held.ok())
    CheckError(held.error());
  PENSTOCK_CHECK(!s3::CheckPostPolicy(*policy, fields, "b", policy->expiration).ok());
}

// White space does not change the outcome. Public access can be tested for every text.
inline void CheckBucketPolicyText(std::string_view text) {
  const auto checked = s3::CheckPolicy(text, "b");
  const bool is_public = s3::IsPublicPolicy(text);
  const std::string padded = std::string(text) + "\n ";
  PENSTOCK_CHECK(s3::CheckPolicy(padded, "b").ok() == checked.ok());
  PENSTOCK_CHECK(s3::IsPublicPolicy(padded) == is_public);
  if (checked.ok()) return;
  CheckError(checked.error());
  PENSTOCK_CHECK(checked.error().code == "MalformedPolicy");
}

// Input: the policy document of a form, as sent (base64) and as text, and of the bucket "b".
// Mutations of base64 hardly ever decode to JSON.
inline void CheckPolicy(std::string_view input) {
  CheckPolicyText(input);
  CheckPolicyText(Base64Encode(AsBytes(input)));
  CheckBucketPolicyText(input);
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_FORM_PROPERTIES_H_
