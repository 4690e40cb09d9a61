#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Harness;
using testing::Reply;

using BucketConfigurationTest = ConfigurationTest;

constexpr std::string_view kProlog = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
constexpr std::string_view kNamespace = " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

// Returns the document as S3 returns it: with prolog and namespace.
std::string Canonical(std::string_view document) {
  const auto end = document.find_first_of("/>");
  return std::string(kProlog) + std::string(document.substr(0, end)) + std::string(kNamespace) +
         std::string(document.substr(end));
}

TEST_F(BucketConfigurationTest, UnsetErrors) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"tagging", "NoSuchTagSet", "The TagSet does not exist"},
      {"policy", "NoSuchBucketPolicy", "The bucket policy does not exist"},
      {"policyStatus", "NoSuchBucketPolicy", "The bucket policy does not exist"},
      {"cors", "NoSuchCORSConfiguration", "The CORS configuration does not exist"},
      {"lifecycle", "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist"},
      {"website", "NoSuchWebsiteConfiguration",
       "The specified bucket does not have a website configuration"},
      {"object-lock", "ObjectLockConfigurationNotFoundError",
       "Object Lock configuration does not exist for this bucket"},
      {"replication", "ReplicationConfigurationNotFoundError",
       "The replication configuration was not found"},
      {"analytics&id=1", "NoSuchConfiguration", "The specified configuration does not exist."},
      {"inventory&id=1", "NoSuchConfiguration", "The specified configuration does not exist."},
      {"metrics&id=1", "NoSuchConfiguration", "The specified configuration does not exist."},
      {"intelligent-tiering&id=1", "NoSuchConfiguration",
       "The specified configuration does not exist."}};
  for (const auto& [selector, code, message] : cases) {
    const Reply reply = Get(selector);
    EXPECT_EQ(reply.Outcome(), std::string("404 ") + code) << selector;
    EXPECT_EQ(reply.Element("Message"), message) << selector;
    const bool by_id = std::string_view(selector).find("id=") != std::string_view::npos;
    EXPECT_EQ(reply.Element("BucketName"), by_id ? "<absent>" : "bucket") << selector;
  }
}

TEST_F(BucketConfigurationTest, UnsetDocuments) {
  EXPECT_EQ(Get("encryption").Element("SSEAlgorithm"), "AES256");
  EXPECT_EQ(Get("ownershipControls").Element("ObjectOwnership"), "BucketOwnerEnforced");
  for (const char* flag :
       {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"}) {
    EXPECT_EQ(Get("publicAccessBlock").Element(flag), "true");
  }
  EXPECT_EQ(Get("requestPayment").Element("Payer"), "BucketOwner");
  const std::pair<const char*, const char*> empty[] = {
      {"notification", "NotificationConfiguration"},
      {"logging", "BucketLoggingStatus"},
      {"accelerate", "AccelerateConfiguration"},
      {"versioning", "VersioningConfiguration"}};
  for (const auto& [selector, root] : empty) {
    EXPECT_EQ(Get(selector).body, Canonical("<" + std::string(root) + "/>")) << selector;
  }
}

struct StoredCase {
  const char* selector;
  const char* document;  // In the order in which it is returned.
  int put_status;
};

constexpr StoredCase kStoredCases[] = {
    {"accelerate", "<AccelerateConfiguration><Status>Enabled</Status></AccelerateConfiguration>",
     200},
    {"analytics&id=a.1",
     "<AnalyticsConfiguration><Id>a.1</Id><Filter><And><Prefix>p</Prefix><Tag><Key>k</"
     "Key><Value>v</Value></Tag></And>"
     "</Filter><StorageClassAnalysis><DataExport><OutputSchemaVersion>V_1</"
     "OutputSchemaVersion><Destination>"
     "<S3BucketDestination><Format>CSV</Format><Bucket>arn:aws:s3:::out</Bucket><Prefix>x</"
     "Prefix></S3BucketDestination>"
     "</Destination></DataExport></StorageClassAnalysis></AnalyticsConfiguration>",
     204},
    {"cors",
     "<CORSConfiguration><CORSRule><ID>one</ID><AllowedHeader>*</AllowedHeader><AllowedMethod>GET</"
     "AllowedMethod>"
     "<AllowedMethod>PUT</AllowedMethod><AllowedOrigin>https://*.example.com</"
     "AllowedOrigin><ExposeHeader>ETag</ExposeHeader>"
     "<MaxAgeSeconds>3000</MaxAgeSeconds></CORSRule></CORSConfiguration>",
     200},
    {"intelligent-tiering&id=t",
     "<IntelligentTieringConfiguration><Id>t</Id><Status>Enabled</Status><Tiering><Days>90</Days>"
     "<AccessTier>ARCHIVE_ACCESS</AccessTier></Tiering><Tiering><Days>730</"
     "Days><AccessTier>DEEP_ARCHIVE_ACCESS</AccessTier>"
     "</Tiering></IntelligentTieringConfiguration>",
     204},
    {"inventory&id=i",
     "<InventoryConfiguration><Destination><S3BucketDestination><Bucket>arn:aws:s3:::out</"
     "Bucket><Format>CSV</Format>"
     "<Encryption><SSE-S3/></Encryption></S3BucketDestination></Destination><IsEnabled>true</"
     "IsEnabled><Id>i</Id>"
     "<IncludedObjectVersions>All</IncludedObjectVersions><OptionalFields><Field>Size</"
     "Field><Field>ETag</Field>"
     "</OptionalFields><Schedule><Frequency>Daily</Frequency></Schedule></InventoryConfiguration>",
     204},
    {"lifecycle",
     "<LifecycleConfiguration><Rule><ID>r</ID><Filter><Prefix>logs/</Prefix></"
     "Filter><Status>Enabled</Status><Transition>"
     "<Days>30</Days><StorageClass>STANDARD_IA</StorageClass></Transition><Expiration><Days>365</"
     "Days></Expiration>"
     "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>"
     "<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></"
     "AbortIncompleteMultipartUpload></Rule>"
     "</LifecycleConfiguration>",
     200},
    {"logging",
     "<BucketLoggingStatus><LoggingEnabled><TargetBucket>bucket</TargetBucket><TargetPrefix>l/</"
     "TargetPrefix>"
     "<TargetObjectKeyFormat><SimplePrefix/></TargetObjectKeyFormat></LoggingEnabled></"
     "BucketLoggingStatus>",
     200},
    {"metrics&id=m",
     "<MetricsConfiguration><Id>m</Id><Filter><Prefix>p</Prefix></Filter></MetricsConfiguration>",
     204},
    {"notification",
     "<NotificationConfiguration><QueueConfiguration><Id>q</"
     "Id><Queue>arn:aws:sqs:us-east-1:123456789012:queue</Queue>"
     "<Event>s3:ObjectCreated:*</Event><Filter><S3Key><FilterRule><Name>Prefix</Name><Value>a/</"
     "Value></FilterRule></S3Key>"
     "</Filter></QueueConfiguration><EventBridgeConfiguration/></NotificationConfiguration>",
     200},
    {"ownershipControls",
     "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></"
     "OwnershipControls>",
     200},
    {"publicAccessBlock",
     "<PublicAccessBlockConfiguration><BlockPublicAcls>false</"
     "BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>"
     "<BlockPublicPolicy>false</BlockPublicPolicy><RestrictPublicBuckets>true</"
     "RestrictPublicBuckets>"
     "</PublicAccessBlockConfiguration>",
     200},
    {"requestPayment",
     "<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>", 200},
    {"tagging",
     "<Tagging><TagSet><Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>b</Key><Value/></Tag></"
     "TagSet></Tagging>",
     204},
    {"website",
     "<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></"
     "IndexDocument><ErrorDocument><Key>error.html</Key>"
     "</ErrorDocument><RoutingRules><RoutingRule><Condition><KeyPrefixEquals>docs/</"
     "KeyPrefixEquals></Condition><Redirect>"
     "<ReplaceKeyPrefixWith>documents/</ReplaceKeyPrefixWith></Redirect></RoutingRule></"
     "RoutingRules></WebsiteConfiguration>",
     200},
};

// Documents are returned in the order of the schema, with S3's namespace.
TEST_F(BucketConfigurationTest, StoredDocumentsAreReturned) {
  for (const StoredCase& c : kStoredCases) {
    const Reply put = Put(c.selector, c.document);
    ASSERT_EQ(put.status, c.put_status) << c.selector << put.body;
    EXPECT_EQ(put.body, "") << c.selector;
    const Reply got = Get(c.selector);
    EXPECT_EQ(got.status, 200) << c.selector;
    EXPECT_EQ(got.body, Canonical(c.document)) << c.selector;
    EXPECT_EQ(got.Header("Content-Type"), "application/xml") << c.selector;
  }
}

TEST_F(BucketConfigurationTest, DeletedConfigurationsAreUnset) {
  for (const StoredCase& c : kStoredCases) {
    const std::string_view selector = c.selector;
    const Reply unset = Get(selector);
    ASSERT_EQ(Put(selector, c.document).status, c.put_status) << selector;
    const Reply deleted = s3_.Send("DELETE /bucket?" + std::string(selector));
    if (selector == "accelerate" || selector == "logging" || selector == "notification" ||
        selector == "requestPayment") {
      EXPECT_EQ(deleted.Outcome(), "405 MethodNotAllowed") << selector;
      EXPECT_EQ(deleted.Header("Allow"), "GET, PUT") << selector;
      continue;
    }
    EXPECT_EQ(deleted.status, 204) << selector;
    if (selector == "ownershipControls" || selector == "publicAccessBlock") continue;
    EXPECT_EQ(Get(selector).body, unset.body) << selector;
  }
}

TEST_F(BucketConfigurationTest, DeletedDefaultsReturnErrors) {
  EXPECT_EQ(s3_.Send("DELETE /bucket?ownershipControls").status, 204);
  EXPECT_EQ(Get("ownershipControls").Outcome(), "404 OwnershipControlsNotFoundError");
  EXPECT_EQ(s3_.Send("DELETE /bucket?publicAccessBlock").status, 204);
  EXPECT_EQ(Get("publicAccessBlock").Outcome(), "404 NoSuchPublicAccessBlockConfiguration");
  Put("ownershipControls",
      "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></"
      "OwnershipControls>");
  EXPECT_EQ(Get("ownershipControls").Element("ObjectOwnership"), "ObjectWriter");
}

TEST_F(BucketConfigurationTest, ChecksumsAreRequiredWhereS3RequiresThem) {
  for (const StoredCase& c : kStoredCases) {
    const std::string_view selector = c.selector;
    const bool optional = selector == "accelerate" || selector == "notification" ||
                          selector.find("id=") != std::string_view::npos;
    const Reply reply = s3_.Send("PUT /bucket?" + std::string(selector), c.document);
    EXPECT_EQ(reply.Outcome(), optional ? std::to_string(c.put_status) : "400 InvalidRequest")
        << selector;
    if (!optional) {
      EXPECT_EQ(reply.Element("Message"),
                "Missing required header for this request: Content-MD5 OR x-amz-checksum-*");
    }
  }
}

// API_PutBucketCors and API_PutBucketWebsite.
TEST_F(BucketConfigurationTest, DocumentsHaveTheLimitsOfTheirKind) {
  const auto put = [&](std::string_view selector, std::string document, std::size_t size) {
    return Put(selector, document.append(size - document.size(), ' ')).Outcome();
  };
  const std::string cors =
      "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod>"
      "<AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>";
  EXPECT_EQ(put("cors", cors, 64 << 10), "200");
  EXPECT_EQ(put("cors", cors, (64 << 10) + 1), "400 MaxMessageLengthExceeded");
  const std::string website =
      "<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument>"
      "</WebsiteConfiguration>";
  EXPECT_EQ(put("website", website, 128 << 10), "200");
  EXPECT_EQ(put("website", website, (128 << 10) + 1), "400 MaxMessageLengthExceeded");
}

TEST_F(BucketConfigurationTest, InvalidDocumentsAreRefused) {
  for (const StoredCase& c : kStoredCases) {
    EXPECT_EQ(Put(c.selector, "<Wrong/>").Outcome(), "400 MalformedXML") << c.selector;
    EXPECT_EQ(Put(c.selector, "not xml").Outcome(), "400 MalformedXML") << c.selector;
    EXPECT_EQ(Put(c.selector, "").Outcome(), "400 MissingRequestBodyError") << c.selector;
  }
}

// Recorded against Amazon S3.
TEST_F(BucketConfigurationTest, AnEmptyTagSetDeletesTheTags) {
  for (const char* empty : {"<Tagging><TagSet/></Tagging>", "<Tagging/>"}) {
    ASSERT_EQ(Put("tagging", "<Tagging><TagSet><Tag><Key>a</Key><Value/></Tag></TagSet></Tagging>")
                  .status,
              204);
    EXPECT_EQ(Put("tagging", empty).Outcome(), "204") << empty;
    EXPECT_EQ(Get("tagging").Outcome(), "404 NoSuchTagSet") << empty;
  }
}

// Elements may be sent in any order, with any prefix for S3's namespace.
TEST_F(BucketConfigurationTest, DocumentsAreReturnedInS3OrderAndNamespace) {
  Put("cors",
      "<a:CORSConfiguration "
      "xmlns:a=\"http://s3.amazonaws.com/doc/2006-03-01/\"><a:CORSRule><a:AllowedOrigin>*</"
      "a:AllowedOrigin>"
      "\n<a:AllowedMethod>GET</a:AllowedMethod></a:CORSRule></a:CORSConfiguration>");
  EXPECT_EQ(Get("cors").body, Canonical("<CORSConfiguration><CORSRule><AllowedMethod>GET</"
                                        "AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule>"
                                        "</CORSConfiguration>"));
}

std::string Metrics(std::string_view id) {
  return "<MetricsConfiguration><Id>" + std::string(id) + "</Id></MetricsConfiguration>";
}

TEST_F(BucketConfigurationTest, ListsPagesOfAHundred) {
  for (int i = 0; i < 101; ++i) {
    const std::string id = "m" + std::to_string(1000 + i);
    ASSERT_EQ(s3_.Send("PUT /bucket?metrics&id=" + id, Metrics(id)).status, 204);
  }
  const Reply first = Get("metrics");
  EXPECT_EQ(first.operation, "ListBucketMetricsConfigurations");
  EXPECT_EQ(first.Elements("Id").size(), 100u);
  EXPECT_EQ(first.Element("IsTruncated"), "true");
  EXPECT_EQ(first.body.find("<MetricsConfiguration xmlns"), std::string::npos);
  const Reply second = Get("metrics&continuation-token=" + first.Element("NextContinuationToken"));
  EXPECT_EQ(second.Elements("Id"), (std::vector<std::string>{"m1100"}));
  EXPECT_EQ(second.Element("IsTruncated"), "false");
  EXPECT_EQ(second.Element("NextContinuationToken"), "<absent>");
  EXPECT_EQ(Get("metrics&continuation-token=x").Outcome(), "400 MalformedContinuationToken");
  EXPECT_EQ(Get("metrics&continuation-token=").Element("ContinuationToken"), "");
  EXPECT_EQ(Get("analytics").Elements("Id").size(), 0u);
}

TEST_F(BucketConfigurationTest, IdsAreCheckedAndMustMatchTheDocument) {
  EXPECT_EQ(s3_.Send("PUT /bucket?metrics&id=a", Metrics("b")).Outcome(), "400 IdMismatch");
  // Recorded against Amazon S3 (LocalStack).
  EXPECT_EQ(s3_.Send("PUT /bucket?analytics&id=a",
                     "<AnalyticsConfiguration><Id>b</Id><StorageClassAnalysis/>"
                     "</AnalyticsConfiguration>")
                .Outcome(),
            "400 MalformedXML");
  const auto tiering = [](const std::string& id) {
    return "<IntelligentTieringConfiguration><Id>" + id +
           "</Id><Status>Enabled</Status><Tiering><Days>90</Days><AccessTier>ARCHIVE_ACCESS"
           "</AccessTier></Tiering></IntelligentTieringConfiguration>";
  };
  EXPECT_EQ(s3_.Send("PUT /bucket?intelligent-tiering&id=a", tiering("b")).Outcome(),
            "400 MalformedXML");
  EXPECT_EQ(s3_.Send("PUT /bucket?intelligent-tiering&id=a", tiering("a")).status, 204);
  for (const std::string& id : {std::string("a%20b"), std::string(65, 'a'), std::string()}) {
    EXPECT_EQ(s3_.Send("PUT /bucket?metrics&id=" + id, Metrics(id)).Outcome(),
              "400 InvalidConfigurationId")
        << id;
  }
  EXPECT_EQ(s3_.Send("DELETE /bucket?metrics&id=a").Outcome(), "404 NoSuchConfiguration");
}

TEST_F(BucketConfigurationTest, ConfigurationsOfAKindAreLimitedToAThousand) {
  for (int i = 0; i < 1000; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(
        s3_.store().SetConfiguration(BucketName("bucket"), "metrics/" + id, Metrics(id)).ok());
  }
  EXPECT_EQ(s3_.Send("PUT /bucket?metrics&id=new", Metrics("new")).Outcome(),
            "400 TooManyConfigurations");
  EXPECT_EQ(s3_.Send("PUT /bucket?metrics&id=7", Metrics("7")).Outcome(), "204");
}

}  // namespace
}  // namespace penstock::emulator::s3
