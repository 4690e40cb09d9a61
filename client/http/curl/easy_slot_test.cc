#include "client/http/curl/easy_slot.h"

#include <gtest/gtest.h>

#include "client/http/body_for_test.h"
#include "client/http/curl/curl_global.h"

namespace penstock::http {
namespace {

class EasySlotTest : public ::testing::Test {
 protected:
  EasySlotTest() {
    InitCurl();
    slot_ = EasySlot::Create(options_, nullptr);
    transfer_.request.method = "GET";
    transfer_.request.endpoint = {"http", "::1", 9000};
    transfer_.request.target = "/b/k?x=1";
    transfer_.request.headers = {{"Host", "h"}};
  }
  Result<void> Load() { return slot_->Load(transfer_, options_, nullptr); }
  std::vector<std::string> HeaderLines() const {
    std::vector<std::string> lines;
    for (const curl_slist* node = slot_->header_nodes.data(); node != nullptr; node = node->next) {
      lines.emplace_back(node->data);
    }
    return lines;
  }

  const HttpTransportOptions options_;
  std::unique_ptr<EasySlot> slot_;
  Transfer transfer_;
};

TEST_F(EasySlotTest, UrlContainsAuthorityAndTarget) {
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(slot_->url, "http://[::1]:9000/b/k?x=1");
  EXPECT_EQ(slot_->transfer, &transfer_);
  EXPECT_EQ(transfer_.slot, slot_.get());
}

TEST_F(EasySlotTest, SuppressesHeadersThatLibcurlWouldAdd) {
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(HeaderLines(), (std::vector<std::string>{"Host: h", "Accept:", "Expect:"}));
}

TEST_F(EasySlotTest, KeepsGivenExpectAndAccept) {
  transfer_.request.headers = {
      {"Host", "h"}, {"Expect", "100-continue"}, {"Accept", "text/xml"}, {"Empty", ""}};
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(HeaderLines(), (std::vector<std::string>{"Host: h", "Expect: 100-continue",
                                                     "Accept: text/xml", "Empty;"}));
}

TEST_F(EasySlotTest, LargeUploadsLeaveExpectToLibcurl) {
  TextBody body(std::string(options_.expect_continue_from_bytes, 'x'));
  transfer_.request.method = "PUT";
  transfer_.request_body = &body;
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(HeaderLines(), (std::vector<std::string>{"Host: h", "Accept:"}));
}

TEST_F(EasySlotTest, RejectsRequestSplittingAndSmuggling) {
  transfer_.request.headers.push_back({"A\r\nB", "x"});
  EXPECT_EQ(Load().error().kind, ErrorKind::kInvalidArgument);
  transfer_.request.headers = {{"Host", "h"}};
  transfer_.request.method = "GET / HTTP/1.1\r\nX:";
  EXPECT_EQ(Load().error().kind, ErrorKind::kInvalidArgument);
  transfer_.request.method = "GET";
  transfer_.request.endpoint.port = 0;
  EXPECT_EQ(Load().error().kind, ErrorKind::kInvalidArgument);
}

TEST_F(EasySlotTest, BadTargetIsReportedByOffsetOnly) {
  transfer_.request.target = "/k?X-Amz-Signature=secret x";
  const Result<void> loaded = Load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message.find("secret"), std::string::npos);
  EXPECT_NE(loaded.error().message.find("offset 25"), std::string::npos) << loaded.error().message;
}

}  // namespace
}  // namespace penstock::http
