// The effect of each action on a request, byte for byte, over a raw socket.
#include "base/dates.h"
#include "emulator/server/faults_fixture.h"

namespace penstock::emulator::server {
namespace {

using std::string;

// The head of the object's response up to its framing, with ids and dates replaced.
const string kObjectHead =
    "HTTP/1.1 200 OK\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nDate: *\r\nLast-Modified: *\r\n"
    "ETag: \"781e5e245d69b566979b86e28d23f2c7\"\r\nAccept-Ranges: "
    "bytes\r\nx-amz-server-side-encryption: AES256\r\n"
    "Content-Type: binary/octet-stream\r\nServer: AmazonS3\r\n";
const string kSized = "Content-Length: 10\r\nConnection: close\r\n\r\n";
const string kChunks = "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";

string ErrorHead(const string& status, const string& type = "application/xml") {
  return "HTTP/1.1 " + status +
         "\r\nDate: *\r\nx-amz-request-id: *\r\nx-amz-id-2: *\r\nContent-Type: " + type + "\r\n";
}
// One chunk. Its size counts the 16 and 76 characters of the ids instead of the asterisks.
string Chunk(const string& text) {
  std::size_t size = text.size();
  if (text.find("<RequestId>*<") != string::npos) size += 15 + 75;
  char digits[20];
  std::snprintf(digits, sizeof digits, "%zx", size);
  return string(digits) + "\r\n" + text + "\r\n0\r\n\r\n";
}
string Document(const string& inner, const string& space = {}) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + space + "<Error>" + inner +
         "<RequestId>*</RequestId><HostId>*</HostId></Error>";
}
const string kInternal =
    "<Code>InternalError</Code><Message>We encountered an internal error. Please try "
    "again.</Message>";

struct Case {
  string action;
  string response;     // after Scrubbed
  bool reset = false;  // the response ends with RST
};

class FaultsOverTheWireTest : public FaultsTest {
 protected:
  // Sends a GET of the object for each case, in this order; each case fires once.
  void Check(const std::vector<Case>& cases) {
    for (const Case& one : cases) {
      SetAction(one.action);
      const ReceivedResponse response = Get();
      EXPECT_EQ(Scrubbed(response.text), one.response) << one.action;
      EXPECT_EQ(response.reset, one.reset) << one.action;
      EXPECT_EQ(Fired(), 1U) << one.action;
    }
  }
};

TEST_F(FaultsOverTheWireTest, ClockSkewChangesTheDateHeader) {
  struct Ahead {
    const char* now;
    int seconds;
    const char* date;
  };
  for (const Ahead& ahead :
       {Ahead{"2026-01-02T03:04:05Z", 86'400, "Sat, 03 Jan 2026 03:04:05 GMT"},
        Ahead{"2026-01-02T03:04:05Z", -7'200, "Fri, 02 Jan 2026 01:04:05 GMT"},
        Ahead{"2261-12-01T00:00:00Z", 315'360'000, "Thu, 10 Apr 2262 23:47:16 GMT"}}) {
    ASSERT_TRUE(
        emulator_->ChangeClock("default", {.now = ParseIso8601(ahead.now), .frozen = true}).ok());
    SetAction(R"({"clock_skew": {"ahead_s": )" + std::to_string(ahead.seconds) + "}}");
    const string text = Get().text;
    EXPECT_NE(text.find(string("\r\nDate: ") + ahead.date + "\r\n"), string::npos) << text;
    EXPECT_EQ(Fired(), 1U);
  }
}

TEST_F(FaultsOverTheWireTest, ErrorsMatchS3) {
  const string slow =
      ErrorHead("503 Slow Down") + "Server: AmazonS3\r\n" + kChunks +
      Chunk(Document("<Code>SlowDown</Code><Message>Please reduce your request rate.</Message>"));
  const string missing = ErrorHead("404 Not Found") + "Server: AmazonS3\r\n" + kChunks +
                         Chunk(Document("<Code>NoSuchKey</Code><Message>The specified key does not "
                                        "exist.</Message><Key>key</Key>"));
  Check(
      {{R"({"slow_down": {}})", slow},
       {R"({"slow_down": {}, "at": "after_commit"})", slow},
       {R"({"error": {"code": "NoSuchKey"}})", missing},
       {R"({"error": {"code": "NoSuchKey"}, "at": "headers"})", missing},
       {R"({"error": {"status": 599, "code": "Odd", "message": "m", "headers": {"a": "b"}, "retry_after_ms": 7}})",
        ErrorHead("599 Unknown") + "x-amz-retry-after: 7\r\na: b\r\nServer: AmazonS3\r\n" +
            kChunks + Chunk(Document("<Code>Odd</Code><Message>m</Message>"))}});
}

TEST_F(FaultsOverTheWireTest, ErrorsMayHaveOtherBodies) {
  const string status = "500 Internal Server Error";
  const string whole = Document(kInternal);
  Check(
      {{R"({"error": {"body": "empty"}})",
        "HTTP/1.1 500 Internal Server Error\r\nDate: *\r\nx-amz-request-id: *\r\nx-amz-id-2: "
        "*\r\nServer: AmazonS3\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n"},
       {R"({"error": {"body": "empty", "chunked": true}})",
        "HTTP/1.1 500 Internal Server Error\r\nDate: *\r\nx-amz-request-id: *\r\nx-amz-id-2: "
        "*\r\nServer: AmazonS3\r\n" +
            kChunks + "0\r\n\r\n"},
       {R"({"error": {"body": "html", "chunked": false}})",
        ErrorHead(status, "text/html") +
            "Server: AmazonS3\r\nContent-Length: 103\r\nConnection: "
            "close\r\n\r\n<html>\n<head><title>500 InternalError</title></head>\n"
            "<body>\n<h1>500 InternalError</h1>\n</body>\n</html>\n"},
       {R"({"error": {"body": "json"}})",
        ErrorHead(status, "application/json") + "Server: AmazonS3\r\n" + kChunks +
            Chunk(
                R"({"code":"InternalError","message":"We encountered an internal error. Please try again."})")},
       {R"({"error": {"body": "truncated-xml"}})",
        ErrorHead(status) + "Server: AmazonS3\r\n" + kChunks +
            Chunk(whole.substr(0, (whole.size() + 90) / 2))}});
}

TEST_F(FaultsOverTheWireTest, LateErrorIsInsideASuccessResponse) {
  Check({{R"({"late_error": {}})",
          ErrorHead("200 OK") + "Server: AmazonS3\r\n" + kChunks + Chunk(Document(kInternal))},
         {R"({"late_error": {"after_ms": 3, "every_ms": 1}})",
          ErrorHead("200 OK") + "Server: AmazonS3\r\n" + kChunks +
              Chunk(Document(kInternal, "   "))}});
}

TEST_F(FaultsOverTheWireTest, ConnectionsEndAtTheGivenStage) {
  const string head = kObjectHead + kSized;
  for (const string stage : {"headers", "before_commit", "after_commit"}) {
    Check({{R"({"reset": {}, "at": ")" + stage + "\"}", "", true},
           {R"({"fin": {}, "at": ")" + stage + "\"}", ""},
           {R"({"half_close": {}, "at": ")" + stage + "\"}", ""},
           {R"({"black_hole": {"ms": 1}, "at": ")" + stage + "\"}", ""}});
  }
  Check({{R"({"reset": {}, "at": "status"})", head, true},
         {R"({"fin": {}, "at": "status"})", head},
         {R"({"half_close": {}, "at": "body_out@4"})", head + "0123"},
         {R"({"black_hole": {"ms": 1}, "at": "body_out@9"})", head + "012345678"},
         {R"({"fin": {}, "at": "trailer"})", head + "0123456789"},
         {R"({"reset": {}, "at": "close"})", head + "0123456789", true}});
}

TEST_F(FaultsOverTheWireTest, PausesAndPacesChangeNoBytes) {
  const string whole = kObjectHead + kSized + "0123456789";
  for (const string at :
       {"headers", "before_commit", "after_commit", "status", "body_out@5", "trailer", "close"}) {
    Check({{R"({"stall": {"ms": 2}, "at": ")" + at + "\"}", whole}});
  }
  for (const string at : {"headers", "before_commit", "after_commit"}) {
    Check({{R"({"latency": {"median_ms": 1, "sigma": 0.5}, "at": ")" + at + "\"}", whole}});
  }
  Check({{R"({"drip": {"bytes": 3, "every_ms": 1}})", whole},
         {R"({"latency": {"min_ms": 1, "max_ms": 2}})", whole}});
  for (const string scope : {"request", "connection", "client", "bucket", "server"}) {
    Check({{R"({"bandwidth": {"bytes_per_second": 5000, "scope": ")" + scope + "\"}}", whole}});
  }
}

TEST_F(FaultsOverTheWireTest, CorruptsTheGivenBytes) {
  const string head = kObjectHead + kSized;
  Check({{R"({"corrupt": {}, "at": "body_out@2"})", head + "0133456789"},
         {R"({"corrupt": {"mode": "zero", "length": 2}, "at": "body_out@8"})",
          head + "01234567" + string(2, '\0')},
         {R"({"corrupt": {"mode": "repeat-block", "length": 3}, "at": "body_out@3"})",
          head + "0120126789"},
         {R"({"corrupt": {"mode": "repeat-block", "length": 3}})", head + "3453456789"},
         {R"({"corrupt": {"mode": "swap-halves", "length": 4}, "at": "body_out@1"})",
          head + "0341256789"}});
  EXPECT_TRUE(
      (SetAction(R"({"header_lie": {"set": {"a": "b"}}})"), Get().text.ends_with("0123456789")))
      << "the stored object must not change";
}

TEST_F(FaultsOverTheWireTest, CorruptBytesMayHaveMatchingChecksums) {
  SetAction(R"({"corrupt": {"fix_checksum": true}})");
  const string response = Get("x-amz-checksum-mode: ENABLED\r\n").text;
  EXPECT_TRUE(response.ends_with("\r\n\r\n1123456789")) << response;
  // Python: hashlib.md5(b"1123456789").hexdigest()
  EXPECT_NE(response.find("ETag: \"5c2ac85eb3834d3adb2289aa92f60457\""), string::npos) << response;
}

TEST_F(FaultsOverTheWireTest, TruncatesBodies) {
  Check({{R"({"truncate": {}, "at": "body_out@5"})", kObjectHead + kSized + "01234"},
         {R"({"truncate": {"mode": "reset"}, "at": "body_out@5"})", kObjectHead + kSized + "01234",
          true},
         {R"({"truncate": {"mode": "length-lie"}, "at": "body_out@5"})",
          kObjectHead + "Content-Length: 5\r\nConnection: close\r\n\r\n01234"},
         {R"({"truncate": {"mode": "no-terminator"}, "at": "body_out@5"})",
          kObjectHead + kChunks + "5\r\n01234"}});
}

TEST_F(FaultsOverTheWireTest, ChangesHeaders) {
  SetAction(
      R"({"header_lie": {"set": {"ETag": "\"x\"", "Content-Length": "12"}, "drop": ["Date", "server"],
                               "repeat": ["Accept-Ranges"]}})");
  EXPECT_EQ(Scrubbed(Get().text),
            "HTTP/1.1 200 OK\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nLast-Modified: *\r\nETag: "
            "\"x\"\r\nAccept-Ranges: bytes\r\n"
            "x-amz-server-side-encryption: AES256\r\nContent-Type: "
            "binary/octet-stream\r\nAccept-Ranges: bytes\r\n"
            "Content-Length: 12\r\nConnection: close\r\n\r\n0123456789");
  EXPECT_EQ(Fired(), 1U);
}

TEST_F(FaultsOverTheWireTest, RedirectsAndRejectsCredentials) {
  const string again =
      "Please re-send this request to the specified temporary endpoint. Continue to use the "
      "original request endpoint for "
      "future requests.";
  Check({{R"({"redirect": {"region": "eu-west-1"}})",
          "HTTP/1.1 307 Temporary Redirect\r\nDate: *\r\nx-amz-request-id: *\r\nx-amz-id-2: "
          "*\r\nx-amz-bucket-region: eu-west-1\r\n"
          "Content-Type: application/xml\r\nLocation: http://localhost/bucket/key\r\nServer: "
          "AmazonS3\r\n" +
              kChunks +
              Chunk(Document("<Code>TemporaryRedirect</Code><Message>" + again +
                             "</Message><Endpoint>s3.eu-west-1.amazonaws.com</"
                             "Endpoint><Bucket>bucket</Bucket>"))},
         {R"({"credentials": {"mode": "expired"}})",
          ErrorHead("400 Bad Request") + "Server: AmazonS3\r\n" + kChunks +
              Chunk(Document("<Code>ExpiredToken</Code><Message>The provided token has "
                             "expired.</Message><Token-0></Token-0>"))},
         {R"({"credentials": {"mode": "invalid-token"}})",
          ErrorHead("400 Bad Request") + "Server: AmazonS3\r\n" + kChunks +
              Chunk(Document("<Code>InvalidToken</Code><Message>The provided token is malformed or "
                             "otherwise invalid.</Message>"
                             "<Token-0></Token-0>"))},
         {R"({"credentials": {"mode": "invalid-key"}})",
          ErrorHead("403 Forbidden") + "Server: AmazonS3\r\n" + kChunks +
              Chunk(Document("<Code>InvalidAccessKeyId</Code><Message>The AWS Access Key Id you "
                             "provided does not exist in our records."
                             "</Message><AWSAccessKeyId></AWSAccessKeyId>"))},
         {R"({"credentials": {"mode": "revoked-session"}})",
          ErrorHead("403 Forbidden") + "Server: AmazonS3\r\n" + kChunks +
              Chunk(Document("<Code>AccessDenied</Code><Message>Access Denied</Message>"))}});
}

TEST_F(FaultsOverTheWireTest, MisleadsClientsThatExpect100Continue) {
  const string head =
      "PUT /bucket/new HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: "
      "100-continue\r\nContent-Length: 3\r\n\r\n";
  SetAction(R"({"expect_100": {"mode": "refuse"}})");
  EXPECT_EQ(Scrubbed(Send(head).text),
            "HTTP/1.1 417 Expectation Failed\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nDate: "
            "*\r\nServer: AmazonS3\r\n"
            "Content-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(Fired(), 1U);
  for (const string action :
       {R"({"expect_100": {"mode": "never"}})", R"({"expect_100": {"mode": "late", "ms": 2}})"}) {
    SetAction(action);
    const Wire wire(emulator_->endpoint());
    wire.Send(head);
    const bool never = action.find("never") != string::npos;
    if (!never) {
      EXPECT_EQ(wire.Receive(25), "HTTP/1.1 100 Continue\r\n\r\n");
    }
    wire.Send("abc");
    EXPECT_TRUE(wire.Finish().text.starts_with("HTTP/1.1 200 OK\r\n")) << action;
    EXPECT_EQ(Fired(), 1U) << action;
  }
  SetAction(R"({"expect_100": {"mode": "refuse"}})");
  EXPECT_EQ(Get().status(), 200);
  EXPECT_EQ(Fired(), 0U) << "requests without Expect are not affected";
}

TEST_F(FaultsOverTheWireTest, FaultsDuringTheRequestBody) {
  for (const string action : {R"({"stall": {"ms": 1}, "at": "body_in@3"})",
                              R"({"drip": {"bytes": 4, "every_ms": 1}, "at": "body_in"})",
                              R"({"bandwidth": {"bytes_per_second": 9000}, "at": "body_in"})",
                              R"({"stall": {"ms": 1}, "at": "body_in@10"})"}) {
    SetAction(action);
    EXPECT_EQ(SendRequest("PUT", "/bucket/key", "0123456789").status(), 200) << action;
    EXPECT_EQ(Fired(), 1U) << action;
  }
  SetAction(R"({"slow_down": {}, "at": "body_in@11"})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "0123456789").status(), 200);
  EXPECT_EQ(Fired(), 0U) << "the body never reached that offset";
}

TEST_F(FaultsOverTheWireTest, FaultsBeforeTheCommitPreventItAndLaterOnesDoNot) {
  for (const string at : {"headers", "body_in@2", "body_in@3", "before_commit", "after_commit"}) {
    for (const string action : {R"("error": {})", R"("slow_down": {})", R"("reset": {})",
                                R"("fin": {})", R"("redirect": {})"}) {
      SetAction("{" + action + R"(, "at": ")" + at + "\"}");
      const ReceivedResponse response = SendRequest("PUT", "/bucket/" + at, "abc");
      EXPECT_NE(response.status(), 200) << action << at;
      EXPECT_EQ(Fired(), 1U) << action << at;
      ASSERT_TRUE(emulator_->ClearFaults("default").ok());
      EXPECT_EQ(SendRequest("DELETE", "/bucket/" + at + "?x=1").status(), 204);
    }
  }
  SetAction(R"({"slow_down": {}, "at": "after_commit"})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/lost", "abc").status(), 503);
  SetAction(R"({"slow_down": {}, "at": "before_commit"})");
  EXPECT_EQ(SendRequest("PUT", "/bucket/never", "abc").status(), 503);
  ASSERT_TRUE(emulator_->ClearFaults("default").ok());
  EXPECT_EQ(SendRequest("GET", "/bucket/lost").status(), 200)
      << "the response was lost, not the object";
  EXPECT_EQ(SendRequest("GET", "/bucket/never").status(), 404);
}

TEST_F(FaultsOverTheWireTest, AfterCommitActionNeedsACommittingOperation) {
  Set(R"([{"do": {"slow_down": {}, "at": "after_commit"}, "when": {"operation": "ListBuckets"}}])");
  EXPECT_EQ(Get().status(), 200);
  EXPECT_EQ(Fired(), 0U);
}

TEST_F(FaultsOverTheWireTest, AfterCommitActionNeedsASuccess) {
  Set(R"([{"id": "lost", "do": {"reset": {}, "at": "after_commit"}, "limit": {"times": 1}}])");
  EXPECT_EQ(SendRequest("PUT", "/bucket/key", "abc", "If-None-Match: *\r\n").status(), 412);
  EXPECT_EQ(SendRequest("GET", "/bucket/none").status(), 404);
  EXPECT_EQ(SendRequest("HEAD", "/bucket/none").status(), 404);
  EXPECT_EQ(SendRequest("PUT", "/BAD").status(), 400);
  EXPECT_EQ(SendRequest("DELETE", "/bucket/key?uploadId=none").status(), 404);
  EXPECT_EQ(Fired(), 0U) << "nothing was committed";
  EXPECT_TRUE(SendRequest("PUT", "/bucket/new", "abc", "If-None-Match: *\r\n").reset);
  EXPECT_EQ(Fired(), 1U);
  EXPECT_EQ(SendRequest("GET", "/bucket/new").status(), 200);
}

TEST_F(FaultsOverTheWireTest, SomeEntriesOfADeleteObjectsRequestFail) {
  for (const string key : {"a", "b"}) SendRequest("PUT", "/bucket/" + key, "x");
  SetAction(R"({"partial_failure": {"code": "SlowDown", "key": ["b", "key"], "most": 1}})");
  const string document =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DeleteResult "
      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Deleted><Key>a</Key></Deleted>"
      "<Error><Key>b</Key><Code>SlowDown</Code><Message>Please reduce your request "
      "rate.</Message></Error><Deleted><Key>key</Key></Deleted>"
      "</DeleteResult>";
  EXPECT_EQ(Scrubbed(DeleteThree().text),
            "HTTP/1.1 200 OK\r\nx-amz-id-2: *\r\nx-amz-request-id: *\r\nDate: *\r\nContent-Type: "
            "application/xml\r\nServer: AmazonS3\r\n"
            "Content-Length: " +
                std::to_string(document.size()) + "\r\nConnection: close\r\n\r\n" + document);
  EXPECT_EQ(Fired(), 1U);
  EXPECT_EQ(SendRequest("GET", "/bucket/a").status(), 404);
  EXPECT_EQ(SendRequest("GET", "/bucket/b").status(), 200)
      << "the failed entry must not be deleted";
  EXPECT_EQ(Get().status(), 404);
  SetAction(R"({"partial_failure": {"key": "c"}})");
  EXPECT_EQ(DeleteThree().status(), 200);
  EXPECT_EQ(SendRequest("DELETE", "/bucket/c").status(), 204);
  EXPECT_EQ(Fired(), 0U) << "no entry was selected, and one object is not a batch";
}

TEST_F(FaultsOverTheWireTest, AppliesFaultsBeforeTheFirstByte) {
  Set(R"([{"do": {"reset": {}, "at": "accept"}, "limit": {"times": 1}}, {"do": {"fin": {}, "at": "accept"}, "limit": {"times": 1}}])");
  EXPECT_TRUE(Send("").reset);
  const ReceivedResponse second = Send("");
  EXPECT_FALSE(second.reset);
  EXPECT_EQ(second.text, "");
  EXPECT_EQ(Get().status(), 200);
  EXPECT_EQ(Fired(), 2U);
  SetAction(R"({"goaway": {"requests": 1}})");
  const Wire wire(emulator_->endpoint());
  wire.Send("GET /bucket/key HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(wire.Finish().text.find("Connection: close\r\n"), string::npos)
      << "the connection must close without a request for it";
  SetAction(R"({"connection_limit": {"most": 0}})");
  EXPECT_TRUE(Send("").reset);
}

}  // namespace
}  // namespace penstock::emulator::server
