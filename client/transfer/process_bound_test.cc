// Handles with requests in flight, in a forked child and on an I/O thread.
#include "client/transfer/process_bound.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include "client/transfer/forked_child_test_support.h"
#include "client/transfer/held_store_test_support.h"
#include "penstock/memory.h"
#include "penstock/range_reader.h"

namespace penstock::transfer {
namespace {

class HandleTest : public ::testing::Test {
 protected:
  HandleTest() { Put(*inner_, MakeContent(1000)); }

  std::unique_ptr<ObjectStream> Stream() {
    auto stream =
        ObjectStream::Open(store_, {.bucket = kBucket, .key = kKey}, {.part_size_bytes = 100});
    EXPECT_FALSE(stream->Next([] { return true; }).ok());  // sends requests and does not wait
    EXPECT_GT(store_->held(), 0u);
    return stream;
  }
  std::unique_ptr<Lister> Listing() {
    auto lister = Lister::Create(store_, {.bucket = kBucket});
    lister->Start();
    EXPECT_GT(store_->held(), 0u);
    return lister;
  }
  // A writer with parts in flight.
  std::unique_ptr<ObjectWriter> Writer() {
    UploadOptions options;
    options.part_size_bytes = 100;
    options.min_part_size_bytes = 1;
    options.single_put_limit_bytes = 100;
    auto writer = ObjectWriter::Create(store_, kBucket, kKey, options);
    EXPECT_TRUE(writer->Write(MakeContent(250)).ok());
    EXPECT_GT(store_->held(), 0u);
    return writer;
  }

  const std::shared_ptr<ObjectStore> inner_ = MakeStore();
  const std::shared_ptr<HeldStore> store_ = std::make_shared<HeldStore>(inner_);
};

TEST_F(HandleTest, StreamInAForkedChildFailsAndCanBeDestroyed) {
  auto stream = Stream();
  EXPECT_EQ(StatusOfChild([&] {
              const auto block = stream->Next();
              const bool refused =
                  !block.ok() && MentionsFork(block.error()) && !stream->metadata();
              stream.reset();
              return refused ? 0 : 1;
            }),
            0);
  store_->Release();
  EXPECT_TRUE(stream->Next().ok());  // the parent's stream continues
}

TEST_F(HandleTest, ListingInAForkedChildFailsAndCanBeDestroyed) {
  auto lister = Listing();
  EXPECT_EQ(StatusOfChild([&] {
              const auto page = lister->Next();
              lister->Start();
              const bool refused = !page.ok() && MentionsFork(page.error());
              lister.reset();
              return refused ? 0 : 1;
            }),
            0);
  store_->Release();
  EXPECT_TRUE(lister->Next().ok());
}

TEST_F(HandleTest, WriterInAForkedChildFailsAndCanBeDestroyed) {
  auto writer = Writer();
  EXPECT_EQ(StatusOfChild([&] {
              const Bytes more = MakeContent(10);
              const bool refused =
                  MentionsFork(writer->Write(more).error()) &&
                  MentionsFork(writer->WriteNoCopy(more).error()) &&
                  MentionsFork(writer->Drain().error()) && MentionsFork(writer->Finish().error()) &&
                  MentionsFork(writer->Abort().error()) && writer->bytes_written() == 0;
              writer.reset();
              return refused ? 0 : 1;
            }),
            0);
  store_->Release();
  EXPECT_TRUE(writer->Finish().ok());
}

TEST_F(HandleTest, RangeReaderInAForkedChildFailsAndCanBeDestroyed) {
  Bytes memory(10);
  auto reader = RangeReader::Create(store_, {});
  std::promise<Result<RangesRead>> read;
  reader->Start({kBucket, kKey, {{0, memory}}, {}},
                [&](Result<RangesRead> result) { read.set_value(std::move(result)); });
  EXPECT_EQ(StatusOfChild([&] {
              bool refused = false;
              reader->Start({kBucket, kKey, {{0, memory}}, {}},
                            [&](const Result<RangesRead>& result) {
                              refused = !result.ok() && MentionsFork(result.error());
                            });
              reader->Cancel();
              reader.reset();
              return refused ? 0 : 1;
            }),
            0);
  store_->Release();
  EXPECT_TRUE(read.get_future().get().ok());
}

TEST_F(HandleTest, BlockingCallsOnAnIoThreadFailImmediately) {
  auto stream = Stream();
  auto lister = Listing();
  auto writer = Writer();
  const std::size_t held = store_->held();
  const Bytes data = MakeContent(10);
  {
    const IoThreadScope io_thread;
    const auto refused = [](const auto& result) {
      return !result.ok() && result.error().kind == ErrorKind::kInvalidArgument &&
             result.error().message.find("was called on an I/O thread") != std::string::npos;
    };
    EXPECT_TRUE(refused(store_->Call(HeadObjectRequest{kBucket, kKey, {}, {}})));
    EXPECT_TRUE(refused(stream->Next()));
    EXPECT_TRUE(refused(lister->Next()));
    EXPECT_TRUE(refused(writer->Write(data)));
    EXPECT_TRUE(refused(writer->Finish()));
    EXPECT_TRUE(refused(writer->Abort()));
    EXPECT_TRUE(refused(Upload(store_, kBucket, kKey, data, {})));
    EXPECT_TRUE(refused(MemoryBudget::PerProcess().Take(1)));
    DownloadRequest request{.bucket = kBucket, .key = kKey};
    request.destination = [](std::uint64_t) -> Result<MutableByteView> {
      return MutableByteView();
    };
    EXPECT_TRUE(refused(Download(*store_, std::move(request))));
  }
  EXPECT_EQ(store_->held(), held);
  store_->Release();
}

// Regression test: handles waited for requests that only their own thread could complete.
TEST_F(HandleTest, DestructionOnAnIoThreadDoesNotWait) {
  auto stream = Stream();
  auto lister = Listing();
  auto writer = Writer();
  {
    const IoThreadScope io_thread;
    stream.reset();
    lister.reset();
    writer.reset();
  }
  // Held requests must not prevent handles from ending. The exit of the process waits for them.
  store_->Release();
}

TEST_F(HandleTest, DownloadKeepsItsStoreAlive) {
  auto store = std::make_shared<HeldStore>(inner_);
  HeldStore* const held = store.get();
  const std::weak_ptr<HeldStore> watch = store;
  Bytes memory;
  DownloadRequest request{.bucket = kBucket, .key = kKey};
  request.destination = [&memory](std::uint64_t size) -> Result<MutableByteView> {
    memory.resize(size);
    return MutableByteView(memory);
  };
  auto done = DownloadAsync(std::move(store), std::move(request));
  ASSERT_FALSE(watch.expired());
  held->Release();
  EXPECT_TRUE(done.Get().ok());
  EXPECT_EQ(memory, MakeContent(1000));
}

}  // namespace
}  // namespace penstock::transfer
