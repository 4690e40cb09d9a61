#include "emulator/http/parsing/input_buffer.h"

#include <string>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

void FillAll(InputBuffer& buffer, Stream& stream, std::size_t bytes) {
  while (buffer.size() < bytes) ASSERT_EQ(buffer.Fill(stream, kTestTimeout).status, IoStatus::kOk);
}

TEST(InputBuffer, GrowsToItsLimitAndThenIsFull) {
  Pipe pipe;
  InputBuffer buffer(20'000);
  const std::string text = PatternText(20'001);
  pipe.peer->Send(text);
  FillAll(buffer, *pipe.stream, 20'000);
  FillAll(buffer, *pipe.stream, text.size());
  EXPECT_EQ(buffer.text(), text);
  EXPECT_TRUE(buffer.full());
}

TEST(InputBuffer, KeepsThePinnedHeadInPlaceWhileABodyPassesThrough) {
  Pipe pipe;
  InputBuffer buffer(64 << 10);
  pipe.peer->Send("HEAD" + std::string(8188, 'x'));
  FillAll(buffer, *pipe.stream, 8192);
  const std::string_view head = buffer.PinHead(8000);
  for (int i = 0; i < 100; ++i) {
    buffer.Consume(buffer.size());
    pipe.peer->Send(std::string(3000, 'b'));
    ASSERT_EQ(buffer.Fill(*pipe.stream, kTestTimeout).status, IoStatus::kOk);
    ASSERT_EQ(buffer.text().find_first_not_of('b'), std::string_view::npos);
  }
  EXPECT_EQ(head, "HEAD" + std::string(7996, 'x'));
}

TEST(InputBuffer, UnpinMovesUnusedBytesToTheFront) {
  Pipe pipe;
  InputBuffer buffer(64 << 10);
  pipe.peer->Send("firstsecond");
  FillAll(buffer, *pipe.stream, 11);
  EXPECT_EQ(buffer.PinHead(5), "first");
  buffer.Unpin();
  EXPECT_EQ(buffer.text(), "second");
  EXPECT_EQ(buffer.PinHead(6), "second");
}

TEST(InputBuffer, DoesNotWaitWithZeroTimeout) {
  Pipe pipe;
  InputBuffer buffer(64 << 10);
  EXPECT_EQ(buffer.Fill(*pipe.stream, std::chrono::milliseconds(0)).status, IoStatus::kWouldBlock);
  EXPECT_TRUE(buffer.empty());
}

}  // namespace
}  // namespace penstock::emulator::http
