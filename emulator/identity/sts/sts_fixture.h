// Shared by the tests of STS: identities with one namespace, and a clock.
//
// Test support only; not part of the library.
#ifndef PENSTOCK_EMULATOR_IDENTITY_STS_STS_FIXTURE_H_
#define PENSTOCK_EMULATOR_IDENTITY_STS_STS_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/fake_clock.h"
#include "emulator/identity/identities.h"

namespace penstock::emulator::identity {

inline constexpr const char* kStsUsers = R"({"accounts": [{"account_id": "111122223333",
  "access_keys": [{"access_key_id": "ROOT", "secret_access_key": "s"}],
  "users": [
    {"name": "ann", "access_keys": [{"access_key_id": "ANN", "secret_access_key": "s"}]},
    {"name": "bob", "access_keys": [{"access_key_id": "BOB", "secret_access_key": "s"}]},
    {"name": "eve", "access_keys": [{"access_key_id": "EVE", "secret_access_key": "s"}],
     "inline_policies": [{"name": "assume", "document": {"Statement":
       {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "*"}}}]}],
  "roles": [
    {"name": "trainer", "instance_profile": true, "trust_policy": {"Statement": [
       {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "arn:aws:iam::111122223333:user/ann"}},
       {"Effect": "Deny", "Action": "sts:AssumeRole", "Principal": "*", "Condition": {"StringEquals": {"sts:RoleSessionName": "denied"}}},
       {"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
        "Principal": {"Federated": "arn:aws:iam::111122223333:oidc-provider/issuer.example"},
        "Condition": {"StringLike": {"issuer.example:sub": "job-*"}}}]}},
    {"name": "anyone", "trust_policy": {"Statement":
       {"Effect": "Allow", "Action": "sts:*", "Principal": {"AWS": "111122223333"}}}}]},
  {"account_id": "444455556666", "users": [
    {"name": "ann", "access_keys": [{"access_key_id": "FOREIGN", "secret_access_key": "s"}]}]}]})";

class OneNamespace final : public KeyNamespace {
 public:
  explicit OneNamespace(const Clock& clock) : space_(std::make_shared<s3::Namespace>()) {
    space_->name = name_;
    space_->clock = &clock;
  }
  const std::string& name() const override { return name_; }
  std::shared_ptr<s3::Namespace> Current() override { return space_; }

 private:
  const std::string name_ = "default";
  const std::shared_ptr<s3::Namespace> space_;
};

class StsTest : public testing::Test {
 protected:
  explicit StsTest(const char* users = kStsUsers) {
    const auto find = [this](std::string_view name) -> Result<std::shared_ptr<KeyNamespace>> {
      if (name == space_->name()) return std::shared_ptr<KeyNamespace>(space_);
      return Error::Make(ErrorKind::kNotFound, "no namespace '" + std::string(name) + "'");
    };
    identities_.Attach(space_,
                       {.find = find,
                        .find_or_create = find,
                        .at_start = [](std::string_view) { return NamespaceState::kStored; }},
                       MakeIdentity("a"));
    const auto added = identities_.Add(ParseUsers(users).value());
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().message);
  }

  // A request of the key's user, whose signature was verified.
  struct Signed {
    Signed(StsTest& test, std::string_view key) {
      exchange.space = test.space_->Current();
      exchange.request_id = "0123456789ABCDEF";
      if (key.empty()) return;
      const auto user = test.identities_.FindUser(key);
      EXPECT_NE(user, nullptr) << key;
      if (user) exchange.identity = user->identity;
    }
    s3::RequestHead head;
    s3::Connection connection{.id = 1, .peer = "127.0.0.1:5"};
    s3::Exchange exchange{head, connection};
  };

  const Role& RoleNamed(const char* name) {
    access_ = identities_.AccessOf("111122223333");
    return access_->roles.at(name);
  }

  FakeClock clock_;
  const std::shared_ptr<OneNamespace> space_ = std::make_shared<OneNamespace>(clock_);
  Identities identities_;
  std::shared_ptr<const AccountAccess> access_;
};

}  // namespace penstock::emulator::identity

#endif  // PENSTOCK_EMULATOR_IDENTITY_STS_STS_FIXTURE_H_
