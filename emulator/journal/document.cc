#include "emulator/journal/document.h"

#include <utility>

#include "emulator/journal/export.h"
#include "emulator/journal/journal.h"
#include "emulator/journal/query.h"

namespace penstock::emulator::journal {
namespace {

// Calls `look` with every entry of the document and its position in it.
template <class Look>
void ForEachOf(const Document& document, Look look) {
  std::uint64_t matches = 0;
  RequireFilter(document.filter);
  document.reading.ForEach([&](const JournalEntryView& entry) {
    if (!Matches(document.filter, entry)) return true;
    const std::uint64_t match = matches++;
    if (match < document.skip) return true;
    if (match - document.skip >= document.most) return false;
    look(entry, match - document.skip);
    return true;
  });
}

}  // namespace

Document EntriesDocument(JournalReading reading, JournalFilter filter, std::uint64_t dropped) {
  std::string begin = JsonObjectText({{"size", reading.size()},
                                      {"dropped", reading.dropped()},
                                      {"dropped_of_asked", dropped},
                                      {"last", reading.last()},
                                      {"generation", reading.generation()}});
  begin.pop_back();  // Remove the closing brace.
  return {.reading = std::move(reading),
          .filter = std::move(filter),
          .begin = begin + R"(,"entries":[)",
          .between = ",",
          .end = "]}",
          .text_of = [](const JournalEntryView& entry) { return LineOf(EntryJson(entry).root()); }};
}

Document LinesDocument(JournalReading reading, JournalFilter filter) {
  return {.reading = std::move(reading),
          .filter = std::move(filter),
          .text_of = [](const JournalEntryView& entry) {
            return LineOf(EntryJson(entry).root()) + "\n";
          }};
}

Document HarDocument(JournalReading reading, JournalFilter filter, std::string base_url) {
  const std::string creator = JsonObjectText({{"name", "penstock"}, {"version", PENSTOCK_VERSION}});
  return {.reading = std::move(reading),
          .filter = std::move(filter),
          .begin = R"({"log":{"version":"1.2","creator":)" + creator + R"(,"entries":[)",
          .between = ",",
          .end = "]}}",
          .text_of = [base_url = std::move(base_url)](const JournalEntryView& entry) {
            return LineOf(HarEntry(entry, base_url).root());
          }};
}

std::string DocumentText(const Document& document) {
  std::string text = document.begin;
  ForEachOf(document, [&](const JournalEntryView& entry, std::uint64_t place) {
    if (place > 0) text += document.between;
    text += document.text_of(entry);
  });
  return text + document.end;
}

std::vector<Piece> CutDocument(const Document& document, std::uint64_t bytes) {
  std::vector<Piece> pieces(1, Piece{.bytes = document.begin.size()});
  ForEachOf(document, [&](const JournalEntryView& entry, std::uint64_t place) {
    if (pieces.back().entries > 0 && pieces.back().bytes >= bytes) pieces.emplace_back();
    Piece& piece = pieces.back();
    if (piece.entries++ == 0) piece.first = entry.number;
    piece.bytes += document.text_of(entry).size() + (place > 0 ? document.between.size() : 0);
  });
  pieces.back().bytes += document.end.size();
  return pieces;
}

std::string PieceText(const Document& document, const std::vector<Piece>& pieces,
                      std::size_t index) {
  const Piece& piece = pieces[index];
  std::string text;
  text.reserve(piece.bytes);
  if (index == 0) text = document.begin;
  std::uint64_t made = 0;
  if (piece.entries > 0) {
    Journal::From(document.reading, piece.first).ForEach([&](const JournalEntryView& entry) {
      if (!Matches(document.filter, entry)) return true;
      if (made > 0 || index > 0) text += document.between;
      text += document.text_of(entry);
      return ++made < piece.entries;
    });
  }
  if (index + 1 == pieces.size()) text += document.end;
  return text;
}

}  // namespace penstock::emulator::journal
