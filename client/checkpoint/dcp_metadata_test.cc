#include "client/checkpoint/dcp_metadata.h"

#include <gtest/gtest.h>

#include "client/checkpoint/pickle_writer.h"

namespace penstock::checkpoint {
namespace {

DcpMetadata Example() {
  DcpMetadata metadata;
  metadata.tensors.push_back({"layer.weight",
                              "bfloat16",
                              {4, 6},
                              {{{{0, 0}, {2, 6}}, {"__0_0.distcp", 0, 1500, {}}},
                               {{{2, 0}, {2, 6}}, {"__1_0.distcp", 64, 1500, {}}}}});
  metadata.tensors.push_back(
      {"scalar", "int64", {}, {{{{}, {}}, {"__0_0.distcp", 1500, 1400, {}}}}});
  metadata.bytes.push_back({"step", {"__0_0.distcp", 3000, 900, {}}});
  return metadata;
}

TEST(DcpMetadataTest, WhatIsWrittenIsReadBack) {
  const DcpMetadata metadata = Example();
  const auto read = ReadDcpMetadata(WriteDcpMetadata(metadata));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, metadata);
}

TEST(DcpMetadataTest, AnotherObjectIsNamed) {
  PickleWriter writer;
  writer.Global("argparse", "Namespace");
  writer.EmptyTuple();
  writer.NewObject();
  const auto read = ReadDcpMetadata(std::move(writer).Finish());
  EXPECT_EQ(read.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(read.error().message.find("argparse.Namespace"), std::string::npos);
}

TEST(DcpMetadataTest, ChunksMustBeWithinTheirTensorAndHaveAPlace) {
  DcpMetadata metadata = Example();
  metadata.tensors[0].chunks[1].box.lengths[0] = 3;
  EXPECT_NE(ReadDcpMetadata(WriteDcpMetadata(metadata)).error().message.find("the size [4, 6]"),
            std::string::npos);
  metadata = Example();
  metadata.tensors[0].chunks[0].place.path = "";
  EXPECT_EQ(ReadDcpMetadata(WriteDcpMetadata(metadata)).error().kind, ErrorKind::kDataLoss);
  std::string pickle = WriteDcpMetadata(Example());
  const std::size_t at = pickle.rfind("step");
  pickle.replace(at, 4, "sted");
  EXPECT_NE(ReadDcpMetadata(pickle).error().message.find("'step' has no place"), std::string::npos);
}

TEST(DcpMetadataTest, HugeSizesAreRefused) {
  DcpMetadata metadata = Example();
  metadata.tensors[0].sizes = {INT64_MAX, INT64_MAX};
  EXPECT_FALSE(ReadDcpMetadata(WriteDcpMetadata(metadata)).ok());
}

TEST(DcpMetadataTest, NeverReadsPastTheEndOfDamagedMetadata) {
  const std::string pickle = WriteDcpMetadata(Example());
  for (std::size_t size = 0; size < pickle.size(); ++size)
    EXPECT_FALSE(ReadDcpMetadata(std::string(pickle, 0, size)).ok()) << size;
  for (std::size_t at = 0; at < pickle.size(); ++at) {
    for (const char value : {'\0', '\1', '\x7f', '\x80', '\xff'}) {
      std::string damaged = pickle;
      damaged[at] = value;
      (void)ReadDcpMetadata(damaged).ok();
    }
  }
}

}  // namespace
}  // namespace penstock::checkpoint
