#include "emulator/http/socket/stream.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

TEST(PlainStream, ReadsWithAndWithoutTimeout) {
  Pipe pipe;
  std::array<std::byte, 16> buffer;
  EXPECT_EQ(pipe.stream->TryRead(buffer).status, IoStatus::kWouldBlock);
  EXPECT_EQ(pipe.stream->Read(buffer, milliseconds(5)).status, IoStatus::kTimeout);
  pipe.peer->Send("abc");
  const IoResult got = pipe.stream->Read(buffer, kTestTimeout);
  EXPECT_EQ(got.status, IoStatus::kOk);
  EXPECT_EQ(got.bytes, 3u);
  pipe.peer->EndSending();
  EXPECT_EQ(pipe.stream->Read(buffer, kTestTimeout).status, IoStatus::kEnd);
}

TEST(PlainStream, CancelledReadsReturnWhatHasArrivedAndDoNotWait) {
  Pipe pipe;
  const int event = ::eventfd(0, EFD_CLOEXEC);
  pipe.stream->CancelWaitsBy(event);
  std::array<std::byte, 16> buffer;
  EXPECT_EQ(pipe.stream->Read(buffer, milliseconds(5)).status, IoStatus::kTimeout);
  ASSERT_EQ(::eventfd_write(event, 1), 0);
  EXPECT_EQ(pipe.stream->Read(buffer, kTestTimeout).status, IoStatus::kCancelled);
  pipe.peer->Send("abc");
  pipe.peer->EndSending();
  IoResult got;
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  do {
    got = pipe.stream->Read(buffer, kTestTimeout);
  } while (got.status == IoStatus::kCancelled && std::chrono::steady_clock::now() < end);
  EXPECT_EQ(got.bytes, 3u);
  const ByteView piece = AsBytes("x");
  EXPECT_EQ(pipe.stream->Write({&piece, 1}, More::kNo, kTestTimeout).status, IoStatus::kOk);
  ::close(event);
}

TEST(PlainStream, WritesAllPiecesThroughAFullSocket) {
  Pipe pipe;
  const std::string large = PatternText(8 << 20);
  std::string got;
  std::jthread reader([&] { got = pipe.peer->ReadToEnd(); });
  const std::array<ByteView, 4> pieces = {AsBytes("head"), ByteView{}, AsBytes(large),
                                          AsBytes("tail")};
  const IoResult sent = pipe.stream->Write(pieces, More::kNo, kTestTimeout);
  EXPECT_EQ(sent.status, IoStatus::kOk);
  EXPECT_EQ(sent.bytes, large.size() + 8);
  pipe.stream->EndWriting();
  reader.join();
  EXPECT_TRUE(got == "head" + large + "tail");
}

TEST(PlainStream, WriteTimesOutWhenNothingMoves) {
  Pipe pipe;
  const std::string large(64 << 20, 'x');
  const ByteView piece = AsBytes(large);
  EXPECT_EQ(pipe.stream->Write({&piece, 1}, More::kNo, milliseconds(20)).status,
            IoStatus::kTimeout);
}

TEST(PlainStream, WriteToAClosedPeerFailsWithoutASignal) {
  Pipe pipe;
  pipe.stream->Reset();
  const ByteView piece = AsBytes("x");
  EXPECT_EQ(pipe.stream->Write({&piece, 1}, More::kNo, kTestTimeout).status, IoStatus::kBroken);
}

TEST(PlainStream, SendsPartsOfFiles) {
  Pipe pipe;
  const FileBlob file("0123456789");
  EXPECT_EQ(pipe.stream->SendFile(file.FileDescriptor(), 2, 5).bytes, 5u);
  EXPECT_EQ(pipe.stream->SendFile(file.FileDescriptor(), 8, 5).status, IoStatus::kBroken);
  pipe.stream->EndWriting();
  EXPECT_EQ(pipe.peer->ReadToEnd(), "2345689");
}

TEST(PlainStream, ResetWorksWithACopyOfTheDescriptor) {
  Pipe pipe;
  const int copy = ::dup(pipe.stream->fd());  // like a forked process
  pipe.stream->Reset();
  int error = 0;
  pipe.peer->ReadToEnd(&error);
  EXPECT_EQ(error, ECONNRESET);
  ::close(copy);
}

TEST(PlainStream, DestructorClosesDespiteACopyOfTheDescriptor) {
  Pipe pipe;
  const int copy = ::dup(pipe.stream->fd());
  pipe.stream.reset();
  EXPECT_TRUE(pipe.peer->EndsOrderly());
  ::close(copy);
}

TEST(PlainStream, InterruptEndsAWaitInAnotherThread) {
  Pipe pipe;
  IoStatus status = IoStatus::kOk;
  std::jthread reader([&] {
    std::array<std::byte, 16> buffer;
    status = pipe.stream->Read(buffer, kTestTimeout).status;
  });
  pipe.stream->Interrupt();
  reader.join();
  EXPECT_EQ(status, IoStatus::kEnd);
}

TEST(PlainStream, DiscardKeepsTheResponseReadable) {
  Pipe pipe;
  pipe.peer->Send(std::string(100'000, 'x'));
  const ByteView response = AsBytes("response");
  ASSERT_EQ(pipe.stream->Write({&response, 1}, More::kNo, kTestTimeout).status, IoStatus::kOk);
  std::jthread closer([&] {
    pipe.stream->EndWriting();
    IoStatus status = IoStatus::kOk;
    while (status == IoStatus::kOk || status == IoStatus::kWouldBlock)
      status = pipe.stream->Discard(10'000);
    EXPECT_EQ(status, IoStatus::kEnd);
    pipe.stream.reset();
  });
  pipe.peer->Send(std::string(100'000, 'x'));
  pipe.peer->EndSending();
  closer.join();
  int error = -1;
  EXPECT_EQ(pipe.peer->ReadToEnd(&error), "response");
  EXPECT_EQ(error, 0);
}

TEST(PlainStream, WithZeroTimeoutAFullSocketReturnsAtOnce) {
  Pipe pipe;
  const std::string text(64 << 20, 'x');
  const ByteView piece = AsBytes(text);
  const IoResult sent = pipe.stream->Write({&piece, 1}, More::kNo, std::chrono::milliseconds(0));
  EXPECT_EQ(sent.status, IoStatus::kWouldBlock);
  EXPECT_GT(sent.bytes, 0u);
  EXPECT_LT(sent.bytes, text.size());
  const FileBlob file(text.substr(0, 1 << 20));
  EXPECT_EQ(pipe.stream->SendFile(file.FileDescriptor(), 0, 1 << 20).status, IoStatus::kWouldBlock);
  EXPECT_GT(pipe.stream->UnacknowledgedBytes(), 0u);
}

TEST(PeerName, HasAddressAndPort) {
  Pipe pipe;
  EXPECT_EQ(PeerName(pipe.stream->fd()).substr(0, 10), "127.0.0.1:");
  EXPECT_EQ(PeerName(-1), "unknown");
}

}  // namespace
}  // namespace penstock::emulator::http
