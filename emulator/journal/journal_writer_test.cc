#include "emulator/journal/journal_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "base/fake_clock.h"

namespace penstock::emulator::journal {
namespace {

class JournalWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    exchange_.operation = "GetObject";
    exchange_.response.status = 200;
    exchange_.began = clock_.Monotonic();
  }

  Entry Written() {
    exchange_.ended = clock_.Monotonic();
    exchange_.Attach<EntryPlace>(0);
    WriteEnd(journal_, exchange_);
    return Last();
  }

  Entry Last() {
    reading_ = journal_.Read();
    Entry last;
    reading_.ForEach([&last](const Entry& entry) {
      last = entry;
      return true;
    });
    return last;
  }

  FakeClock clock_;
  Journal journal_{1 << 20, clock_.Monotonic()};
  s3::RequestHead head_{.method = "GET", .target = "/bucket/key"};
  s3::Connection connection_{.id = 7, .peer = "127.0.0.1:5", .tls = true, .requests_before = 3};
  s3::Exchange exchange_{head_, connection_};
  Reading reading_;
};

TEST_F(JournalWriterTest, WritesRequestAndResponse) {
  head_.headers = {{"amz-sdk-invocation-id", "i-1"},
                   {"amz-sdk-request", "attempt=2; max=3"},
                   {"User-Agent", "test/1"}};
  exchange_.bytes_out = 10;
  exchange_.whole = true;
  exchange_.identity.access_key_id = "AKIA1";
  clock_.Advance(std::chrono::milliseconds(5));
  const Entry entry = Written();
  EXPECT_EQ(entry.method, "GET");
  EXPECT_EQ(entry.target, "/bucket/key");
  EXPECT_EQ(entry.operation, "GetObject");
  EXPECT_EQ(entry.connection, 7u);
  EXPECT_EQ(entry.requests_before, 3u);
  EXPECT_TRUE(entry.tls);
  EXPECT_EQ(entry.attempt, 2u);
  EXPECT_EQ(entry.invocation, "i-1");
  EXPECT_EQ(entry.user_agent, "test/1");
  EXPECT_EQ(entry.access_key, "AKIA1");
  EXPECT_EQ(entry.bytes_out, 10u);
  EXPECT_EQ(entry.status, 200);
  EXPECT_EQ(entry.ending, Ending::kAnswered);
  EXPECT_EQ(entry.lasted(), std::chrono::milliseconds(5));
}

TEST_F(JournalWriterTest, WritesTheRankThatTheClientSent) {
  EXPECT_EQ(Written().rank, std::nullopt);
  head_.headers = {{"User-Agent", "penstock/1 (rank/6; torch)"}};
  EXPECT_EQ(Written().rank, 6u);
  head_.headers.push_back({"X-Penstock-Rank", "0"});
  EXPECT_EQ(Written().rank, 0u) << "the header comes first";
}

TEST_F(JournalWriterTest, WritesTheRangeOfTheResponse) {
  exchange_.response.content_length = 100;
  EXPECT_EQ(Written().range, (ByteRange{0, 100}));
  exchange_.response.status = 206;
  exchange_.response.Add("Content-Range", "bytes 10-19/100");
  EXPECT_EQ(Written().range, (ByteRange{10, 20}));
  exchange_.response.status = 503;
  EXPECT_FALSE(Written().range);
  exchange_.response.status = 200;
  exchange_.operation = "HeadObject";
  EXPECT_FALSE(Written().range) << "no bytes were read";
}

TEST_F(JournalWriterTest, PartialResponseIsBroken) { EXPECT_EQ(Written().ending, Ending::kBroken); }

TEST_F(JournalWriterTest, WritesChecksumsAndPayloadKind) {
  head_.headers = {{"x-amz-checksum-crc32", "AAAAAA=="},
                   {"Content-MD5", "bWQ1"},
                   {"x-amz-content-sha256", "abcdef"}};
  EXPECT_EQ(Written().checksums, "x-amz-checksum-crc32=AAAAAA==,content-md5=bWQ1");
  EXPECT_EQ(Written().payload, "signed");
  head_.headers = {{"x-amz-trailer", "x-amz-checksum-crc64nvme"},
                   {"x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}};
  exchange_.response.Add("x-amz-checksum-crc64nvme", "AAAAAAAAAAA=");
  EXPECT_EQ(Written().checksums, "x-amz-checksum-crc64nvme=AAAAAAAAAAA=");
  EXPECT_EQ(Written().payload, "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
}

TEST_F(JournalWriterTest, RemovesSignaturesOfPresignedUrls) {
  head_.target = "/b/k?X-Amz-Signature=0123&x-id=GetObject";
  EXPECT_EQ(Written().target, "/b/k?X-Amz-Signature=***&x-id=GetObject");
  head_.target = "/b/k";
  EXPECT_EQ(Written().target, "/b/k");
  exchange_.target.key = ObjectKey("k?X-Amz-Signature=0123");
  EXPECT_EQ(Written().key, "k?X-Amz-Signature=***");
}

// A method is any token of HTTP, so a client can send a credential as one.
TEST_F(JournalWriterTest, RemovesSignaturesOfMethods) {
  head_.method = "Signature%3D0123";
  EXPECT_EQ(Written().method, "Signature%3D***");
}

TEST_F(JournalWriterTest, CapturesHeadersUntilTheEndOfACapture) {
  head_.headers = {{"Host", "h"}, {"Cookie", "hidden"}};
  exchange_.sent_head = "HTTP/1.1 200 OK\r\nServer: s\r\n\r\nbody";
  EXPECT_EQ(Written().request_headers, "");
  journal_.CaptureUntil(clock_.Monotonic() + std::chrono::seconds(1));
  EXPECT_EQ(Written().request_headers, "Host: h\nCookie: ***\n");
  EXPECT_EQ(Last().response_headers, "Server: s\n");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Written().request_headers, "");
}

TEST_F(JournalWriterTest, AmendedEntriesKeepTheirHeaders) {
  head_.headers = {{"Host", "h"}};
  journal_.CaptureUntil(clock_.Monotonic() + std::chrono::seconds(1));
  exchange_.ended = clock_.Monotonic();
  exchange_.whole = true;
  RecordEntry(journal_, exchange_);
  clock_.Advance(std::chrono::seconds(2));
  exchange_.ended = clock_.Monotonic();
  exchange_.whole = false;
  WriteEnd(journal_, exchange_);
  EXPECT_EQ(Last().ending, Ending::kBroken);
  EXPECT_EQ(Last().request_headers, "Host: h\n");
}

TEST_F(JournalWriterTest, WrongSignatureOfAChunkIsInvalid) {
  exchange_.signature = {SignatureVersion::kV4, SignatureVerdict::kValid};
  EXPECT_EQ(Written().signature.verdict, SignatureVerdict::kValid);
  exchange_.response.error_code = "NoSuchKey";
  EXPECT_EQ(Written().signature.verdict, SignatureVerdict::kValid);
  exchange_.response.error_code = "SignatureDoesNotMatch";
  EXPECT_EQ(Written().signature.verdict, SignatureVerdict::kInvalid);
}

TEST_F(JournalWriterTest, UsesTheFirstHeaderOfAName) {
  head_.headers = {{"USER-AGENT", "one"},
                   {"user-agent", "two"},
                   {"X-Amz-Checksum-CRC32", "a"},
                   {"x-amz-checksum-crc32", "b"}};
  const Entry entry = Written();
  EXPECT_EQ(entry.user_agent, "one");
  EXPECT_EQ(entry.checksums, "x-amz-checksum-crc32=a,x-amz-checksum-crc32=b");
  EXPECT_EQ(entry.attempt, 1u);
}

class Next final : public s3::Handler {
 public:
  void Handle(s3::Exchange&) override {}
};

TEST_F(JournalWriterTest, TracksNothingWithoutAJournal) {
  Next next;
  s3::FilterChain(next, MakeInFlightTracker([](const s3::Exchange&) { return nullptr; }))
      .Handle(exchange_);
  EXPECT_EQ(exchange_.Find<EntryPlace>(), nullptr);
}

TEST_F(JournalWriterTest, WritesTheEntryBeforeTheEndAndOnce) {
  exchange_.ended = clock_.Monotonic();
  exchange_.whole = true;
  RecordEntry(journal_, exchange_);
  EXPECT_EQ(Last().number, 1u);
  RecordEntry(journal_, exchange_);  // The end of the response was delayed.
  WriteEnd(journal_, exchange_);
  EXPECT_EQ(Last().number, 1u);
  EXPECT_EQ(reading_.size(), 1u);
}

TEST_F(JournalWriterTest, AmendsAnEntryOfAResponseThatBrokeAtItsEnd) {
  exchange_.ended = clock_.Monotonic();
  exchange_.whole = true;
  exchange_.bytes_out = 100;
  RecordEntry(journal_, exchange_);
  EXPECT_EQ(Last().ending, Ending::kAnswered);
  clock_.Advance(std::chrono::milliseconds(7));
  exchange_.ended = clock_.Monotonic();
  exchange_.whole = false;
  exchange_.bytes_out = 60;
  WriteEnd(journal_, exchange_);
  EXPECT_EQ(Last().ending, Ending::kBroken);
  EXPECT_EQ(Last().bytes_out, 60u);
  EXPECT_EQ(Last().lasted(), std::chrono::milliseconds(7));
  EXPECT_EQ(reading_.size(), 1u);
}

TEST_F(JournalWriterTest, AmendsAnEntryWhenARuleFiresAfterTheEnd) {
  class Notes final : public s3::RequestNotes {
   public:
    std::size_t MostFiredBytes() const override { return 20; }
    std::string FiredRules() const override { return fired; }
    std::string fired = "slow";
  };
  const auto notes = std::make_shared<Notes>();
  exchange_.notes = notes;
  exchange_.ended = clock_.Monotonic();
  exchange_.whole = true;
  RecordEntry(journal_, exchange_);
  EXPECT_EQ(Last().faults, "slow");
  notes->fired = "slow,reset-at-close";
  WriteEnd(journal_, exchange_);
  EXPECT_EQ(Last().faults, "slow,reset-at-close");
  EXPECT_EQ(reading_.size(), 1u);
}

TEST_F(JournalWriterTest, WaitsForResponsesBeingSent) {
  Next next;
  s3::FilterChain(next, MakeInFlightTracker([this](const s3::Exchange&) { return &journal_; }))
      .Handle(exchange_);
  EXPECT_FALSE(journal_.WaitForResponses(MonotonicTime::clock::now()));
  RecordEntry(journal_, exchange_);
  EXPECT_TRUE(journal_.WaitForResponses(MonotonicTime::clock::now()));
}

}  // namespace
}  // namespace penstock::emulator::journal
