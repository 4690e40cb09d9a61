#include "emulator/s3/core/write_later.h"

#include <gtest/gtest.h>

#include "emulator/s3/core/testing.h"

namespace penstock::emulator::s3 {
namespace {

using testing::Harness;
using testing::Reply;

std::string Text(const Reply& reply) {
  std::string text =
      std::to_string(reply.status) + " " + reply.operation + (reply.close ? " close" : "");
  for (const auto& [name, value] : reply.headers) {
    text += "\n" + name + ": " + (name == "x-amz-version-id" ? "random" : value);
  }
  return text + "\n\n" + reply.body;
}

// Every operation that can respond later, with errors before and after the write.
TEST(WriteLaterTest, LateResponsesEqualImmediateResponses) {
  Harness now;
  Harness later;
  later.responds_asynchronously = true;
  std::string upload[2];
  int at = 0;
  for (Harness* s3 : {&now, &later}) {
    s3->Send("PUT /bucket");
    s3->Send("PUT /kept");
    s3->SetVersioning("kept", "Enabled");
    s3->Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
    upload[at++] = s3->Send("POST /bucket/parts?uploads").Element("UploadId");
  }
  const auto both = [&](const std::string& request, const std::string& body, bool is_late) {
    const int before = later.async_responses;
    const std::string part = "&uploadId=";
    const bool is_part = request.ends_with(part);
    const Reply first = now.Send(request + (is_part ? upload[0] : ""), body);
    EXPECT_EQ(Text(first), Text(later.Send(request + (is_part ? upload[1] : ""), body))) << request;
    EXPECT_EQ(later.async_responses - before, is_late ? 1 : 0) << request;
  };
  both("PUT /bucket/a", "hello", true);
  // 412, from inside the transaction.
  both("PUT /bucket/a\nIf-None-Match: *", "again", true);
  both("PUT /bucket/a\nIf-Match: \"nothing\"", "again", true);  // 412
  both("PUT /bucket/absent\nIf-Match: \"a\"", "again", true);   // 404
  both("PUT /nobucket/a", "hello", false);
  both("PUT /bucket/a\nContent-MD5: AAAAAAAAAAAAAAAAAAAAAA==", "hello", false);  // BadDigest
  both("PUT /kept/a\nx-amz-server-side-encryption: AES256\nx-amz-meta-a: 1", "hello", true);
  both("GET /bucket/a", "", false);
  both("HEAD /kept/a", "", false);
  both("PUT /bucket/parts?partNumber=1&uploadId=", "part", true);
  both("PUT /bucket/parts?partNumber=0&uploadId=", "part", false);
  both("DELETE /bucket/a", "", true);
  both("DELETE /bucket/a", "", true);  // 204 again
  both("DELETE /kept/a", "", true);    // a marker
  both("PUT /locked/a\nx-amz-object-lock-legal-hold: ON\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==",
       "hello", true);
  both("DELETE /kept/a?versionId=null", "", true);
  both("DELETE /kept/a?versionId=un known", "", false);
  both("GET /bucket/a", "", false);
}

TEST(WriteLaterTest, RespondsOnlyAfterTheCommit) {
  Harness s3;
  s3.Send("PUT /bucket");
  RequestHead head;
  head.method = "PUT";
  head.target = "/bucket/k";
  head.headers = {{"Content-Length", "2"}};
  testing::TextBody body("hi", 2, {});
  Connection connection;
  testing::QueuedResponse async;
  Exchange exchange{head, connection, &body};
  exchange.space = std::shared_ptr<Namespace>(&s3.space(), [](Namespace*) {});
  exchange.identity = s3.identity();
  exchange.target = *ParseTarget(head.target, "127.0.0.1:9000", HostRules::Default("us-east-1"));
  exchange.async = &async;
  const auto router = MakeRouter({});
  router->Handle(exchange);
  EXPECT_TRUE(exchange.pending);
  EXPECT_EQ(async.completions, 0);
  EXPECT_EQ(s3.Send("HEAD /bucket/k").status, 404);
  async.tasks.Pop()->Run();
  EXPECT_EQ(async.completions, 1);
  EXPECT_EQ(s3.Send("HEAD /bucket/k").status, 200);
  router->Finish(exchange);
  EXPECT_TRUE(exchange.response.Find("ETag"));
}

// A store without the memory to queue a write drops the completion.
TEST(WriteLaterTest, AWriteThatWasNotQueuedFails) {
  Harness s3;
  s3.Send("PUT /bucket");
  RequestHead head;
  testing::TextBody body("", 0, {});
  Connection connection;
  testing::QueuedResponse async;
  Exchange exchange{head, connection, &body};
  exchange.async = &async;
  const RouterOptions options;
  Call call{exchange, options, s3.store()};
  bool responded = false;
  struct Drop {
    Result<void> operator()() const { return Ok(); }
    void operator()(store::Async<void>) const {}
  };
  ASSERT_TRUE(WriteThenRespond<void>(call, Drop(), [&](Call&, Result<void>) -> Result<void> {
                responded = true;
                return Ok();
              }).ok());
  EXPECT_EQ(async.completions, 1);
  const Result<void> result = call.continuation(call);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_FALSE(responded);
}

}  // namespace
}  // namespace penstock::emulator::s3
