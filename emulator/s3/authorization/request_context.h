// The condition keys of a request to S3 (Service Authorization Reference, "Condition keys for
// Amazon S3"; IAM User Guide, "AWS global condition context keys").
#ifndef PENSTOCK_EMULATOR_S3_AUTHORIZATION_REQUEST_CONTEXT_H_
#define PENSTOCK_EMULATOR_S3_AUTHORIZATION_REQUEST_CONTEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/policy/pattern.h"
#include "emulator/s3/core/call.h"

namespace penstock::emulator::s3 {

// What an action is about.
struct Subject {
  const store::BucketRecord* bucket = nullptr;  // Null: the account, or a bucket that is created.
  std::string_view bucket_name = {};            // Empty: none.
  std::string_view key = {};                    // Empty: the bucket.
  std::optional<VersionId> version = std::nullopt;
};

// Keys whose values are in the body of a request, with their values.
using BodyKeys = std::vector<std::pair<std::string_view, policy::Context::Values>>;
// s3:RequestObjectTag/... and s3:RequestObjectTagKeys.
BodyKeys TagKeys(const store::Attributes& tags);

// Returns the subject's ARN.
std::string ArnOf(const Call& call, const Subject& subject);

// All arguments must outlive the context. One thread uses it.
class RequestContext final : public policy::Context {
 public:
  RequestContext(const Call& call, const Subject& subject, const BodyKeys& body)
      : call_(call), subject_(subject), body_(body) {}

  std::optional<Values> Find(std::string_view key) const override;
  // The addressed object, which may be a delete marker; null: there is none. Looked up once.
  const store::ObjectRecord* object() const;

 private:
  std::optional<Values> FindInBody(std::string_view key) const;
  std::optional<Values> FindGlobal(std::string_view name) const;
  std::optional<Values> FindOfService(std::string_view name) const;
  std::optional<Values> FindInRequest(std::string_view name) const;

  const Call& call_;
  const Subject& subject_;
  const BodyKeys& body_;
  mutable std::optional<store::ObjectPtr> object_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_AUTHORIZATION_REQUEST_CONTEXT_H_
