#include "client/transfer/part_buffers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace penstock::transfer {
namespace {

TEST(PartBuffer, AppendsUntilFull) {
  PartBuffers buffers(1);
  PartBuffer buffer = buffers.Take(5).value();
  EXPECT_EQ(buffer.Append(AsBytes("abc")), 3u);
  EXPECT_EQ(buffer.Append(AsBytes("defg")), 2u);
  EXPECT_EQ(buffer.Append(AsBytes("h")), 0u);
  EXPECT_EQ(AsText(buffer.view()), "abcde");
}

TEST(PartBuffers, HandsReturnedMemoryOutAgain) {
  PartBuffers buffers(2);
  PartBuffer buffer = buffers.Take(64).value();
  const std::byte* memory = buffer.data.get();
  buffer.size = 64;
  buffers.Return(std::move(buffer));
  const PartBuffer again = buffers.Take(64).value();
  EXPECT_EQ(again.data.get(), memory);
  EXPECT_EQ(again.size, 0u);
}

TEST(PartBuffers, OutgrownBuffersAreNotHandedOut) {
  PartBuffers buffers(2);
  buffers.Return(buffers.Take(64).value());
  EXPECT_EQ(buffers.Take(128).value().capacity, 128u);
}

TEST(PartBuffers, ImpossibleSizeIsAnErrorNotACrash) {
  PartBuffers buffers(1);
  EXPECT_EQ(buffers.Take(SIZE_MAX / 4).error().kind, ErrorKind::kResourceExhausted);
}

}  // namespace
}  // namespace penstock::transfer
