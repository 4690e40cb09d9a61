#include "client/http/text_source.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

TEST(TextSource, ReturnsTheTextInPiecesAndAgainAfterRewind) {
  TextSource source("hello");
  EXPECT_EQ(source.size(), 5u);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(AsText(source.Next(2)), "he");
    EXPECT_EQ(AsText(source.Next(100)), "llo");
    EXPECT_TRUE(source.Next(1).empty());
    source.Rewind();
  }
}

TEST(TextSource, EmptyTextHasNoBytes) {
  TextSource source("");
  EXPECT_EQ(source.size(), 0u);
  EXPECT_TRUE(source.Next(10).empty());
}

}  // namespace
}  // namespace penstock::http
