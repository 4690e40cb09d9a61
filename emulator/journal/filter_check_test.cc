#include "emulator/journal/filter_check.h"

#include "emulator/journal/journal.h"
#include "gtest/gtest.h"

namespace penstock::emulator::journal {
namespace {

std::string Refusal(const JournalFilter& filter) {
  const Result<void> checked = CheckJournalFilter(filter);
  return checked.ok() ? "" : checked.error().message;
}

TEST(FilterCheckTest, RejectsUnknownOperations) {
  EXPECT_EQ(Refusal({.operations = {"PutObject", "UploadPartCopy", "ListObjectsV2", ""}}), "");
  EXPECT_NE(
      Refusal({.operations = {"PutObject", "PutObjekt"}}).find("unknown S3 operation 'PutObjekt'"),
      std::string::npos);
  EXPECT_NE(Refusal({.operations = {"@read"}}), "");
}

TEST(FilterCheckTest, RejectsInvalidStatuses) {
  for (const int status : {0, 1, 5, 100, 200, 503, 599})
    EXPECT_EQ(Refusal({.status = status}), "") << status;
  for (const int status : {-1, 6, 7, 99, 600, 999})
    EXPECT_NE(Refusal({.status = status}).find("status"), std::string::npos) << status;
}

TEST(FilterCheckTest, RejectsMethodsInLowerCase) {
  EXPECT_EQ(Refusal({.method = "GET"}), "");
  EXPECT_NE(Refusal({.method = "get"}).find("'get'"), std::string::npos);
  EXPECT_NE(Refusal({.method = ""}), "");
}

TEST(FilterCheckTest, RejectsAKeyWithoutItsPrefix) {
  EXPECT_EQ(Refusal({.key = "a/b", .key_prefix = "a/"}), "");
  EXPECT_NE(Refusal({.key = "a/b", .key_prefix = "b/"}).find("key_prefix"), std::string::npos);
}

TEST(FilterCheckDeathTest, QueryWithAnInvalidFilterTerminatesTheProcess) {
  const Reading reading;
  EXPECT_DEATH(reading.Count({.operations = {"PutObjekt"}}), "PutObjekt");
  EXPECT_DEATH(reading.Entries({.status = 7}), "invalid status '7'");
}

}  // namespace
}  // namespace penstock::emulator::journal
