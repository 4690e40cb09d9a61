#include "emulator/s3/access/policy_vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/ascii.h"

namespace penstock::emulator::s3 {
namespace {

std::vector<std::string> Names(const PolicyActionSet& set) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < PolicyActions().size(); ++i)
    if (set[i]) names.emplace_back(PolicyActions()[i].name);
  return names;
}

const PolicyAction& Action(std::string_view name) {
  const auto actions = PolicyActions();
  return *std::find_if(actions.begin(), actions.end(),
                       [name](const PolicyAction& one) { return one.name == name; });
}

bool HasKey(std::string_view action, std::string_view key) {
  const auto set = PolicyActionsWithKey(*FindPolicyKey(key));
  return set[static_cast<std::size_t>(&Action(action) - PolicyActions().data())];
}

TEST(PolicyVocabularyTest, NamesAreUniqueAndEveryKeyOfAnActionIsKnown) {
  std::set<std::string> names;
  for (const PolicyAction& action : PolicyActions()) {
    EXPECT_TRUE(names.insert(AsciiLower(action.name)).second) << action.name;
    const std::string service(action.name.substr(0, action.name.find(':') + 1));
    for (std::string_view rest = action.keys; !rest.empty();) {
      const std::string_view key = rest.substr(0, rest.find(' '));
      const std::string name = service + std::string(key) + (key.ends_with('/') ? "tag" : "");
      EXPECT_NE(FindPolicyKey(name), nullptr) << action.name << " " << name;
      rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    }
  }
  for (const PolicyKey& key : PolicyKeys())
    EXPECT_TRUE(names.insert(AsciiLower(key.name)).second) << key.name;
}

TEST(PolicyVocabularyTest, ActionsApplyToBucketsOrObjects) {
  EXPECT_TRUE(Action("s3:ListBucket").on_bucket);
  EXPECT_FALSE(Action("s3:ListBucket").on_object);
  EXPECT_TRUE(Action("s3:AbortMultipartUpload").on_object);
  EXPECT_FALSE(Action("s3:AbortMultipartUpload").on_bucket);
  EXPECT_FALSE(Action("s3:ListAllMyBuckets").on_bucket || Action("s3:ListAllMyBuckets").on_object);
  EXPECT_TRUE(Action("s3express:CreateSession").on_bucket);
}

TEST(PolicyVocabularyTest, PatternsMatchActionsOfAnyCase) {
  using List = std::vector<std::string>;
  EXPECT_EQ(Names(MatchPolicyActions("s3:GetObjectTorrent")), List{"s3:GetObjectTorrent"});
  EXPECT_EQ(Names(MatchPolicyActions("S3:GETOBJECTTORRENT")), List{"s3:GetObjectTorrent"});
  EXPECT_EQ(Names(MatchPolicyActions("s3:Replicate????")), List{"s3:ReplicateTags"});
  EXPECT_EQ(Names(MatchPolicyActions("s3:*Torrent")),
            (List{"s3:GetObjectTorrent", "s3:GetObjectVersionTorrent"}));
  EXPECT_EQ(MatchPolicyActions("*").count(), PolicyActions().size());
  EXPECT_EQ((MatchPolicyActions("s3:*") | MatchPolicyActions("s3express:*")).count(),
            PolicyActions().size());
  EXPECT_TRUE((MatchPolicyActions("s3:*") & MatchPolicyActions("s3express:*")).none());
  for (const std::string& none :
       {std::string("s3:"), std::string("s3*"), std::string("GetObject"), std::string("s3:Get"),
        std::string("s3:GetObject "), "s3:" + std::string(20'000, '?')}) {
    EXPECT_TRUE(MatchPolicyActions(none).none()) << none.substr(0, 40);
  }
  EXPECT_EQ(MatchPolicyActions("s3:" + std::string(20'000, '*')), MatchPolicyActions("s3:*"));
}

TEST(PolicyVocabularyTest, KeysAreFoundInAnyCase) {
  EXPECT_EQ(FindPolicyKey("S3:PREFIX"), FindPolicyKey("s3:prefix"));
  EXPECT_EQ(FindPolicyKey("s3:ExistingObjectTag/a")->name, "s3:ExistingObjectTag/");
  EXPECT_EQ(FindPolicyKey("s3:ExistingObjectTag/"), nullptr);
  EXPECT_EQ(FindPolicyKey("s3:prefixes"), nullptr);
  EXPECT_EQ(FindPolicyKey("s3:max-keys")->type, PolicyValueType::kNumber);
  EXPECT_EQ(FindPolicyKey("aws:SourceIp")->type, PolicyValueType::kIpAddress);
  EXPECT_EQ(FindPolicyKey("aws:SecureTransport")->type, PolicyValueType::kBool);
  EXPECT_EQ(FindPolicyKey("s3:RequestObjectTagKeys")->type, PolicyValueType::kStringList);
  EXPECT_EQ(FindPolicyKey("s3:object-lock-retain-until-date")->type, PolicyValueType::kDate);
  EXPECT_EQ(FindPolicyKey("aws:PrincipalArn")->type, PolicyValueType::kArn);
}

TEST(PolicyVocabularyTest, ActionsHaveTheirOwnKeysAndThoseOfEveryAction) {
  EXPECT_TRUE(HasKey("s3:ListBucket", "s3:prefix"));
  EXPECT_FALSE(HasKey("s3:GetObject", "s3:prefix"));
  EXPECT_TRUE(HasKey("s3:GetObject", "s3:TlsVersion"));
  EXPECT_TRUE(HasKey("s3:GetObject", "aws:SourceIp"));
  EXPECT_TRUE(HasKey("s3:GetObject", "s3:DataAccessPointAccount"));
  EXPECT_TRUE(HasKey("s3:GetObject", "s3:ExistingObjectTag/a"));
  EXPECT_FALSE(HasKey("s3:PutObject", "s3:ExistingObjectTag/a"));
  EXPECT_TRUE(HasKey("s3express:CreateSession", "s3express:SessionMode"));
  EXPECT_FALSE(HasKey("s3express:CreateSession", "s3:x-amz-server-side-encryption"));
}

TEST(PolicyVocabularyTest, StarsMatchAnyBytesAndQuestionMarksOne) {
  for (const auto& [pattern, text] :
       std::vector<std::pair<const char*, const char*>>{{"", ""},
                                                        {"*", ""},
                                                        {"**", "ab"},
                                                        {"a*c", "abc/bc"},
                                                        {"a?c", "abc"},
                                                        {"*b*", "abc"},
                                                        {"a*bc*d", "aabbcbcxd"}}) {
    EXPECT_TRUE(MatchesPolicyPattern(pattern, text)) << pattern;
  }
  for (const auto& [pattern, text] : std::vector<std::pair<const char*, const char*>>{
           {"", "a"}, {"a", ""}, {"a?", "a"}, {"a*c", "ab"}, {"A", "a"}, {"*ab", "aba"}}) {
    EXPECT_FALSE(MatchesPolicyPattern(pattern, text)) << pattern;
  }
}

}  // namespace
}  // namespace penstock::emulator::s3
