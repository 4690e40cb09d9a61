// A table of the ways in which a peer can fail, for a download and for the upload of a part. If a
// healthy peer follows one failure, the bytes are correct. If the failure persists, there is one
// clear error. No test may hang, leak memory (sanitizers) or leave an open descriptor.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/crc/named_crc.h"
#include "client/auth/providers/credentials.h"
#include "client/http/raw_server_for_test.h"
#include "client/http/reactor/http_transport.h"
#include "client/s3/client_for_test.h"

namespace penstock::s3 {
namespace {

using http::RawConnection;
using http::RawServer;

std::string MakeContent() {
  std::string content;
  for (int i = 0; content.size() < 200'000; ++i) content += std::to_string(i * 7919) + ",";
  return content;
}

const std::string kContent = MakeContent();
const std::size_t kHalf = kContent.size() / 2;

std::string Checksum() {
  return CrcText(Crc::kCrc32c, UpdateCrc(Crc::kCrc32c, AsBytes(kContent), 0));
}

std::string GetHead(std::size_t length) {
  return "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nx-amz-checksum-crc32c: " + Checksum() +
         "\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

std::string Refusal(int status, const std::string& code) {
  const std::string text = ErrorXml(code);
  return "HTTP/1.1 " + std::to_string(status) +
         " No\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

// The action of a peer after it has read the request head. It does not read the body of a PUT
// unless it says so.
using ServerAction = void (*)(RawConnection& connection);

void Stall(RawConnection& connection) { connection.WaitForClose(); }
void Flipped(RawConnection& connection) {
  std::string flipped = kContent;
  flipped[kHalf] ^= 1;
  connection.Send(GetHead(kContent.size()) + flipped);
}

struct Fault {
  std::string_view name;
  ServerAction action;
  std::vector<ErrorKind> kinds;  // Of the error if the fault persists.
  bool retried = true;           // The call succeeds if a healthy peer follows.
  // The response is complete: the connection is kept, and the body of a PUT was read.
  bool responds = false;
};

const ErrorKind kGone = ErrorKind::kUnavailable;
const ErrorKind kLate = ErrorKind::kTimeout;
const ErrorKind kLoss = ErrorKind::kDataLoss;

// Faults for both operations.
const std::vector<Fault> kEitherVerb = {
    {"ResetAfterTheRequest", [](RawConnection& c) { c.Reset(); }, {kGone}},
    {"CloseAfterTheRequest", [](RawConnection&) {}, {kGone}},
    {"StallAfterTheRequest", Stall, {kLate}},
    {"ResetInTheHead",
     [](RawConnection& c) {
       c.Send("HTTP/1.1 200 OK\r\nETag: \"e");
       c.Reset();
     },
     {kGone}},
    {"CloseInTheHead",
     [](RawConnection& c) { c.Send("HTTP/1.1 200 OK\r\nETag: \"e"); },
     {kGone, kLoss}},
    {"StallInTheHead",
     [](RawConnection& c) {
       c.Send("HTTP/1.1 200 OK\r\nETag: \"e");
       Stall(c);
     },
     {kLate}},
    {"GarbageForAHead",
     [](RawConnection& c) {
       c.Send("220 mail.example ESMTP\r\n\r\n");
       Stall(c);
     },
     {kGone}},
    {"AHeaderWithoutAName",
     [](RawConnection& c) { c.Send("HTTP/1.1 200 OK\r\n: v\r\n\r\n"); },
     {kGone}},
    {"AStatusThatIsNoNumber",
     [](RawConnection& c) {
       c.Send("HTTP/1.1 abc OK\r\n\r\n");
       Stall(c);
     },
     {kGone}},
    {"AnEndlessHead",
     [](RawConnection& c) {
       c.Send("HTTP/1.1 200 OK\r\n");
       while (c.Send("X-Filler: " + std::string(10'000, 'f') + "\r\n")) {
       }
     },
     {kGone}},
    {"InternalError",
     [](RawConnection& c) { c.Send(Refusal(500, "InternalError")); },
     {kGone},
     true,
     true},
    {"SlowDown",
     [](RawConnection& c) { c.Send(Refusal(503, "SlowDown")); },
     {ErrorKind::kThrottled},
     true,
     true},
    {"ServiceUnavailable",
     [](RawConnection& c) { c.Send(Refusal(503, "ServiceUnavailable")); },
     {kGone, ErrorKind::kThrottled},
     true,
     true},
    {"ARefusalCutShort",
     [](RawConnection& c) {
       c.Send("HTTP/1.1 500 No\r\nContent-Length: 500\r\n\r\n<Error><Code>Inte");
     },
     {kGone}},
    {"AccessDenied",
     [](RawConnection& c) { c.Send(Refusal(403, "AccessDenied")); },
     {ErrorKind::kAccessDenied},
     false,
     true},
};

// This peer ignores the range of the request for the remainder. If it fails again, that is a loss.
const std::vector<Fault> kOfGet = {
    {"ResetAfterTheHead",
     [](RawConnection& c) {
       c.Send(GetHead(kContent.size()));
       c.Reset();
     },
     {kGone}},
    {"CloseAfterTheHead", [](RawConnection& c) { c.Send(GetHead(kContent.size())); }, {kGone}},
    {"StallAfterTheHead",
     [](RawConnection& c) {
       c.Send(GetHead(kContent.size()));
       Stall(c);
     },
     {kLate}},
    {"ResetInTheBody",
     [](RawConnection& c) {
       c.Send(GetHead(kContent.size()) + kContent.substr(0, kHalf));
       c.Reset();
     },
     {kGone, kLoss}},
    {"AShortBody",
     [](RawConnection& c) { c.Send(GetHead(kContent.size()) + kContent.substr(0, kHalf)); },
     {kGone, kLoss}},
    {"StallInTheBody",
     [](RawConnection& c) {
       c.Send(GetHead(kContent.size()) + kContent.substr(0, kHalf));
       Stall(c);
     },
     {kLate, kLoss}},
    {"ALengthTooShort",
     [](RawConnection& c) {
       c.Send(GetHead(kContent.size() - 10) + kContent);
       Stall(c);
     },
     {kLoss, kGone}},
    {"ALengthTooLong",
     [](RawConnection& c) { c.Send(GetHead(kContent.size() + 10) + kContent); },
     {kGone, kLoss}},
    {"TwoLengths",
     [](RawConnection& c) {
       c.Send(
           "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 5\r\nContent-Length: "
           "6\r\n\r\n123456");
       Stall(c);
     },
     {kGone, kLoss, kLate}},
    {"NoLength",
     [](RawConnection& c) { c.Send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\n\r\n" + kContent); },
     {kLoss, kGone}},
    {"AChecksumMismatch", Flipped, {kLoss}, true, true},
    {"ABrokenChunk",
     [](RawConnection& c) {
       c.Send(
           "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n");
       Stall(c);
     },
     {kGone, kLoss}},
};

const std::vector<Fault> kOfPut = {
    {"ResetInTheBody",
     [](RawConnection& c) {
       c.ReadBody(kHalf);
       c.Reset();
     },
     {kGone}},
    {"CloseInTheBody", [](RawConnection& c) { c.ReadBody(kHalf); }, {kGone}},
    {"ResetAfterTheBody",
     [](RawConnection& c) {
       c.ReadBody(kContent.size());
       c.Reset();
     },
     {kGone}},
    {"CloseAfterTheBody", [](RawConnection& c) { c.ReadBody(kContent.size()); }, {kGone}},
    {"StallAfterTheBody",
     [](RawConnection& c) {
       c.ReadBody(kContent.size());
       Stall(c);
     },
     {kLate}},
    {"SlowDownBeforeTheBody",
     [](RawConnection& c) {
       c.Send(Refusal(503, "SlowDown"));
       c.ReadBody(kContent.size());
     },
     {ErrorKind::kThrottled,
      kGone}},  // It closes without notice, so the next request may already be in flight.
    {"BadDigest", [](RawConnection& c) { c.Send(Refusal(400, "BadDigest")); }, {kLoss}, true, true},
    {"AResponseWithoutAnETag",
     [](RawConnection& c) { c.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); },
     {kLoss, ErrorKind::kUnsupported},
     true,
     true},
};

enum class Verb { kGet, kPut };

struct Case {
  Verb verb;
  const Fault* fault;
  bool kept;  // The fault affects the second request of its connection.
};

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const bool kept : {false, true}) {
    for (const Fault& fault : kEitherVerb) {
      cases.push_back({Verb::kGet, &fault, kept});
      cases.push_back({Verb::kPut, &fault, kept});
    }
    for (const Fault& fault : kOfGet) cases.push_back({Verb::kGet, &fault, kept});
    for (const Fault& fault : kOfPut) cases.push_back({Verb::kPut, &fault, kept});
  }
  return cases;
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return (c.verb == Verb::kGet ? "Get" : "Put") + std::string(c.fault->name) +
         (c.kept ? "OnAKeptConnection" : "");
}

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

// The last thread may close a connection shortly after the call has ended. Succeeds if no
// descriptors beyond `before` remain.
::testing::AssertionResult NoDescriptorLeft(std::size_t before) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::size_t open = OpenDescriptors();
  while (open > before && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
    open = OpenDescriptors();
  }
  if (open <= before) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << open << " descriptors are open, " << before << " were before";
}

class FaultMatrix : public ::testing::TestWithParam<Case> {
 protected:
  struct Ended {
    Result<void> result = Ok();
    std::string bytes;  // The bytes that the caller or, for a PUT, the peer has in the end.
    // Requests at the peer, without the healthy one before a fault on a kept connection.
    int attempts = 0;
  };

  // Serves until the client stops. The first `faults` requests get the fault, all others a healthy
  // response.
  class Peer {
   public:
    Peer(const Case& c, int faults)
        : case_(c),
          left_(faults),
          server_([this](RawConnection& connection) { Serve(connection); }) {}

    std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    std::string body() {
      const MutexLock lock(mutex_);
      return body_;
    }
    int requests() {
      const MutexLock lock(mutex_);
      return requests_;
    }

   private:
    void Serve(RawConnection& connection) {
      for (;;) {
        if (!connection.ReadHead()) return;
        bool faulty = false;
        {
          const MutexLock lock(mutex_);
          ++requests_;
          faulty = left_ > 0 && (requests_ > 1 || !case_.kept);
          left_ -= faulty ? 1 : 0;
        }
        if (faulty) {
          if (case_.fault->responds && case_.verb == Verb::kPut)
            connection.ReadBody(kContent.size());
          case_.fault->action(connection);
          if (!case_.fault->responds) return;
          continue;
        }
        if (case_.verb == Verb::kPut) {
          std::string body = connection.ReadBody(kContent.size());
          {
            const MutexLock lock(mutex_);
            body_ = std::move(body);
          }
          connection.Send("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0\r\n\r\n");
        } else {
          connection.Send(GetHead(kContent.size()) + kContent);
        }
      }
    }

    const Case& case_;
    Mutex mutex_;
    int left_ PENSTOCK_GUARDED_BY(mutex_);
    int requests_ PENSTOCK_GUARDED_BY(mutex_) = 0;
    std::string body_ PENSTOCK_GUARDED_BY(mutex_);
    RawServer server_;  // Last: its threads use the other members.
  };

  static Ended Once(Client& client, Peer& peer, Verb verb) {
    Ended ended;
    if (verb == Verb::kGet) {
      Sink sink;
      const auto got = client.Call(
          GetObjectRequest{.bucket = BucketName("b"), .key = ObjectKey("k"), .sink = &sink});
      if (!got.ok()) ended.result = got.error();
      ended.bytes = std::move(sink.text);
    } else {
      StringSource source(kContent);
      source.piece_bytes = 64 << 10;
      UploadPartRequest request;
      request.bucket = BucketName("b");
      request.key = ObjectKey("k");
      request.upload_id = UploadId("u");
      request.part_number = 1;
      request.body = &source;
      const auto put = client.Call(std::move(request));
      if (!put.ok()) ended.result = put.error();
      ended.bytes = peer.body();
    }
    ended.attempts = peer.requests();
    return ended;
  }

  static Ended Run(int faults, int max_attempts) {
    Peer peer(GetParam(), faults);
    ClientConfig config;
    config.endpoint_url = peer.endpoint();
    config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
    config.max_attempts = max_attempts;
    // Short only for faults that stall: on a busy machine others may take as long.
    const std::vector<ErrorKind> kinds(GetParam().fault->kinds.begin(),
                                       GetParam().fault->kinds.end());
    const bool stalls = std::find(kinds.begin(), kinds.end(), kLate) != kinds.end();
    config.idle_timeout = std::chrono::milliseconds(stalls ? 150 : 20'000);
    const std::shared_ptr<http::Transport> transport = http::MakeHttpTransport({.io_threads = 1});
    auto client = Client::Impl::Make(config, {[transport] { return transport; }, &SystemClock(),
                                              [] { return std::uint64_t{0}; }, EmptyEnvironment()});
    if (GetParam().kept) {
      EXPECT_TRUE(Once(**client, peer, GetParam().verb).result.ok());
    }
    Ended ended = Once(**client, peer, GetParam().verb);
    if (GetParam().kept) --ended.attempts;
    return ended;
  }

 private:
  // Larger windows than StringSink's: thousands of transfers run here.
  class Sink final : public BodySink {
   public:
    Result<void> Begin(const ObjectMetadata&, std::optional<std::uint64_t>) override {
      text.clear();
      return Ok();
    }
    MutableByteView Window() override { return window_; }
    Result<void> Commit(std::size_t count) override {
      text.append(AsText(ByteView(window_).first(count)));
      return Ok();
    }
    std::string text;

   private:
    std::array<std::byte, 64 << 10> window_{};
  };
};

INSTANTIATE_TEST_SUITE_P(All, FaultMatrix, ::testing::ValuesIn(AllCases()), CaseName);

TEST_P(FaultMatrix, OneFaultGivesCorrectBytesOrOneClearError) {
  const Fault& fault = *GetParam().fault;
  const std::size_t open_before = OpenDescriptors();
  const Ended ended = Run(1, 3);
  if (fault.retried) {
    ASSERT_TRUE(ended.result.ok()) << ended.result.error().ToString();
    EXPECT_TRUE(ended.bytes == kContent) << ended.bytes.size() << " bytes";
  } else {
    ASSERT_FALSE(ended.result.ok());
    EXPECT_EQ(ended.attempts, 1);
  }
  EXPECT_TRUE(NoDescriptorLeft(open_before));
}

TEST_P(FaultMatrix, APersistentFaultIsOneClearError) {
  const Fault& fault = *GetParam().fault;
  const std::size_t open_before = OpenDescriptors();
  const Ended ended = Run(1000, 2);
  ASSERT_FALSE(ended.result.ok());
  const Error& error = ended.result.error();
  EXPECT_NE(std::find(fault.kinds.begin(), fault.kinds.end(), error.kind), fault.kinds.end())
      << error.ToString();
  EXPECT_FALSE(error.message.empty());
  EXPECT_EQ(error.attempts, fault.retried ? 2 : 1);
  EXPECT_EQ(error.key, "k");
  EXPECT_TRUE(NoDescriptorLeft(open_before));
}

// Faults before any request: of the connection itself and of TLS on it. No healthy peer follows;
// each is one clear error.
struct ConnectFault {
  std::string_view name;
  ServerAction action;
  bool tls;
  ErrorKind kind;
};

const std::vector<ConnectFault> kOfConnecting = {
    {"ResetAtOnce", [](RawConnection& c) { c.Reset(); }, false, kGone},
    {"CloseAtOnce", [](RawConnection&) {}, false, kGone},
    {"ResetInTheHandshake",
     [](RawConnection& c) {
       c.ReadBody(5);
       c.Reset();
     },
     true, kGone},
    {"CloseInTheHandshake", [](RawConnection& c) { c.ReadBody(5); }, true, kGone},
    {"StallInTheHandshake", Stall, true, kLate},
    {"ANonsenseRecord",
     [](RawConnection& c) {
       c.ReadBody(5);
       c.Send(std::string(64, 'x'));
       Stall(c);
     },
     true, ErrorKind::kInvalidArgument},  // A peer without TLS will never support it.
};

std::string ConnectFaultName(const ::testing::TestParamInfo<std::size_t>& info) {
  return std::string(kOfConnecting[info.param].name);
}

class ConnectFaults : public ::testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(All, ConnectFaults, ::testing::Range(std::size_t{0}, kOfConnecting.size()),
                         ConnectFaultName);

TEST_P(ConnectFaults, EachIsOneClearError) {
  const ConnectFault& fault = kOfConnecting[GetParam()];
  const std::size_t open_before = OpenDescriptors();
  Error error;
  {
    RawServer server([&fault](RawConnection& connection) { fault.action(connection); });
    ClientConfig config;
    config.endpoint_url =
        (fault.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(server.port());
    config.credentials = auth::MakeStaticProvider({"AKID", "secret", "", {}});
    config.max_attempts = 2;
    // Short only for faults that stall: on a busy machine others may take as long.
    const auto patience = std::chrono::milliseconds(fault.kind == kLate ? 150 : 20'000);
    config.idle_timeout = config.connect_timeout = patience;
    const std::shared_ptr<http::Transport> transport = http::MakeHttpTransport({.io_threads = 1});
    auto client = Client::Impl::Make(config, {[transport] { return transport; }, &SystemClock(),
                                              [] { return std::uint64_t{0}; }, EmptyEnvironment()});
    const auto head = (*client)->Call(HeadObjectRequest{BucketName("b"), ObjectKey("k"), {}, {}});
    ASSERT_FALSE(head.ok());
    error = head.error();
  }
  EXPECT_EQ(error.kind, fault.kind) << error.ToString();
  EXPECT_FALSE(error.message.empty());
  EXPECT_TRUE(NoDescriptorLeft(open_before));
}

}  // namespace
}  // namespace penstock::s3
