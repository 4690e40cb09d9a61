#include "emulator/message/errors.h"

#include <gtest/gtest.h>

namespace penstock::emulator::message {
namespace {

// Statuses that are easy to get wrong.
TEST(ErrorsTest, CodesHaveTheExpectedStatus) {
  const std::pair<const char*, int> cases[] = {{"NoSuchBucket", 404},
                                               {"SlowDown", 503},
                                               {"BucketNotEmpty", 409},
                                               {"InvalidRange", 416},
                                               {"BadDigest", 400},
                                               {"NotImplemented", 501},
                                               {"PermanentRedirect", 301},
                                               {"MissingContentLength", 411},
                                               {"InvalidPartNumber", 416},
                                               {"MethodNotAllowed", 405},
                                               {"PreconditionFailed", 412},
                                               {"InvalidObjectState", 403},
                                               {"RequestTimeTooSkewed", 403},
                                               {"ConditionalRequestConflict", 409},
                                               {"InternalError", 500}};
  for (const auto& [code, status] : cases) {
    EXPECT_EQ(MakeError(code).http_status, status) << code;
    EXPECT_FALSE(MakeError(code).message.empty()) << code;
  }
}

TEST(ErrorsTest, RecordedTextsAreExact) {
  EXPECT_EQ(MakeError("NoSuchBucket").message, "The specified bucket does not exist");
  EXPECT_EQ(MakeError("InvalidPart").message,
            "One or more of the specified parts could not be found.  The part may not have been "
            "uploaded, or the "
            "specified entity tag may not match the part's entity tag.");
  EXPECT_EQ(
      MakeError("MalformedXML").message,
      "The XML you provided was not well-formed or did not validate against our published schema");
}

TEST(ErrorsTest, UnknownCodesBecomeStatus500) { EXPECT_EQ(MakeError("Nonsense").http_status, 500); }

TEST(ErrorsTest, TheDocumentHasTheDetailsAsUtf8) {
  const std::string document =
      ErrorDocument("InvalidArgument", "m", {{"ArgumentValue", "a\xFF"}}, "ID0", "HOST");
  EXPECT_NE(document.find("<ArgumentValue>a\xEF\xBF\xBD</ArgumentValue><RequestId>ID0</RequestId>"),
            std::string::npos)
      << document;
}

}  // namespace
}  // namespace penstock::emulator::message
