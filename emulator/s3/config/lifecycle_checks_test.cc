#include "base/encoding.h"
#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Reply;

constexpr std::string_view kExpire = "<Expiration><Days>1</Days></Expiration>";

class LifecycleChecksTest : public ConfigurationTest {
 protected:
  // Puts a rule with that filter and those actions.
  Reply PutRule(std::string_view filter, std::string_view actions) {
    return PutRules("<Rule>" + std::string(filter) + "<Status>Enabled</Status>" +
                    std::string(actions) + "</Rule>");
  }
  Reply PutRules(const std::string& rules) {
    return Put("lifecycle", "<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>");
  }
};

struct Case {
  std::string_view filter;
  std::string_view actions;
  std::string_view outcome;
  std::string_view message;  // Empty: not checked.
};

// Texts recorded against Amazon S3.
TEST_F(LifecycleChecksTest, RefusesContradictions) {
  constexpr std::string_view kAll = "<Filter/>";
  constexpr std::string_view kTag = "<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>";
  constexpr std::string_view kSize =
      "<Filter><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></Filter>";
  constexpr std::string_view kMarker =
      "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>";
  constexpr std::string_view kAbort =
      "<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></"
      "AbortIncompleteMultipartUpload>";
  const Case cases[] = {
      {"", kExpire, "400 MalformedXML", ""},
      {"<Prefix/><Filter/>", kExpire, "400 MalformedXML", ""},
      {"<Filter><Prefix>p</Prefix><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></Filter>",
       kExpire, "400 MalformedXML", ""},
      {"<Filter><And><Prefix>p</Prefix></And></Filter>", kExpire, "400 MalformedXML", ""},
      {"<Filter><And><Tag><Key>k</Key><Value>1</Value></Tag><Tag><Key>k</Key><Value>2</Value></"
       "Tag></And></Filter>",
       kExpire, "400 InvalidRequest", "Duplicate Tag Keys are not allowed."},
      {"<Filter><And><ObjectSizeGreaterThan>9</ObjectSizeGreaterThan><ObjectSizeLessThan>9</"
       "ObjectSizeLessThan></And></Filter>",
       kExpire, "400 InvalidRequest",
       "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'."},
      {"<Filter><ObjectSizeLessThan>0</ObjectSizeLessThan></Filter>", kExpire, "400 InvalidRequest",
       "'ObjectSizeLessThan' should be between 1 and 1099511627776000."},
      {"<Filter><ObjectSizeLessThan>1099511627776001</ObjectSizeLessThan></Filter>", kExpire,
       "400 InvalidRequest", "'ObjectSizeLessThan' should be between 1 and 1099511627776000."},
      {"<Filter><ObjectSizeGreaterThan>-1</ObjectSizeGreaterThan></Filter>", kExpire,
       "400 InvalidRequest", "'ObjectSizeGreaterThan' should be between 0 and 1099511627776000."},
      {"<Filter><And><Prefix>p</Prefix><ObjectSizeGreaterThan>1099511627776001</"
       "ObjectSizeGreaterThan></And></Filter>",
       kExpire, "400 InvalidRequest",
       "'ObjectSizeGreaterThan' should be between 0 and 1099511627776000."},
      {kAll, "", "400 InvalidRequest", "At least one action needs to be specified in a rule"},
      {kAll, "<Expiration/>", "400 MalformedXML", ""},
      {kAll,
       "<Expiration><Days>1</Days><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></"
       "Expiration>",
       "400 MalformedXML", ""},
      {kAll, "<Expiration><Days>0</Days></Expiration>", "400 InvalidArgument",
       "'Days' for Expiration action must be a positive integer"},
      {kAll, "<Expiration><Date>2030-01-01T00:00:01.000Z</Date></Expiration>",
       "400 InvalidArgument", "'Date' must be at midnight GMT"},
      {kAll, "<Expiration><Date>9999-01-01T00:00:00.001Z</Date></Expiration>",
       "400 InvalidArgument", "'Date' must be at midnight GMT"},
      {kAll,
       "<Expiration><Date>9000-01-01T00:00:00Z</Date></Expiration>"
       "<Transition><Date>9000-01-01T00:00:00Z</Date><StorageClass>GLACIER</StorageClass>"
       "</Transition>",
       "400 InvalidArgument", ""},
      {kAll, "<Expiration><Date>Fri, 01 Jan 2016 00:00:00 GMT</Date></Expiration>",
       "400 MalformedXML", ""},
      {kTag, kMarker, "400 InvalidRequest",
       "ExpiredObjectDeleteMarker cannot be specified with Tags."},
      {kSize, kMarker, "400 InvalidRequest",
       "ExpiredObjectDeleteMarker cannot be specified with Object Size."},
      {kTag, kAbort, "400 InvalidRequest",
       "AbortIncompleteMultipartUpload cannot be specified with Tags."},
      {kSize, kAbort, "400 InvalidRequest",
       "AbortIncompleteMultipartUpload cannot be specified with Object Size."},
      {kAll, "<Transition><Days>29</Days><StorageClass>STANDARD_IA</StorageClass></Transition>",
       "400 InvalidArgument",
       "'Days' in Transition action must be greater than or equal to 30 for storageClass "
       "'STANDARD_IA'"},
      {kAll, "<Transition><Days>-1</Days><StorageClass>GLACIER</StorageClass></Transition>",
       "400 InvalidArgument", ""},
      {kAll, "<Transition><Days>1</Days><StorageClass>STANDARD</StorageClass></Transition>",
       "400 MalformedXML", ""},
      {kAll, "<Transition><StorageClass>GLACIER</StorageClass></Transition>", "400 MalformedXML",
       ""},
      {kAll,
       "<NoncurrentVersionExpiration><NoncurrentDays>0</NoncurrentDays></"
       "NoncurrentVersionExpiration>",
       "400 InvalidArgument",
       "'NoncurrentDays' for NoncurrentVersionExpiration action must be a positive integer"},
      {kAll, "<NoncurrentVersionExpiration/>", "400 MalformedXML", ""},
  };
  for (const Case& c : cases) {
    const Reply reply = PutRule(c.filter, c.actions);
    EXPECT_EQ(reply.Outcome(), c.outcome) << c.filter << c.actions;
    if (!c.message.empty()) {
      EXPECT_EQ(reply.Element("Message"), c.message) << c.filter << c.actions;
    }
  }
  EXPECT_EQ(Get("lifecycle").Outcome(), "404 NoSuchLifecycleConfiguration");
}

std::string Transition(int days, std::string_view storage_class, std::string_view kind = "") {
  const std::string name = std::string(kind) + "Transition";
  const std::string unit = kind.empty() ? "Days" : "NoncurrentDays";
  return "<" + name + "><" + unit + ">" + std::to_string(days) + "</" + unit + "><StorageClass>" +
         std::string(storage_class) + "</StorageClass></" + name + ">";
}

// Texts published by users of Amazon S3; the limit of 100: API_NoncurrentVersionExpiration.
TEST_F(LifecycleChecksTest, ActionsOfARuleMustFollowEachOther) {
  const std::string glacier = Transition(60, "GLACIER");
  const std::string end = "<Expiration><Days>60</Days></Expiration>";
  EXPECT_EQ(PutRule("<Filter><Prefix>a/</Prefix></Filter>", end + glacier).Element("Message"),
            "'Days' in the Expiration action for filter '(prefix=a/)' must be greater than 'Days' "
            "in the Transition action");
  EXPECT_EQ(PutRule("<Filter/>", end + glacier).Outcome(), "400 InvalidArgument");
  EXPECT_EQ(PutRule("<Prefix>b</Prefix>", end + Transition(61, "GLACIER")).Element("Message"),
            "'Days' in the Expiration action for prefix 'b' must be greater than 'Days' in the "
            "Transition action");
  EXPECT_EQ(PutRule("<Filter/>", end + Transition(59, "GLACIER")).Outcome(), "200");
  const Reply twice = PutRule("<Filter/>", glacier + Transition(90, "GLACIER"));
  EXPECT_EQ(twice.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(twice.Element("Message"),
            "'StorageClass' must be different for 'Transition' actions in same 'Rule' with filter "
            "'(prefix=)'");
  EXPECT_EQ(PutRule("<Filter/>", Transition(30, "STANDARD_IA") + glacier).Outcome(), "200");
}

// Amazon S3 User Guide, "Expiring objects": "If you don't specify a Filter element, Amazon S3
// generates an InvalidRequest error when you provide a maximum number of noncurrent versions."
TEST_F(LifecycleChecksTest, NewerVersionsNeedAFilter) {
  for (const std::string action : {"NoncurrentVersionExpiration", "NoncurrentVersionTransition"}) {
    const std::string rule =
        "<" + action +
        "><NewerNoncurrentVersions>5</NewerNoncurrentVersions>"
        "<NoncurrentDays>1</NoncurrentDays>" +
        (action.ends_with("Transition") ? "<StorageClass>GLACIER</StorageClass>" : "") + "</" +
        action + ">";
    EXPECT_EQ(PutRule("<Prefix/>", rule).Outcome(), "400 InvalidRequest") << action;
    EXPECT_EQ(PutRule("<Filter/>", rule).Outcome(), "200") << action;
  }
}

// Texts published by users of Amazon S3; the lengths of tags: API_Tag and "Categorizing your
// objects using tags".
TEST_F(LifecycleChecksTest, PrefixesAndTagsOfFiltersHaveLimits) {
  const std::string end = "<Expiration><Days>1</Days></Expiration>";
  const auto prefix = [](std::size_t size) {
    return "<Prefix>" + std::string(size, 'p') + "</Prefix>";
  };
  const auto tag = [](std::size_t key, std::size_t value) {
    return "<Tag><Key>" + std::string(key, 'k') + "</Key><Value>" + std::string(value, 'v') +
           "</Value></Tag>";
  };
  const auto message = [&](const std::string& filter) {
    return PutRule(filter, end).Element("Message");
  };
  constexpr std::string_view kLongPrefix = "The maximum size of a prefix is 1024";
  EXPECT_EQ(message(prefix(1025)), kLongPrefix);
  EXPECT_EQ(message("<Filter>" + prefix(1025) + "</Filter>"), kLongPrefix);
  EXPECT_EQ(message("<Filter><And>" + prefix(1025) + tag(1, 1) + "</And></Filter>"), kLongPrefix);
  EXPECT_EQ(message("<Filter>" + tag(129, 1) + "</Filter>"),
            "A Tag's Key must be a length between 1 and 128.");
  EXPECT_EQ(message("<Filter>" + tag(0, 1) + "</Filter>"),
            "A Tag's Key must be a length between 1 and 128.");
  EXPECT_EQ(message("<Filter><And>" + prefix(1) + tag(1, 257) + "</And></Filter>"),
            "A Tag's Value must be a length between 0 and 256.");
  EXPECT_EQ(
      PutRule("<Filter><And>" + prefix(1024) + tag(128, 256) + "</And></Filter>", end).Outcome(),
      "200");
}

// Texts of the tests of noobaa-core, which quote Amazon S3.
TEST_F(LifecycleChecksTest, TransitionsFollowTheOrderOfTheClasses) {
  constexpr std::string_view kFilter = "<Filter><Prefix>a/</Prefix></Filter>";
  const Reply reversed = PutRule(kFilter, Transition(1, "DEEP_ARCHIVE") + Transition(1, "GLACIER"));
  EXPECT_EQ(reversed.Outcome(), "400 InvalidArgument");
  EXPECT_EQ(reversed.Element("Message"),
            "'Days' in the Transition action for StorageClass 'DEEP_ARCHIVE' for filter "
            "'(prefix=a/)' must be greater than 'Days' in the Transition action for StorageClass "
            "'GLACIER' for filter '(prefix=a/)'");
  EXPECT_EQ(PutRule(kFilter, Transition(90, "STANDARD_IA") + Transition(60, "GLACIER")).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(PutRule(kFilter, Transition(60, "GLACIER") + Transition(30, "STANDARD_IA") +
                                 Transition(61, "DEEP_ARCHIVE"))
                .Outcome(),
            "200");
  constexpr std::string_view kKind = "NoncurrentVersion";
  EXPECT_EQ(PutRule(kFilter, Transition(2, "GLACIER", kKind) + Transition(1, "DEEP_ARCHIVE", kKind))
                .Outcome(),
            "400 InvalidArgument");
}

TEST_F(LifecycleChecksTest, DatesAndDaysDoNotMix) {
  const auto at = [](const std::string& action, const std::string& rest) {
    return "<" + action + "><Date>2030-01-01T00:00:00.000Z</Date>" + rest + "</" + action + ">";
  };
  const std::string archive = at("Transition", "<StorageClass>DEEP_ARCHIVE</StorageClass>");
  const Reply transitions = PutRule("<Filter/>", Transition(30, "GLACIER") + archive);
  EXPECT_EQ(transitions.Outcome(), "400 InvalidRequest");
  EXPECT_EQ(transitions.Element("Message"),
            "Found mixed 'Date' and 'Days' based Transition actions in lifecycle rule for filter "
            "'(prefix=)'");
  EXPECT_EQ(
      PutRule("<Filter/>", "<Expiration><Days>9</Days></Expiration>" + archive).Element("Message"),
      "Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle "
      "rule for filter '(prefix=)'");
  EXPECT_EQ(PutRule("<Filter/>", at("Expiration", "") + archive).Element("Message"),
            "'Date' in the Expiration action for filter '(prefix=)' must be greater than 'Date' in "
            "the Transition action");
}

TEST_F(LifecycleChecksTest, ActionsOnNoncurrentVersionsHaveTheSameRulesAndALimit) {
  constexpr std::string_view kKind = "NoncurrentVersion";
  const auto expire = [](int days, int newer) {
    return "<NoncurrentVersionExpiration><NoncurrentDays>" + std::to_string(days) +
           "</NoncurrentDays><NewerNoncurrentVersions>" + std::to_string(newer) +
           "</NewerNoncurrentVersions></NoncurrentVersionExpiration>";
  };
  EXPECT_EQ(
      PutRule("<Filter/>", expire(5, 1) + Transition(5, "GLACIER", kKind)).Element("Message"),
      "'NoncurrentDays' in the NoncurrentVersionExpiration action for filter '(prefix=)' must "
      "be greater than 'NoncurrentDays' in the NoncurrentVersionTransition action");
  EXPECT_EQ(PutRule("<Filter/>", expire(6, 100) + Transition(5, "GLACIER", kKind)).Outcome(),
            "200");
  EXPECT_EQ(PutRule("<Filter/>", Transition(5, "GLACIER", kKind) + Transition(6, "GLACIER", kKind))
                .Outcome(),
            "400 InvalidRequest");
  EXPECT_EQ(PutRule("<Filter/>", expire(6, 101)).Outcome(), "400 InvalidArgument");
}

TEST_F(LifecycleChecksTest, DaysHave32Bits) {
  const auto expire = [&](std::string_view days) {
    return PutRule("<Filter/>", "<Expiration><Days>" + std::string(days) + "</Days></Expiration>")
        .Outcome();
  };
  EXPECT_EQ(expire("2147483647"), "200");
  EXPECT_EQ(expire("2147483648"), "400 MalformedXML");
}

TEST_F(LifecycleChecksTest, AcceptsValidConfigurations) {
  for (const std::string_view filter :
       {"<Filter/>", "<Filter><Prefix/></Filter>", "<Prefix>p</Prefix>",
        "<Filter><And><Prefix/><Tag><Key>k</Key><Value/></Tag></And></Filter>"}) {
    EXPECT_EQ(PutRule(filter, kExpire).Outcome(), "200") << filter;
  }
  EXPECT_EQ(
      PutRule("<Filter/>",
              "<Transition><Days>0</Days><StorageClass>GLACIER_IR</StorageClass></Transition>")
          .Outcome(),
      "200");
  EXPECT_EQ(PutRule("<Filter/>", "<Expiration><Date>2030-01-01T00:00:00.000Z</Date></Expiration>")
                .Outcome(),
            "200");
  EXPECT_EQ(s3_.Send("DELETE /bucket?lifecycle").status, 204);
  EXPECT_EQ(s3_.Send("DELETE /bucket?lifecycle").status, 204);
}

TEST_F(LifecycleChecksTest, IdsAreUniqueShortAndGeneratedIfMissing) {
  const std::string rest = "<Filter/><Status>Enabled</Status>" + std::string(kExpire) + "</Rule>";
  EXPECT_EQ(PutRules("<Rule><ID>a</ID>" + rest + "<Rule><ID>a</ID>" + rest).Element("Message"),
            "Rule ID must be unique. Found same ID for more than one rule");
  EXPECT_EQ(PutRules("<Rule><ID>" + std::string(256, 'a') + "</ID>" + rest).Element("Message"),
            "ID length should not exceed allowed limit of 255");
  ASSERT_EQ(PutRules("<Rule>" + rest + "<Rule><ID/>" + rest).Outcome(), "200");
  const std::vector<std::string> ids = Get("lifecycle").Elements("ID");
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_NE(ids[0], ids[1]);
  for (const std::string& id : ids) {
    ASSERT_EQ(id.size(), 48u);
    EXPECT_EQ(Base64Decode(id)->at(14), '4') << "a version 4 UUID";
  }
  EXPECT_LT(Get("lifecycle").body.find("<ID>"), Get("lifecycle").body.find("<Filter/>"));
}

TEST_F(LifecycleChecksTest, RulesWithPrefixAndWithFilterDoNotMix) {
  const std::string actions = "<Status>Enabled</Status>" + std::string(kExpire) + "</Rule>";
  EXPECT_EQ(PutRules("<Rule><Prefix>a</Prefix>" + actions + "<Rule><Filter/>" + actions)
                .Element("Message"),
            "Filter element can only be used in Lifecycle V2.");
  EXPECT_EQ(PutRules("<Rule><Filter/>" + actions + "<Rule><Prefix>a</Prefix>" + actions)
                .Element("Message"),
            "Base level prefix cannot be used in Lifecycle V2, prefixes are only supported in the "
            "Filter.");
}

TEST_F(LifecycleChecksTest, MinimumSizeIsReturned) {
  const std::string header = "x-amz-transition-default-minimum-object-size";
  const std::string rule = "<LifecycleConfiguration><Rule><Filter/><Status>Enabled</Status>" +
                           std::string(kExpire) + "</Rule></LifecycleConfiguration>";
  EXPECT_EQ(Put("lifecycle", rule).Header(header), "all_storage_classes_128K");
  EXPECT_EQ(Get("lifecycle").Header(header), "all_storage_classes_128K");
  const std::string put = "PUT /bucket?lifecycle\n" + header + ": ";
  EXPECT_EQ(s3_.SendDocument(put + "varies_by_storage_class", rule).Header(header),
            "varies_by_storage_class");
  EXPECT_EQ(Get("lifecycle").Header(header), "varies_by_storage_class");
  EXPECT_EQ(s3_.SendDocument(put + "value", rule).Element("Message"),
            "Invalid TransitionDefaultMinimumObjectSize found: value");
}

}  // namespace
}  // namespace penstock::emulator::s3
