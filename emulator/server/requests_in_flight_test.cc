// Requests in progress while their namespace is deleted or reset: over real sockets, in memory and
// with a data directory.
#include <gtest/gtest.h>

#include "emulator/server/server_fixture.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLarge = 20 << 20;  // more than socket buffers hold
constexpr std::size_t kChunk = 64 << 10;

enum class Ending { kDelete, kReset, kDeleteAndMakeAgain };

struct Case {
  bool in_directory;
  Ending ending;
};

class RequestsInFlightTest : public testing::TestWithParam<Case> {
 protected:
  RequestsInFlightTest()
      : emulator_(Emulator::Start(
                      {.data_directory = GetParam().in_directory ? folder_.path() + "/data" : ""})
                      .value()),
        key_(emulator_->CreateNamespace("suite").value()) {
    EXPECT_EQ(SendRequest("PUT", "/bucket").status, 200);
  }

  SignedRequest Signed(const std::string& method, const std::string& target,
                       const std::string& body = {}) const {
    return {.method = method,
            .target = target,
            .body = body,
            .access_key = key_.id,
            .secret = key_.secret,
            .more_headers = ""};
  }
  HttpResponse SendRequest(const std::string& method, const std::string& target,
                           const std::string& body = {}) const {
    return Send(emulator_->endpoint(), Signed(method, target, body));
  }
  std::string Text(const std::string& method, const std::string& target,
                   const std::string& body = {}) const {
    return SignedText(emulator_->endpoint(), Signed(method, target, body));
  }
  // Sends a request except its last bytes. Returns when the emulator has begun to process it.
  std::string SendMost(const Wire& wire, const std::string& text) const {
    const std::string before_body = text.substr(0, text.find("\r\n\r\n"));
    const std::string expecting = before_body + "\r\nExpect: 100-continue\r\n\r\n";
    const std::string body = text.substr(before_body.size() + 4);
    wire.Send(expecting);
    // The operation has begun and reads the body.
    EXPECT_EQ(wire.Receive(25), "HTTP/1.1 100 Continue\r\n\r\n");
    wire.Send(std::string_view(body).substr(0, body.size() - kChunk));
    return body.substr(body.size() - kChunk);
  }
  void End() {
    if (GetParam().ending == Ending::kReset) {
      ASSERT_TRUE(emulator_->ResetNamespace("suite").ok());
      return;
    }
    ASSERT_TRUE(emulator_->DeleteNamespace("suite").ok());
    if (GetParam().ending != Ending::kDeleteAndMakeAgain) return;
    const auto key = emulator_->CreateNamespace("suite");
    ASSERT_TRUE(key.ok()) << key.error().message;
    key_ = *key;
  }
  // A new namespace with that name must not have the bucket.
  void ExpectNothingThere() {
    if (GetParam().ending == Ending::kDelete) key_ = emulator_->CreateNamespace("suite").value();
    EXPECT_EQ(SendRequest("HEAD", "/bucket").status, 404);
    EXPECT_EQ(SendRequest("GET", "/").text.find("<Name>"), std::string::npos);
  }
  // Size of all files below the namespaces' directory.
  std::uintmax_t BytesOnDisk() const {
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path(), error)) {
      if (entry.is_regular_file(error)) bytes += entry.file_size(error);
    }
    return bytes;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<Emulator> emulator_;
  AccessKey key_;
};

TEST_P(RequestsInFlightTest, UploadCompletesInItsOriginalStore) {
  // Regression: the response was 500, because the directory was renamed during the upload.
  const Wire small(emulator_->endpoint());
  const Wire large(emulator_->endpoint());
  const std::string small_rest =
      SendMost(small, Text("PUT", "/bucket/small", std::string(2 * kChunk, 's')));
  const std::string large_rest =
      SendMost(large, Text("PUT", "/bucket/large", std::string(kLarge, 'l')));
  End();
  small.Send(small_rest);
  large.Send(large_rest);
  EXPECT_EQ(small.Finish().status, 200);
  EXPECT_EQ(large.Finish().status, 200);
  ExpectNothingThere();
}

TEST_P(RequestsInFlightTest, PartUploadCompletesInItsOriginalStore) {
  const std::string begun = SendRequest("POST", "/bucket/key?uploads=").text;
  const std::size_t at = begun.find("<UploadId>") + 10;
  const std::string upload = begun.substr(at, begun.find("</UploadId>") - at);
  const Wire wire(emulator_->endpoint());
  const std::string rest = SendMost(
      wire, Text("PUT", "/bucket/key?partNumber=1&uploadId=" + upload, std::string(6 << 20, 'p')));
  End();
  wire.Send(rest);
  EXPECT_EQ(wire.Finish().status, 200);
  ExpectNothingThere();
}

TEST_P(RequestsInFlightTest, DownloadIsComplete) {
  ASSERT_EQ(SendRequest("PUT", "/bucket/key", std::string(kLarge, 'x')).status, 200);
  const Wire wire(emulator_->endpoint());
  wire.Send(Text("GET", "/bucket/key"));
  const std::string begun = wire.Receive(kChunk);
  End();
  const std::string text = begun + wire.Receive(std::string::npos);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(text.size() - text.find("\r\n\r\n") - 4, kLarge);
  ExpectNothingThere();
}

TEST_P(RequestsInFlightTest, DiskSpaceIsFreedAfterTheLastRequest) {
  ASSERT_EQ(SendRequest("PUT", "/bucket/key", std::string(kLarge, 'x')).status, 200);
  {
    const Wire wire(emulator_->endpoint());
    const std::string rest = SendMost(wire, Text("PUT", "/bucket/other", std::string(kLarge, 'x')));
    End();
    wire.Send(rest);
    EXPECT_EQ(wire.Finish().status, 200);
  }
  emulator_->Stop();  // returns after the last request
  EXPECT_LT(BytesOnDisk(), kLarge);
}

std::string NameOf(const testing::TestParamInfo<Case>& info) {
  const char* const ending = info.param.ending == Ending::kDelete  ? "Deleted"
                             : info.param.ending == Ending::kReset ? "Reset"
                                                                   : "DeletedAndMadeAgain";
  return std::string(ending) + (info.param.in_directory ? "InADirectory" : "InMemory");
}
INSTANTIATE_TEST_SUITE_P(Endings, RequestsInFlightTest,
                         testing::Values(Case{false, Ending::kDelete}, Case{true, Ending::kDelete},
                                         Case{false, Ending::kReset}, Case{true, Ending::kReset},
                                         Case{false, Ending::kDeleteAndMakeAgain},
                                         Case{true, Ending::kDeleteAndMakeAgain}),
                         NameOf);

}  // namespace
}  // namespace penstock::emulator::server
