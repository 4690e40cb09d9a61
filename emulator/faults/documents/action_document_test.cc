#include "emulator/faults/documents/action_document.h"

#include <map>

#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

TimedAction Read(std::string_view json) {
  return ReadAction(ParseJson(json).value(), "do").value();
}
std::string Problem(std::string_view json) {
  return ReadAction(ParseJson(json).value(), "do").error().message;
}

template <class T>
T Action(std::string_view json) {
  return std::get<T>(Read(json).action);
}

TEST(ActionDocumentTest, ErrorStatusDefaultsToThatOfItsCode) {
  EXPECT_EQ(Action<ErrorAction>(R"({"error": {"code": "NoSuchKey"}})").status, 404);
  EXPECT_EQ(Action<ErrorAction>(R"({"error": {"code": "NoSuchKey", "status": 500}})").status, 500);
  EXPECT_EQ(Action<ErrorAction>(R"({"error": {}})").code, "InternalError");
  const auto error = Action<ErrorAction>(
      R"({"error": {"message": "m", "retry_after_ms": 7, "headers": {"a": "b"}, "body": "html",
    "close": true, "chunked": false}})");
  EXPECT_EQ(error.message, "m");
  EXPECT_EQ(error.retry_after, std::chrono::milliseconds(7));
  EXPECT_EQ(error.headers, (std::vector<std::pair<std::string, std::string>>{{"a", "b"}}));
  EXPECT_EQ(error.body, ErrorBody::kHtml);
  EXPECT_TRUE(error.close);
  EXPECT_EQ(error.chunked, false);
}

TEST(ActionDocumentTest, SlowDownMatchesS3) {
  const TimedAction timed = Read(R"({"slow_down": {}})");
  const auto& error = std::get<ErrorAction>(timed.action);
  EXPECT_EQ(error.status, 503);
  EXPECT_EQ(error.code, "SlowDown");
  EXPECT_TRUE(error.close);
  EXPECT_EQ(error.chunked, std::nullopt);
  EXPECT_EQ(timed.at.stage, Stage::kHeaders);
}

TEST(ActionDocumentTest, ReadsEveryOtherAction) {
  EXPECT_EQ(Action<LateErrorAction>(
                R"({"late_error": {"code": "SlowDown", "after_ms": 5, "every_ms": 2}})")
                .after.count(),
            5);
  EXPECT_EQ(Action<DropAction>(R"({"reset": {}})").kind, DropKind::kReset);
  EXPECT_EQ(Action<DropAction>(R"({"fin": {}})").kind, DropKind::kFin);
  EXPECT_EQ(Action<DropAction>(R"({"half_close": {}})").kind, DropKind::kHalfClose);
  EXPECT_EQ(Action<DropAction>(R"({"black_hole": {"ms": 9}})").hang.count(), 9);
  EXPECT_EQ(Action<StallAction>(R"({"stall": {"ms": 9}})").time.count(), 9);
  EXPECT_EQ(Action<PaceAction>(R"({"drip": {"bytes": 10, "every_ms": 100}})").bytes_per_second,
            100U);
  EXPECT_EQ(
      Action<PaceAction>(R"({"bandwidth": {"bytes_per_second": 90, "scope": "client"}})").scope,
      PaceAction::Scope::kClient);
  EXPECT_EQ(Action<LatencyAction>(R"({"latency": {"profile": "s3-standard"}})").profile,
            "s3-standard");
  const auto corrupt =
      Action<CorruptAction>(R"({"corrupt": {"mode": "zero", "length": 8, "fix_checksum": true}})");
  EXPECT_EQ(corrupt.kind, CorruptKind::kZero);
  EXPECT_EQ(corrupt.length, 8U);
  EXPECT_TRUE(corrupt.fix_checksum);
  EXPECT_EQ(Action<TruncateAction>(R"({"truncate": {"mode": "length-lie"}})").kind,
            TruncateAction::Kind::kLengthLie);
  EXPECT_EQ(Action<HeaderAction>(R"({"header_lie": {"drop": ["ETag"]}})").drop,
            std::vector<std::string>{"ETag"});
  EXPECT_EQ(
      Action<RedirectAction>(R"({"redirect": {"status": 301, "region": "eu-west-1"}})").region,
      "eu-west-1");
  EXPECT_EQ(Action<ContinueAction>(R"({"expect_100": {"mode": "late", "ms": 4}})").late.count(), 4);
  EXPECT_EQ(Action<CredentialsAction>(R"({"credentials": {"mode": "invalid-token"}})").kind,
            CredentialsAction::Kind::kInvalidToken);
  EXPECT_EQ(Action<SkewAction>(R"({"clock_skew": {"ahead_s": -1000}})").ahead.count(), -1'000'000);
}

TEST(ActionDocumentTest, ReadsStagesAndOffsets) {
  const std::map<std::string, Stage> stages{{"accept", Stage::kAccept},
                                            {"headers", Stage::kHeaders},
                                            {"body_in", Stage::kBodyIn},
                                            {"before_commit", Stage::kBeforeCommit},
                                            {"after_commit", Stage::kAfterCommit},
                                            {"status", Stage::kStatus},
                                            {"body_out", Stage::kBodyOut},
                                            {"trailer", Stage::kTrailer},
                                            {"close", Stage::kClose}};
  for (const auto& [name, stage] : stages)
    EXPECT_EQ(Read(R"({"reset": {}, "at": ")" + name + "\"}").at.stage, stage) << name;
  EXPECT_EQ(Read(R"({"stall": {"ms": 1}, "at": "body_in@100"})").at.offset, 100U);
}

TEST(ActionDocumentTest, ErrorsNameFieldAndFix) {
  EXPECT_EQ(
      Problem(R"({"reset": {}, "at": "body"})"),
      "do.at: 'body' is not a stage: expected one of accept, headers, body_in, before_commit, "
      "after_commit, status, body_out, trailer, close, or body_in@N or body_out@N for an offset of "
      "N bytes");
  EXPECT_EQ(Problem(R"({"reset": {}, "at": "status@5"})"),
            "do.at: 'status@5': only body_in and body_out accept @N, a number of bytes");
  EXPECT_EQ(Problem(R"({"corrupt": {}, "at": "headers"})"),
            "do.at: 'corrupt' cannot happen at 'headers'");
  EXPECT_EQ(Problem(R"({"reset": {}, "fin": {}})"),
            "do: has two actions; put each in a separate element of `do`");
  EXPECT_EQ(Problem(R"({"error": {"status": 99}})"), "do.error.status: must be 200 to 599, not 99");
  EXPECT_EQ(Problem(R"({"error": {"body": "yaml"}})"),
            "do.error.body: must be one of xml, empty, html, json, truncated-xml, not 'yaml'");
  EXPECT_EQ(Problem(R"({"error": {"headers": {"a": "b\r\nc: d"}}})"),
            "do.error.headers.a: must be a string without line breaks");
  for (const char* const name : {"Content-Length", "transfer-encoding", "Connection"}) {
    for (const char* const action : {"error", "slow_down"}) {
      const std::string problem =
          Problem("{\"" + std::string(action) + "\": {\"headers\": {\"" + name + "\": \"3\"}}}");
      EXPECT_TRUE(
          problem.starts_with("do." + std::string(action) + ".headers." + name + ": cannot be set"))
          << problem;
      EXPECT_NE(problem.find("header_lie"), std::string::npos) << problem;
    }
  }
  EXPECT_EQ(Problem(R"({"stall": {"ms": 3600001}})"),
            "do.stall.ms: must be at most 3600000 milliseconds, an hour, not 3600001");
  EXPECT_EQ(Problem(R"({"header_lie": {}})"),
            "do.header_lie: changes nothing: add set, drop or repeat");
  for (const char* const lie : {R"("set": {"Transfer-Encoding": "chunked"})",
                                R"("drop": ["connection"])", R"("repeat": ["Connection"])"}) {
    const std::string problem = Problem("{\"header_lie\": {" + std::string(lie) + "}}");
    EXPECT_NE(problem.find("cannot be changed"), std::string::npos) << problem;
  }
}

TEST(ActionDocumentTest, ContentLengthOfHeaderLieIsANumberThatIsSentAsGiven) {
  for (const std::string value :
       {"abc", "", "-1", "+5", " 5", "5 ", "1e3", "007", "5, 5", "18446744073709551616"}) {
    EXPECT_EQ(Problem(R"({"header_lie": {"set": {"Content-Length": ")" + value + R"("}}})"),
              "do.header_lie.set.Content-Length: must be a whole number from 0 to "
              "18446744073709551615, in decimal digits without leading zeros, not '" +
                  value + "'; to send none, use drop");
  }
  for (const std::string value : {"0", "5", "18446744073709551615"}) {
    EXPECT_EQ(
        Action<HeaderAction>(R"({"header_lie": {"set": {"content-length": ")" + value + R"("}}})")
            .set.front()
            .second,
        value);
  }
}

TEST(ActionDocumentTest, TextsOfErrorDocumentsHaveOnlyCharactersOfXml) {
  for (const std::string action : {"error", "slow_down", "late_error", "partial_failure"}) {
    for (const auto& [escape, name] : {std::pair("\\u0001", "U+0001"),
                                       {"\\u0000", "U+0000"},
                                       {"a\\u001fb", "U+001F"},
                                       {"\\ufffe", "U+FFFE"},
                                       {"\\uffff", "U+FFFF"}}) {
      EXPECT_EQ(Problem("{\"" + action + "\": {\"message\": \"" + escape + "\"}}"),
                "do." + action + ".message: contains " + name +
                    ", which XML 1.0 does not allow; remove it");
    }
    Read("{\"" + action + R"(": {"message": "tab\t line\r\n \u007f \ufffd \ud83d\ude00"}})");
  }
  for (const std::string action : {"error", "late_error", "partial_failure"}) {
    EXPECT_EQ(Problem("{\"" + action + R"(": {"code": "A\u0008"}})"),
              "do." + action + ".code: contains U+0008, which XML 1.0 does not allow; remove it");
  }
}

TEST(ActionDocumentTest, HeaderNamesAreTokens) {
  for (const std::string name : {"a b", "x:y", "", "\u00e4"}) {
    for (const std::string& text : {R"({"error": {"headers": {")" + name + R"(": "v"}}})",
                                    R"({"header_lie": {"set": {")" + name + R"(": "v"}}})",
                                    R"({"header_lie": {"drop": [")" + name + R"("]}})",
                                    R"({"header_lie": {"repeat": [")" + name + R"("]}})"}) {
      EXPECT_NE(Problem(text).find("'" + name + "' is not a header name"), std::string::npos)
          << Problem(text);
    }
  }
}

TEST(ActionDocumentTest, InvalidNumbersNameValidValues) {
  EXPECT_EQ(
      Problem(R"({"bandwidth": {"bytes_per_second": 18446744073709551615}})"),
      "do.bandwidth.bytes_per_second: must be at most 9007199254740991, not 18446744073709551615");
}

TEST(ActionDocumentTest, ValuesOutOfRangeNameTheField) {
  EXPECT_EQ(Problem(R"({"clock_skew": {"ahead_s": 1e9}})"),
            "do.clock_skew.ahead_s: must be a number of seconds, up to ten years (315360000) "
            "either way, not 1000000000.0");
  EXPECT_EQ(Problem(R"({"redirect": {"location": "a\nb"}})"),
            "do.redirect.location: must not have line breaks or bytes of value 0");
  EXPECT_EQ(Problem(R"({"redirect": {"status": 303}})"),
            "do.redirect.status: must be 301, 302 or 307, not 303");
}

TEST(ActionDocumentTest, StaleBytesReachTheEndByDefault) {
  EXPECT_EQ(Action<CorruptAction>(R"({"corrupt": {"mode": "stale-version"}})").length, 0U);
  EXPECT_EQ(Action<CorruptAction>(R"({"corrupt": {"mode": "stale-version", "length": 7}})").length,
            7U);
}

TEST(ActionDocumentTest, UnknownActionErrorListsAllActions) {
  const std::string problem = Problem(R"({"explode": {}})");
  for (const std::string_view name : ActionNames())
    EXPECT_NE(problem.find(name), std::string::npos) << name;
  EXPECT_TRUE(problem.starts_with("do: unknown action 'explode'; expected one of ")) << problem;
}

}  // namespace
}  // namespace penstock::emulator::faults
