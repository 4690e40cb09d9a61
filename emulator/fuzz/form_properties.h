// What must hold for any multipart/form-data body.
#ifndef PENSTOCK_EMULATOR_FUZZ_FORM_PROPERTIES_H_
#define PENSTOCK_EMULATOR_FUZZ_FORM_PROPERTIES_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/fuzz/s3_properties.h"
#include "emulator/s3/post/form.h"
#include "emulator/s3/post/post_policy.h"
#include "penstock/base/check.h"

namespace penstock::emulator {

struct FormOutcome {
  std::string fields;
  std::string content;
  std::string error;  // code; empty: it was read to its end
  bool operator==(const FormOutcome&) const = default;
};

inline FormOutcome ReadForm(std::string_view type, std::string_view body, std::size_t step) {
  s3::RequestHead head;
  head.headers.push_back({"Content-Type", type});
  SteppedBody source(body, step);
  const auto opened = s3::FormReader::Open(head, source);
  if (!opened.ok()) {
    CheckRefusal(opened.error());
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
      CheckRefusal(count.error());
      return {{}, {}, count.error().code};  // how much came before depends on the pieces
    }
    if (*count == 0) break;
    outcome.content.append(AsText(ByteView(buffer).first(*count)));
  }
  PENSTOCK_CHECK(outcome.content.size() <= body.size());
  return outcome;
}

// "content-type\nbody". The pieces in which it arrives change nothing, and nothing comes out that
// did not go in. Its policy field is read as a policy, and so is the body itself.
inline void CheckForm(std::string_view input) {
  const std::string_view type = TakeLine(input);
  const FormOutcome whole = ReadForm(type, input, std::max<std::size_t>(input.size(), 1));
  PENSTOCK_CHECK(ReadForm(type, input, 1) == whole);
  PENSTOCK_CHECK(ReadForm(type, input, 7) == whole);
  const auto policy = s3::ParsePostPolicy(input);
  if (!policy.ok()) return CheckRefusal(policy.error());
  PENSTOCK_CHECK(policy->conditions.size() <= input.size());
}

}  // namespace penstock::emulator

#endif  // PENSTOCK_EMULATOR_FUZZ_FORM_PROPERTIES_H_
