#include "emulator/identity/sts/sts.h"

#include <gtest/gtest.h>

#include "base/dates.h"
#include "base/xml/xml.h"
#include "emulator/auth/query_request.h"
#include "emulator/identity/sts/sts_fixture.h"

namespace penstock::emulator::identity {
namespace {

class StsFilterTest : public StsTest {
 protected:
  // Returns the status and the text of the element at `path`, or of the error's code.
  struct Reply {
    int status = 0;
    std::string text;
    std::string At(std::initializer_list<const char*> path) const {
      const auto document = XmlDocument::Parse(text);
      if (!document.ok()) return "no XML";
      XmlElement element = document->root();
      for (const char* const name : path) element = element.Child(name);
      return element.text();
    }
    std::string Code() const { return At({"Error", "Code"}); }
  };

  Reply Send(const char* key, auth::QueryParameters parameters) {
    Signed request(*this, key);
    parameters.emplace_back("Version", "2011-06-15");
    request.exchange.Attach<auth::QueryRequest>().parameters = std::move(parameters);
    EXPECT_EQ(sts_->OnRequest(request.exchange), s3::FilterStatus::kResponded);
    return {request.exchange.response.status,
            std::get<std::string>(request.exchange.response.body)};
  }
  Reply Assume(const char* key, const char* role = "trainer", const char* session = "job") {
    return Send(key, {{"Action", "AssumeRole"},
                      {"RoleArn", "arn:aws:iam::111122223333:role/" + std::string(role)},
                      {"RoleSessionName", session}});
  }

  const std::unique_ptr<s3::Filter> sts_ = MakeSts({}, identities_);
};

TEST_F(StsFilterTest, RequestsForS3Continue) {
  Signed request(*this, "ANN");
  EXPECT_EQ(sts_->OnRequest(request.exchange), s3::FilterStatus::kContinue);
}

TEST_F(StsFilterTest, AnAssumedRoleIsAUserOfItsNamespace) {
  const Reply reply = Assume("ANN");
  ASSERT_EQ(reply.status, 200) << reply.text;
  const std::string key = reply.At({"AssumeRoleResult", "Credentials", "AccessKeyId"});
  const auto user = identities_.FindUser(key);
  ASSERT_NE(user, nullptr);
  EXPECT_EQ(user->secret_access_key,
            reply.At({"AssumeRoleResult", "Credentials", "SecretAccessKey"}));
  EXPECT_EQ(user->session_token, reply.At({"AssumeRoleResult", "Credentials", "SessionToken"}));
  EXPECT_EQ(user->identity.arn, "arn:aws:sts::111122223333:assumed-role/trainer/job");
  EXPECT_EQ(user->identity.role_arn, "arn:aws:iam::111122223333:role/trainer");
  EXPECT_EQ(user->identity.user_name, "trainer/job");
  EXPECT_NE(user->identity.policies, nullptr);
  EXPECT_EQ(*user->expires, clock_.Now() + std::chrono::hours(1));
  EXPECT_EQ(identities_.NamespaceOf(user.get()), space_->Current());
  EXPECT_TRUE(identities_.IsSession(key));
  EXPECT_FALSE(identities_.IsSession("ANN"));
}

TEST_F(StsFilterTest, SessionsAreNotListedAndHaveTheNewPoliciesOfTheirRole) {
  const std::string key = Assume("ANN").At({"AssumeRoleResult", "Credentials", "AccessKeyId"});
  EXPECT_TRUE(identities_.FindUser(key)->identity.policies->identity.empty());
  for (const KeyRecord& record : identities_.List().keys) EXPECT_NE(record.user.access_key_id, key);
  ASSERT_TRUE(identities_
                  .Add(ParseUsers(R"({"accounts": [{"account_id": "111122223333", "roles": [
      {"name": "trainer", "attached_policies": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
       "trust_policy": {"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": "*"}}}]}]})")
                           .value())
                  .ok());
  EXPECT_EQ(identities_.FindUser(key)->identity.policies->identity.size(), 1u);
  EXPECT_EQ(identities_.AccessOf("111122223333")->roles.size(), 2u) << "the other role stays";
  ASSERT_TRUE(identities_.Remove(key).ok());
  EXPECT_EQ(identities_.FindUser(key), nullptr);
}

TEST_F(StsFilterTest, ASessionCannotBeChangedLikeAKey) {
  const std::string key = Assume("ANN").At({"AssumeRoleResult", "Credentials", "AccessKeyId"});
  EXPECT_EQ(identities_.Change(key, {.active = false}).error().kind, ErrorKind::kNotFound);
}

TEST_F(StsFilterTest, RootsSessionsLastAnHourAtMost) {
  const auto expiry = [&](const char* key) {
    const Reply reply = Send(key, {{"Action", "GetSessionToken"}, {"DurationSeconds", "129600"}});
    return *ParseIso8601(reply.At({"GetSessionTokenResult", "Credentials", "Expiration"}));
  };
  EXPECT_LE(expiry("ROOT"), clock_.Now() + std::chrono::hours(1));
  EXPECT_GT(expiry("ANN"), clock_.Now() + std::chrono::hours(35));
}

TEST_F(StsFilterTest, RefusesOtherActionsAndVersions) {
  EXPECT_EQ(Send("ANN", {{"Action", "GetFederationToken"}}).Code(), "InvalidAction");
  EXPECT_EQ(Send("ANN", {{"Action", ""}}).Code(), "MissingAction");
  EXPECT_EQ(Send("ANN", {}).Code(), "MissingAction");
  EXPECT_EQ(Send("", {{"Action", "GetCallerIdentity"}}).Code(), "MissingAuthenticationToken");
  EXPECT_EQ(Assume("ROOT").Code(), "AccessDenied");
  EXPECT_EQ(Assume("BOB").Code(), "AccessDenied");
  EXPECT_EQ(Assume("ANN", "missing").Code(), "AccessDenied");
  EXPECT_EQ(Assume("FOREIGN", "anyone").Code(), "AccessDenied");
}

TEST_F(StsFilterTest, ExpiredSessionsGiveWayToNewOnes) {
  for (std::size_t i = 0; i < kMaxSessions; ++i) {
    const auto added = identities_.AddSession({.expires = clock_.Now() + std::chrono::hours(1),
                                               .account_id = "111122223333",
                                               .role = "trainer",
                                               .arn = "arn",
                                               .user_name = "trainer/s",
                                               .name_space = "default"},
                                              clock_.Now());
    ASSERT_TRUE(added.ok());
  }
  const Reply refused = Assume("ANN");
  EXPECT_EQ(refused.Code(), "Throttling");
  EXPECT_EQ(refused.status, 400);
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(Assume("ANN").status, 200);
}

}  // namespace
}  // namespace penstock::emulator::identity
