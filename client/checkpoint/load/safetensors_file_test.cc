#include "client/checkpoint/load/safetensors_file.h"

#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "base/encoding.h"
#include "client/checkpoint/load/checkpoint_test_support.h"
#include "penstock/testing/faulty_object_store.h"

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

TEST_F(SafetensorsFileTest, FilesOfUnknownFormatsAreNotCalledDamaged) {
  using namespace std::string_literals;
  for (const std::string& text : {"\xff\xd8\xff\xe0\0\x10JFIF\0"s + std::string(100, 'x'),  // JPEG
                                  "\x20\0\0\0\0\0\0\0\x12\x34"s + std::string(100, 'x')}) {
    Put(store_, "file", text);
    const auto file = Open();
    EXPECT_EQ(file.error().kind, ErrorKind::kUnsupported);
    EXPECT_NE(file.error().message.find("unknown format"), std::string::npos)
        << file.error().message;
  }
  std::string damaged = Example();
  damaged[6] = '\x7f';  // the length
  for (const std::string& text : {damaged, "\xff\0\xff"s}) {
    Put(store_, "file", text);
    EXPECT_EQ(Open().error().kind, ErrorKind::kDataLoss);
  }
}

// States another CRC64NVME of each object.
class OtherChecksumStore final : public penstock::testing::FaultyObjectStore {
 public:
  OtherChecksumStore(std::shared_ptr<ObjectStore> inner, std::string crc)
      : FaultyObjectStore(std::move(inner), nullptr), crc_(std::move(crc)) {}

  using FaultyObjectStore::Call;
  using FaultyObjectStore::Start;
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override {
    FaultyObjectStore::Start(std::move(request),
                             [crc = crc_, done = std::move(done)](Result<ObjectMetadata> about) {
                               if (about.ok()) about->checksums = {{"crc64nvme", crc}};
                               done(std::move(about));
                             });
  }

 private:
  const std::string crc_;
};

TEST_F(SafetensorsFileTest, ACompleteReadIsComparedWithTheStoredChecksum) {
  const std::string bytes = Example();
  Put(store_, "file", bytes);
  std::string crc;
  for (int shift = 56; shift >= 0; shift -= 8)
    crc += static_cast<char>(Crc64Nvme(AsBytes(bytes)) >> shift);
  for (const bool same : {true, false}) {
    context_.store = std::make_shared<OtherChecksumStore>(
        store_, same ? Base64Encode(AsBytes(crc)) : "AAAAAAAAAAA=");
    const auto file = Open();
    std::string first(4000, '\0');
    std::string second(50, '\0');
    EXPECT_TRUE(file->Read(context_, {{1, Bytes(second)}}).ok());  // not complete
    const auto read = file->Read(context_, {{1, Bytes(second)}, {0, Bytes(first)}});
    EXPECT_EQ(read.ok(), same);
    if (same) continue;
    EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(read.error().message.find("AAAAAAAAAAA="), std::string::npos);
  }
}

// A file of the Python package; see safetensors_crcs_test.cc.
TEST_F(SafetensorsFileTest, EachTensorIsComparedWithTheChecksumsInTheHeader) {
  using namespace std::string_literals;
  std::string bytes =
      "\xd8\0\0\0\0\0\0\0"s
      R"({ "__metadata__":{"PENSTOCK_CRC64NVME":"1 56540ca2fd7ed1d1 rtT9i/behxO78Y6p5GUg0Q==",)"
      R"("format":"pt"},"a":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"U8","shape":[5],"data_offsets":[24,29]}}      )";
  for (char i = 0; i < 24; ++i) bytes += i;
  for (char i = 0; i < 5; ++i) bytes += i;
  Put(store_, "file", bytes);
  std::string first(24, '\0');
  std::string second(5, '\0');
  const auto read = Open()->Read(context_, {{1, Bytes(second)}, {0, Bytes(first)}});
  EXPECT_TRUE(read.ok()) << read.error().message;
  bytes.back() ^= 1;
  Put(store_, "file", bytes);
  EXPECT_TRUE(Open()->Read(context_, {{0, Bytes(first)}}).ok());
  const auto damaged = Open()->Read(context_, {{1, Bytes(second)}});
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(damaged.error().key, "file");
  bytes[200] ^= 1;
  Put(store_, "file", bytes);
  EXPECT_EQ(Open().error().kind, ErrorKind::kDataLoss);
}

TEST_F(SafetensorsFileTest, OtherFilesAreNamed) {
  Put(store_, "file", "PK\3\4");
  EXPECT_EQ(Open().error().kind, ErrorKind::kUnsupported);
  Put(store_, "file", "{\"weight_map\": {}}");
  EXPECT_NE(Open().error().message.find("index"), std::string::npos);
}

}  // namespace
}  // namespace penstock::checkpoint
