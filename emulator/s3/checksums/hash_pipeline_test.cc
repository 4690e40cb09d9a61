#include "emulator/s3/checksums/hash_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kBlockSize = 10;

class HashPipelineTest : public ::testing::Test {
 protected:
  // Sends `text` in blocks of up to `step` bytes. Returns the first error.
  static Result<void> Send(HashPipeline& pipeline, std::string_view text,
                           std::size_t step = kBlockSize) {
    while (!text.empty()) {
      const MutableByteView block = pipeline.NextBlock();
      const std::size_t count = std::min({step, block.size(), text.size()});
      std::memcpy(block.data(), text.data(), count);
      PENSTOCK_TRY(pipeline.Submit(count));
      text.remove_prefix(count);
    }
    return pipeline.Finish();
  }

  message::StandbyThread thread_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(HashPipeline::kBlocks * kBlockSize);
};

TEST_F(HashPipelineTest, ProcessesEveryBlockInOrder) {
  std::string expected;
  for (int i = 0; i < 5'000; ++i) expected += std::to_string(i);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, kBlockSize}) {
    std::string seen;
    HashPipeline pipeline(thread_, memory_, [&](ByteView bytes) {
      seen += AsText(bytes);
      return Ok();
    });
    EXPECT_TRUE(Send(pipeline, expected, step).ok());
    EXPECT_EQ(seen, expected);
  }
}

TEST_F(HashPipelineTest, WorksOnTheSecondThread) {
  std::thread::id worker;
  HashPipeline pipeline(thread_, memory_, [&](ByteView) {
    worker = std::this_thread::get_id();
    return Ok();
  });
  ASSERT_TRUE(Send(pipeline, "x").ok());
  EXPECT_NE(worker, std::thread::id());
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST_F(HashPipelineTest, ReportsTheFirstErrorAndStopsWorking) {
  int calls = 0;
  HashPipeline pipeline(thread_, memory_, [&](ByteView) -> Result<void> {
    return Error::Make(ErrorKind::kResourceExhausted, "call " + std::to_string(++calls));
  });
  const Result<void> sent = Send(pipeline, std::string(1000, 'x'));
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().message, "call 1");
}

TEST_F(HashPipelineTest, DestructionReleasesUnfinishedWork) {
  auto work = std::make_shared<int>(0);
  {
    HashPipeline pipeline(thread_, memory_, [work](ByteView) {
      ++*work;
      return Ok();
    });
    pipeline.NextBlock();
    ASSERT_TRUE(pipeline.Submit(3).ok());
  }
  EXPECT_EQ(work.use_count(), 1);
  EXPECT_LE(*work, 1);
}

TEST_F(HashPipelineTest, FinishWithoutBlocksDoesNoWork) {
  int calls = 0;
  HashPipeline pipeline(thread_, memory_, [&](ByteView) {
    ++calls;
    return Ok();
  });
  EXPECT_TRUE(pipeline.Finish().ok());
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace penstock::emulator::s3
