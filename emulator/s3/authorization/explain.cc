#include "emulator/s3/authorization/explain.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "emulator/s3/access/policy_vocabulary.h"
#include "emulator/s3/authorization/authorization.h"

namespace penstock::emulator::s3 {
namespace {

struct ResourceName {
  std::string_view bucket;  // Empty: the account.
  std::string_view key;
};

// "arn:aws:s3:::bucket/key" or "arn:aws:s3express:us-east-1:111122223333:bucket/name".
std::optional<ResourceName> ParseResource(std::string_view arn) {
  const auto parts = policy::SplitArn(arn);
  if (!parts || (*parts)[0] != "arn") return std::nullopt;
  std::string_view name = (*parts)[5];
  if ((*parts)[2] == "s3express") {
    constexpr std::string_view kType = "bucket/";
    if (!name.starts_with(kType)) return std::nullopt;
    return ResourceName{name.substr(kType.size()), {}};
  }
  if ((*parts)[2] != "s3" || name.empty()) return std::nullopt;
  if (name == "*") return ResourceName{};
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return ResourceName{name, {}};
  return ResourceName{name.substr(0, slash), name.substr(slash + 1)};
}

}  // namespace

Result<std::string> ExplainDescribed(std::shared_ptr<Namespace> space, const RouterOptions& options,
                                     const DescribedRequest& request) {
  const auto name = ParseResource(request.resource);
  if (!name) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        "resource: must be an ARN of S3 such as \"arn:aws:s3:::bucket/key\", not \"" +
            request.resource + "\"");
  }
  const auto actions = PolicyActions();
  const auto action = std::find_if(actions.begin(), actions.end(), [&](const PolicyAction& each) {
    return EqualsIgnoreCase(each.name, request.action);
  });
  if (action == actions.end()) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        "action: must be an action of S3 such as \"s3:GetObject\", not \"" + request.action + "\"");
  }
  Subject subject{
      .bucket = nullptr, .bucket_name = name->bucket, .key = name->key, .version = std::nullopt};
  store::BucketPtr bucket;
  if (!name->bucket.empty() && !action->name.ends_with(":CreateBucket")) {
    auto found = space->store->FindBucket(BucketName(std::string(name->bucket)));
    if (!found.ok()) {
      return Error::Make(ErrorKind::kNotFound, "resource: there is no bucket \"" +
                                                   std::string(name->bucket) + "\" in namespace '" +
                                                   space->name + "'; create it first");
    }
    bucket = std::move(found).value();
    subject.bucket = bucket.get();
  }
  std::vector<std::string> names;
  for (const auto& [key, values] : request.context) names.push_back(policy::ContextKey(key));
  BodyKeys keys;
  for (std::size_t i = 0; i < names.size(); ++i) {
    keys.emplace_back(names[i], request.context[i].second);
    if (names[i] == "s3:versionid" && !request.context[i].second.empty())
      subject.version = VersionId(request.context[i].second.front());
  }
  RequestHead head{.method = "GET", .target = "/", .minor_version = 1, .headers = {}};
  Connection connection;
  Exchange exchange{head, connection};
  exchange.space = space;
  exchange.identity = request.identity;
  const Call call{exchange, options, *space->store};
  return ExplainAction(call, subject, action->name, keys);
}

}  // namespace penstock::emulator::s3
