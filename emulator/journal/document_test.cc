#include "emulator/journal/document.h"

#include <nlohmann/json.hpp>

#include "emulator/journal/export.h"
#include "emulator/journal/journal.h"
#include "gtest/gtest.h"

namespace penstock::emulator::journal {
namespace {

// 500 entries in several blocks; every second one is a GET.
Reading Filled() {
  Journal journal(1 << 20);
  for (int i = 0; i < 500; ++i) {
    const std::string key = std::string(400, 'k') + std::to_string(i);
    journal.Append(
        {.status = 200, .method = i % 2 == 0 ? "GET" : "PUT", .target = key, .key = key});
  }
  return journal.Read();
}

std::string Joined(const Document& document, const std::vector<Piece>& pieces) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string piece = PieceText(document, pieces, i);
    EXPECT_EQ(piece.size(), pieces[i].bytes) << i;
    text += piece;
  }
  return text;
}

TEST(DocumentTest, PiecesConcatenateToTheText) {
  const Reading reading = Filled();
  const JournalFilter gets{.method = "GET"};
  Document some = EntriesDocument(reading, gets, 7);
  some.skip = 3;
  some.most = 100;
  for (const Document& document :
       {EntriesDocument(reading, {}, 0), EntriesDocument(reading, gets, 7), some,
        LinesDocument(reading, gets), HarDocument(reading, {}, "http://h"),
        EntriesDocument(Reading(), {}, 0), LinesDocument(Reading(), {})}) {
    const std::string text = DocumentText(document);
    for (const std::uint64_t bytes : {1, 1'000, 10'000, 1'000'000})
      EXPECT_EQ(Joined(document, CutDocument(document, bytes)), text) << bytes;
  }
  EXPECT_GT(CutDocument(some, 10'000).size(), 5u);
  const auto json = nlohmann::json::parse(DocumentText(some));
  EXPECT_EQ(json.at("dropped_of_asked"), 7);
  ASSERT_EQ(json.at("entries").size(), 100u);
  EXPECT_EQ(json.at("entries")[0].at("number"), 7) << "the fourth GET request";
}

TEST(DocumentTest, PieceIsReproducible) {
  const Document document = LinesDocument(Filled(), {});
  const std::vector<Piece> pieces = CutDocument(document, 10'000);
  ASSERT_GT(pieces.size(), 3u);
  const std::string third = PieceText(document, pieces, 2);
  EXPECT_EQ(PieceText(document, pieces, 2), third);
  EXPECT_EQ(nlohmann::json::parse(third.substr(0, third.find('\n'))).at("number"), pieces[2].first);
}

TEST(DocumentTest, OnlyTheEntriesQuestionIsADocument) {
  const Reading reading = Filled();
  const auto newest = AskedEntries(reading, R"({"question": "entries", "newest": 2})");
  ASSERT_TRUE(newest.ok() && newest->has_value());
  EXPECT_EQ(nlohmann::json::parse(DocumentText(**newest)).at("entries")[0].at("number"), 499);
  EXPECT_FALSE(AskedEntries(reading, R"({"question": "count"})")->has_value());
  EXPECT_FALSE(AskedEntries(reading, R"([])")->has_value());
  EXPECT_NE(
      AskedEntries(reading, R"({"question": "entries", "first": 1})").error().message.find("first"),
      std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::journal
