#include "client/checkpoint/load/safetensors_file.h"

#include <gtest/gtest.h>

#include "client/checkpoint/load/checkpoint_test_support.h"

namespace penstock::checkpoint {
namespace {

class SafetensorsFileTest : public ::testing::Test {
 protected:
  std::string Example() {
    SafetensorsHeader header{{{"a", "float32", {1000}}, {"b", "uint8", {50}}}, {}};
    return *WriteSafetensorsHeader(header) + first_ + second_;
  }
  Result<SafetensorsFile> Open() {
    return SafetensorsFile::Open(context_, kBucket, ObjectKey("file"));
  }

  std::shared_ptr<ObjectStore> store_ = MakeStore();
  LoadContext context_{store_, {}, {}};
  std::string first_ = RandomBytes(4000, 1);
  std::string second_ = RandomBytes(50, 2);
};

TEST_F(SafetensorsFileTest, TensorsAreReadIntoMemory) {
  Put(store_, "file", Example());
  const auto file = Open();
  ASSERT_TRUE(file.ok()) << file.error().message;
  ASSERT_EQ(file->header().tensors.size(), 2U);
  std::string first(4000, '\0');
  std::string second(50, '\0');
  ASSERT_TRUE(file->Read(context_, {{1, Bytes(second)}}).ok());
  EXPECT_EQ(second, second_);
  const auto read = file->Read(context_, {{1, Bytes(second)}, {0, Bytes(first)}});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(first, first_);
}

TEST_F(SafetensorsFileTest, ATruncatedFileIsDataLoss) {
  const std::string file = Example();
  for (const std::size_t size : {file.size() - 1, std::size_t{60}, std::size_t{12}}) {
    Put(store_, "file", file.substr(0, size));
    EXPECT_EQ(Open().error().kind, ErrorKind::kDataLoss) << size;
  }
}

TEST_F(SafetensorsFileTest, OtherFilesAreNamed) {
  Put(store_, "file", "PK\3\4");
  EXPECT_EQ(Open().error().kind, ErrorKind::kUnsupported);
  Put(store_, "file", "{\"weight_map\": {}}");
  EXPECT_NE(Open().error().message.find("index"), std::string::npos);
}

}  // namespace
}  // namespace penstock::checkpoint
