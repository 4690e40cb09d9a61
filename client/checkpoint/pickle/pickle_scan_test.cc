#include "client/checkpoint/pickle/pickle_scan.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::checkpoint {
namespace {

using std::string_literals::operator""s;

TEST(PickleScanTest, AcceptsEveryKindOfArgument) {
  // The opcodes of pickle.dumps([{"a": (1, 300, 70000, 1.5, b"x", None)}], protocol) and older
  // ones.
  for (const std::string& pickle : {
           "\x80\x02]q\x00}q\x01X\x01\x00\x00\x00"
           "aq\x02(K\x01M,\x01Jp\x11\x01\x00G?\xf8\0\0\0\0\0\0C\x01xNtq\x03sa."s,
           "(lp0\n(dp1\nVa\np2\nI1\nsa."s,
           "\x80\x04\x95\x03\0\0\0\0\0\0\0\x8c\x01"
           "a\x94."s,
           "\x8a\x02\x00\x01\x8b\x01\x00\x00\x00\x07\x96\x01\0\0\0\0\0\0\0z."s,
           "cos\nsystem\n."s,
           ""s,
       }) {
    EXPECT_TRUE(ScanPickle(pickle).ok()) << ScanPickle(pickle).error().message;
  }
}

TEST(PickleScanTest, RefusesLengthsBeyondThePickle) {
  for (const std::string& pickle : {
           "\x80\x04\x8e\0\0\0\0\0\x01\0\0abc."s,
           "\x80\x04\x96\0\0\0\0\x02\0\0\0abc."s,
           "\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
           "abc."s,
           "\x80\x04"
           "B\xff\xff\xff\x7f"
           "abc."s,
           "C\x04"
           "abc"s,
           "J\x01\x02\x03"s,
           "cabc\n"s,
           "Vabc"s,
           "\x80"s,
       }) {
    const auto scanned = ScanPickle(pickle);
    ASSERT_FALSE(scanned.ok());
    EXPECT_EQ(scanned.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(scanned.error().message.find("is a pickle that ends inside the opcode at byte "),
              std::string::npos);
  }
}

TEST(PickleScanTest, RefusesMemoIndicesBeyondTheObjectsBefore) {
  for (const std::string& pickle : {"\x80\x04]r\xff\xff\xff\x0e."s, "]p251658239\n."s,
                                    "]p +2516_58239 \n."s, "]p99999999999999999999999\n."s}) {
    const auto scanned = ScanPickle(pickle);
    ASSERT_FALSE(scanned.ok()) << pickle;
    EXPECT_NE(scanned.error().message.find("under the memo index"), std::string::npos);
  }
  EXPECT_TRUE(ScanPickle("]r\x01\0\0\0."s).ok());
}

TEST(PickleScanTest, EndsAtTheEndOfThePickle) {
  EXPECT_TRUE(ScanPickle("N.]r\xff\xff\xff\x0e"s).ok());
  EXPECT_TRUE(ScanPickle("N\xff]r\xff\xff\xff\x0e"s).ok()) << "the unpickler refuses the opcode";
}

}  // namespace
}  // namespace penstock::checkpoint
