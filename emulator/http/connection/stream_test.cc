#include "emulator/http/connection/stream.h"

#include <array>
#include <string>
#include <thread>

#include "emulator/http/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::http {
namespace {

using std::chrono::milliseconds;

TEST(PlainStream, ReadsWithoutAndWithPatience) {
  Pipe pipe;
  std::array<std::byte, 16> buffer;
  EXPECT_EQ(pipe.stream->TryRead(buffer).status, IoStatus::kWouldBlock);
  EXPECT_EQ(pipe.stream->Read(buffer, milliseconds(5)).status, IoStatus::kTimeout);
  pipe.peer->Send("abc");
  const IoResult got = pipe.stream->Read(buffer, kTestPatience);
  EXPECT_EQ(got.status, IoStatus::kOk);
  EXPECT_EQ(got.bytes, 3u);
  pipe.peer->EndSending();
  EXPECT_EQ(pipe.stream->Read(buffer, kTestPatience).status, IoStatus::kEnd);
}

TEST(PlainStream, WritesAllPiecesThroughAFullSocket) {
  Pipe pipe;
  const std::string large = PatternText(8 << 20);
  std::string got;
  std::jthread reader([&] { got = pipe.peer->ReadToEnd(); });
  const std::array<ByteView, 4> pieces = {AsBytes("head"), ByteView{}, AsBytes(large),
                                          AsBytes("tail")};
  const IoResult sent = pipe.stream->Write(pieces, More::kNo, kTestPatience);
  EXPECT_EQ(sent.status, IoStatus::kOk);
  EXPECT_EQ(sent.bytes, large.size() + 8);
  pipe.stream->EndWriting();
  reader.join();
  EXPECT_TRUE(got == "head" + large + "tail");
}

TEST(PlainStream, AWriteTimesOutWhenNothingMoves) {
  Pipe pipe;
  const std::string large(64 << 20, 'x');
  const ByteView piece = AsBytes(large);
  EXPECT_EQ(pipe.stream->Write({&piece, 1}, More::kNo, milliseconds(20)).status,
            IoStatus::kTimeout);
}

TEST(PlainStream, AWriteToAGonePeerFailsWithoutASignal) {
  Pipe pipe;
  pipe.stream->Reset();
  const ByteView piece = AsBytes("x");
  EXPECT_EQ(pipe.stream->Write({&piece, 1}, More::kNo, kTestPatience).status, IoStatus::kBroken);
}

TEST(PlainStream, SendsFilesFromTheirMiddle) {
  Pipe pipe;
  const FileBlob file("0123456789");
  EXPECT_EQ(pipe.stream->SendFile(file.FileDescriptor(), 2, 5, kTestPatience).bytes, 5u);
  EXPECT_EQ(pipe.stream->SendFile(file.FileDescriptor(), 8, 5, kTestPatience).status,
            IoStatus::kBroken);
  pipe.stream->EndWriting();
  EXPECT_EQ(pipe.peer->ReadToEnd(), "2345689");
}

TEST(PlainStream, ResetIsAResetEvenWithACopyOfTheDescriptor) {
  Pipe pipe;
  const int copy = ::dup(pipe.stream->fd());  // as a forked process has
  pipe.stream->Reset();
  int error = 0;
  pipe.peer->ReadToEnd(&error);
  EXPECT_EQ(error, ECONNRESET);
  ::close(copy);
}

TEST(PlainStream, DestructionIsAnEndEvenWithACopyOfTheDescriptor) {
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
    status = pipe.stream->Read(buffer, kTestPatience).status;
  });
  pipe.stream->Interrupt();
  reader.join();
  EXPECT_EQ(status, IoStatus::kEnd);
}

TEST(PlainStream, WhatIsDiscardedDoesNotTakeTheAnswerWithIt) {
  Pipe pipe;
  pipe.peer->Send(std::string(100'000, 'x'));
  const ByteView answer = AsBytes("answer");
  ASSERT_EQ(pipe.stream->Write({&answer, 1}, More::kNo, kTestPatience).status, IoStatus::kOk);
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
  EXPECT_EQ(pipe.peer->ReadToEnd(&error), "answer");
  EXPECT_EQ(error, 0);
}

TEST(PlainStream, WithoutPatienceAFullSocketIsToldOfAtOnce) {
  Pipe pipe;
  const std::string text(64 << 20, 'x');
  const ByteView piece = AsBytes(text);
  const IoResult sent = pipe.stream->Write({&piece, 1}, More::kNo, std::chrono::milliseconds(0));
  EXPECT_EQ(sent.status, IoStatus::kWouldBlock);
  EXPECT_GT(sent.bytes, 0u);
  EXPECT_LT(sent.bytes, text.size());
  const FileBlob file(text.substr(0, 1 << 20));
  EXPECT_EQ(
      pipe.stream->SendFile(file.FileDescriptor(), 0, 1 << 20, std::chrono::milliseconds(0)).status,
      IoStatus::kWouldBlock);
  EXPECT_GT(pipe.stream->Untaken(), 0u);
}

TEST(PeerName, NamesAddressAndPort) {
  Pipe pipe;
  EXPECT_EQ(PeerName(pipe.stream->fd()).substr(0, 10), "127.0.0.1:");
  EXPECT_EQ(PeerName(-1), "unknown");
}

}  // namespace
}  // namespace penstock::emulator::http
