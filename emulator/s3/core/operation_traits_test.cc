#include "emulator/s3/core/operation_traits.h"

#include <gtest/gtest.h>

#include <string>

#include "emulator/s3/dispatch/operations.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kMethods[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"};

TEST(OperationTraitsTest, PagedListsHaveListAccess) {
  for (const std::string_view name : OperationNames()) {
    // A list of configurations is one short document.
    const bool lists = name.starts_with("List") && !name.ends_with("Configurations");
    EXPECT_EQ(TraitsOf(name, "GET").access == Access::kList, lists) << name;
  }
}

TEST(OperationTraitsTest, ReadsTakeNoBody) {
  for (const std::string_view name : OperationNames()) {
    const OperationTraits traits = TraitsOf(name, "GET");
    EXPECT_TRUE(traits.access == Access::kWrite || name == "SelectObjectContent" ||
                !traits.takes_body)
        << name;
  }
}

TEST(OperationTraitsTest, MethodDecidesForOtherOperations) {
  for (const std::string_view method : kMethods) {
    const bool writes = method == "PUT" || method == "POST" || method == "DELETE";
    for (const std::string_view name : {"", "GetBucketAcl", "NoOperation"}) {
      EXPECT_EQ(TraitsOf(name, method).access, writes ? Access::kWrite : Access::kRead) << method;
      EXPECT_EQ(TraitsOf(name, method).takes_body, writes && method != "DELETE") << method;
    }
  }
}

TEST(OperationTraitsTest, CopyRenameAndCreateUploadTakeNoBody) {
  for (const std::string_view name :
       {"CopyObject", "UploadPartCopy", "CreateMultipartUpload", "RenameObject"}) {
    EXPECT_EQ(TraitsOf(name, "PUT").access, Access::kWrite) << name;
    EXPECT_FALSE(TraitsOf(name, "PUT").takes_body) << name;
  }
}

std::string NamesWhere(bool OperationTraits::*trait) {
  std::string names;
  for (const std::string_view name : OperationNames()) {
    const OperationTraits* const traits = FindTraits(name);
    if (traits != nullptr && traits->*trait) names.append(names.empty() ? "" : " ").append(name);
  }
  return names;
}

TEST(OperationTraitsTest, EachTraitHasItsOperations) {
  EXPECT_EQ(NamesWhere(&OperationTraits::stores_body), "PostObject PutObject UploadPart");
  EXPECT_EQ(NamesWhere(&OperationTraits::overwrites),
            "CompleteMultipartUpload CopyObject PutObject RenameObject");
  EXPECT_EQ(NamesWhere(&OperationTraits::shows_objects),
            "GetObject GetObjectAttributes HeadObject ListObjects ListObjectsV2");
  EXPECT_EQ(NamesWhere(&OperationTraits::is_multipart),
            "AbortMultipartUpload CompleteMultipartUpload CreateMultipartUpload "
            "ListMultipartUploads ListParts UploadPart UploadPartCopy");
}

}  // namespace
}  // namespace penstock::emulator::s3
