#include "client/auth/canonical.h"

#include <gtest/gtest.h>

namespace penstock::auth {
namespace {

TEST(CanonicalQuery, SortsByNameNotByTheWholePair) {
  EXPECT_EQ(CanonicalQuery("Param-3=Value3&Param=Value2"), "Param=Value2&Param-3=Value3");
}

TEST(CanonicalQuery, SortsEqualNamesByValue) {
  EXPECT_EQ(CanonicalQuery("a=2&a=1&a"), "a=&a=1&a=2");
}

TEST(CanonicalQuery, ParametersWithoutAValueGetAnEqualsSign) {
  EXPECT_EQ(CanonicalQuery("acl"), "acl=");
}

TEST(CanonicalQuery, ReencodesEveryValue) {
  EXPECT_EQ(CanonicalQuery("prefix=a/b%2fc&x=~%7E"), "prefix=a%2Fb%2Fc&x=~~");
}

TEST(CanonicalQuery, PlusIsLiteral) { EXPECT_EQ(CanonicalQuery("a=b+c"), "a=b%2Bc"); }

TEST(CanonicalQuery, PercentThatEncodesNothingIsLiteral) {
  EXPECT_EQ(CanonicalQuery("a=5%"), "a=5%25");
}

TEST(CanonicalQuery, KeepsEqualsSignsInsideValues) {
  EXPECT_EQ(CanonicalQuery("t=a=="), "t=a%3D%3D");
}

TEST(CanonicalQuery, IgnoresEmptyPieces) { EXPECT_EQ(CanonicalQuery("&a=1&&"), "a=1"); }

TEST(CanonicalHeaderValue, TrimsAndCollapses) {
  EXPECT_EQ(CanonicalHeaderValue("  two   spaces \t"), "two spaces");
  EXPECT_EQ(CanonicalHeaderValue("a\n  b"), "a b");
  EXPECT_EQ(CanonicalHeaderValue("   "), "");
}

TEST(CanonicalHeaders, JoinsDuplicatesInWireOrder) {
  const CanonicalHeaders headers = CanonicalizeHeaders({{"B", "2"}, {"a", "x"}, {"b", "1"}});
  EXPECT_EQ(headers.lines, "a:x\nb:2,1\n");
  EXPECT_EQ(headers.names, "a;b");
}

TEST(CanonicalHeaders, OmitsHeadersThatAProxyMayChange) {
  const CanonicalHeaders headers = CanonicalizeHeaders({{"Host", "h"},
                                                        {"User-Agent", "u"},
                                                        {"Expect", "100-continue"},
                                                        {"Connection", "close"},
                                                        {"Transfer-Encoding", "chunked"},
                                                        {"X-Amzn-Trace-Id", "t"},
                                                        {"Authorization", "a"}});
  EXPECT_EQ(headers.names, "host");
}

TEST(CanonicalRequest, EmptyPathIsTheRoot) {
  EXPECT_EQ(CanonicalRequest("GET", "", "", {"host:h\n", "host"}, "E"),
            "GET\n/\n\nhost:h\n\nhost\nE");
}

}  // namespace
}  // namespace penstock::auth
