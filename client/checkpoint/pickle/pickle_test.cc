#include "client/checkpoint/pickle/pickle.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::checkpoint {
namespace {

using namespace std::string_literals;

Result<PickleDocument> Read(const std::string& body) {
  static std::deque<std::string> kept;  // values are views into the pickle
  return PickleDocument::Read(kept.emplace_back("\x80\x02"s + body + "."));
}

TEST(PickleTest, ReadsPlainValues) {
  const auto document = Read(
      "(NK\x07J\xff\xff\xff\xffM\x34\x12\x8a\x02\x00\x80G\x3f\xf8\0\0\0\0\0\0X\x02\0\0\0hi\x88\x89t"s);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const auto items = document->items(document->root());
  ASSERT_EQ(items.size(), 9U);
  EXPECT_EQ(document->kind(items[0]), PickleKind::kNone);
  EXPECT_EQ(document->at(items[1]).number, 7);
  EXPECT_EQ(document->at(items[2]).number, -1);
  EXPECT_EQ(document->at(items[3]).number, 0x1234);
  EXPECT_EQ(document->at(items[4]).number, -32768);
  EXPECT_EQ(document->at(items[5]).real, 1.5);
  EXPECT_EQ(document->at(items[6]).text, "hi");
  EXPECT_EQ(document->at(items[7]).number, 1);
  EXPECT_EQ(document->at(items[8]).number, 0);
}

TEST(PickleTest, FindsTheLastOfEqualKeys) {
  const auto document = Read("}(X\x01\0\0\0aK\x01X\x01\0\0\0bK\x02X\x01\0\0\0aK\x03u"s);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->at(*document->Find(document->root(), "a")).number, 3);
  EXPECT_FALSE(document->Find(document->root(), "c").has_value());
}

TEST(PickleTest, NamesWhatIsCalledAndCallsNothing) {
  const auto document = Read("cos\nsystem\nX\x02\0\0\0ls\x85R"s);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->Callee(document->root()), "os.system");
  EXPECT_EQ(document->at(document->Arguments(document->root())[0]).text, "ls");
  EXPECT_EQ(document->Describe(document->root()), "a os.system");
  EXPECT_FALSE(document->State(document->root()).has_value());
}

TEST(PickleTest, ReadsObjectsWithStateAndNamesFromTheStack) {
  const auto document = Read(
      "\x8c\x01m\x8c\x01"
      "C\x93)\x81}\x8c\x01xK\x05sb"s);
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(document->Callee(document->root()), "m.C");
  const auto state = document->State(document->root());
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(document->at(*document->Find(*state, "x")).number, 5);
}

TEST(PickleTest, SharedValuesAndCyclesHaveOneIndex) {
  const auto document = Read("]q\0h\0a"s);  // a list that contains itself
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->items(document->root())[0], document->root());
}

TEST(PickleTest, OrderedAndDefaultDictsAreDicts) {
  for (const std::string& call : {"ccollections\nOrderedDict\n)R"s,
                                  "ccollections\ndefaultdict\nNN\x86\x30"
                                  "c__builtin__\nlist\n\x85R"s}) {
    const auto document = Read(call + "X\x01\0\0\0aK\x01s"s);
    ASSERT_TRUE(document.ok()) << document.error().message;
    EXPECT_EQ(document->at(*document->Find(document->root(), "a")).number, 1);
  }
}

TEST(PickleTest, RefusesOtherOpcodesProtocolsAndTrailingBytes) {
  EXPECT_EQ(Read("I5\n").error().kind, ErrorKind::kUnsupported);  // INT of protocol 0
  EXPECT_NE(Read("NI5\n").error().message.find("0x49 at byte 3"), std::string::npos);
  EXPECT_EQ(PickleDocument::Read("\x80\x06N.").error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(Read("N.N").error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(Read("NN").error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(Read("(N").error().kind, ErrorKind::kDataLoss);
  EXPECT_EQ(PickleDocument::Read("").error().kind, ErrorKind::kDataLoss);
}

TEST(PickleTest, RefusesOpcodesThatDoNotFitTheStack) {
  for (const std::string& body :
       {"t"s, "0"s, "(0"s, "NR"s, "K\1K\2R"s, "Q"s, "\x85"s, "(\x85"s, "N(Na"s, "Ns"s, "}(Nu"s,
        "]NNs"s, "b"s, "NNb"s, "q\0"s, "h\0"s, "Nr\xff\xff\xff\xff"s, "NN\x93"s}) {
    EXPECT_FALSE(Read(body).ok()) << body;
  }
}

TEST(PickleTest, LimitsTheNumberOfValues) {
  const std::string pickle = "\x80\x02("s + std::string(200, ')') + "t.";
  EXPECT_TRUE(PickleDocument::Read(pickle, {300}).ok());
  const auto refused = PickleDocument::Read(pickle, {100});
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("100"), std::string::npos);
}

TEST(PickleTest, LimitsNamesThatTheMemoMultiplies) {
  std::string pickle = "\x80\x02X\x00\x00\x01\x00"s + std::string(65536, 'm') + "q\0"s;
  for (int i = 0; i < 1000; ++i) pickle += "h\0h\0\x93"s;
  EXPECT_EQ(PickleDocument::Read(pickle + ".").error().kind, ErrorKind::kDataLoss);
}

TEST(PickleTest, NestingIsNotLimitedByTheStackOfTheThread) {
  EXPECT_TRUE(Read("N" + std::string(1'000'000, '\x85')).ok());
}

TEST(PickleTest, ReadsIntegersOfTuplesListsAndSizes) {
  const auto document = Read("(ctorch\nSize\nK\2K\3\x86\x85Rctorch\nSize\n)\x81K\4\x85NK\1\x86t"s);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const auto items = document->items(document->root());
  EXPECT_EQ(document->Integers(items[0]), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(document->Integers(items[1]), std::vector<std::int64_t>());
  EXPECT_EQ(document->Integers(items[2]), std::vector<std::int64_t>{4});
  EXPECT_FALSE(document->Integers(items[3]).has_value());
}

}  // namespace
}  // namespace penstock::checkpoint
