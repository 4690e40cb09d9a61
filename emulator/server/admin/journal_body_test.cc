#include "emulator/server/admin/journal_body.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "emulator/journal/journal.h"

namespace penstock::emulator::server {
namespace {

journal::Document Lines(int entries) {
  journal::Journal journal(4 << 20);
  const std::string key(700, 'k');
  for (int i = 0; i < entries; ++i)
    journal.Append({.status = 200, .method = "GET", .target = key, .key = key});
  return journal::LinesDocument(journal.Read(), {});
}

std::string Read(const store::Content& content) {
  std::string text;
  for (const store::ContentSlice& slice : content.slices) {
    const auto bytes = slice.blob->Memory();
    EXPECT_EQ(slice.range, (ByteRange{0, slice.blob->size()}));
    text += AsText(bytes->first(slice.range.end));
  }
  return text;
}

TEST(JournalBodyTest, ShortDocumentIsAStringAndNeedsNoPlace) {
  ConcurrencyLimit none(0);
  const journal::Document document = Lines(3);
  EXPECT_EQ(std::get<std::string>(JournalBody(document, none).value()), DocumentText(document));
}

TEST(JournalBodyTest, LongDocumentNeedsAPlaceUntilItIsSent) {
  ConcurrencyLimit one(1);
  const journal::Document document = Lines(1'000);
  {
    const AdminBody body = JournalBody(document, one).value();
    const auto& content = std::get<store::Content>(body);
    EXPECT_GT(content.slices.size(), 3u);
    EXPECT_EQ(content.size(), DocumentText(document).size());
    EXPECT_EQ(Read(content), DocumentText(document));
    EXPECT_EQ(Read(content), DocumentText(document)) << "second read";
    EXPECT_EQ(JournalBody(document, one).error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_TRUE(JournalBody(document, one).ok());
}

}  // namespace
}  // namespace penstock::emulator::server
