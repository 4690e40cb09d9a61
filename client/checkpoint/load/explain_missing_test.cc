#include "client/checkpoint/load/explain_missing.h"

#include <gtest/gtest.h>

#include "client/checkpoint/load/checkpoint_test_support.h"

namespace penstock::checkpoint {
namespace {

class ExplainMissingTest : public ::testing::Test {
 protected:
  std::string Explained(const std::string& key) {
    auto opened = CheckpointObject::Open(context_, kBucket, ObjectKey(key), 10);
    return ExplainMissing(context_, kBucket, key, std::move(opened).error()).message;
  }
  std::string ExplainedMetadata(const std::string& key) {
    auto opened = CheckpointObject::Open(context_, kBucket, ObjectKey(key + "/.metadata"), 10);
    return ExplainMissingMetadata(context_, kBucket, key, std::move(opened).error()).message;
  }
  std::shared_ptr<ObjectStore> store_ = MakeStore();
  LoadContext context_{store_, {}, {}};
};

TEST_F(ExplainMissingTest, APrefixOfACheckpointIsNamed) {
  Put(store_, "dcp/.metadata", "x");
  Put(store_, "hf/model.safetensors", "x");
  EXPECT_NE(Explained("dcp").find("use DistributedCheckpoint::Open"), std::string::npos);
  EXPECT_NE(Explained("dcp/").find("use DistributedCheckpoint::Open"), std::string::npos);
  EXPECT_NE(Explained("hf").find("use LoadSafetensors"), std::string::npos);
  EXPECT_EQ(Explained("nothing").find("use "), std::string::npos);
}

TEST_F(ExplainMissingTest, AFileInsteadOfAPrefixIsNamed) {
  Put(store_, "file.pt", "PK\3\4");
  Put(store_, "hf/model.safetensors", "x");
  EXPECT_NE(ExplainedMetadata("file.pt").find("use LoadStateDict"), std::string::npos);
  EXPECT_NE(ExplainedMetadata("hf").find("use LoadSafetensors"), std::string::npos);
  EXPECT_EQ(ExplainedMetadata("nothing").find("use "), std::string::npos);
}

TEST_F(ExplainMissingTest, OtherErrorsAreUnchanged) {
  const Error error = Error::Make(ErrorKind::kTimeout, "late");
  EXPECT_EQ(ExplainMissing(context_, kBucket, "key", error).message, "late");
}

}  // namespace
}  // namespace penstock::checkpoint
