// Entries of a journal as one text, which can be made piece by piece: a large journal's text need
// never be in memory as a whole.
#ifndef PENSTOCK_EMULATOR_JOURNAL_DOCUMENT_H_
#define PENSTOCK_EMULATOR_JOURNAL_DOCUMENT_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/journal.h"

namespace penstock::emulator::journal {

// `filter` is one that CheckJournalFilter accepts.
struct Document {
  JournalReading reading = {};
  JournalFilter filter = {};
  // of the entries that the filter selects, the oldest
  std::uint64_t skip = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // of those behind them
  std::string begin = {};
  std::string between = {};
  std::string end = {};
  std::function<std::string(const JournalEntryView&)> text_of = {};
};

// {"size": ..., "entries": [...]}. `dropped`: its member dropped_of_asked.
Document EntriesDocument(JournalReading reading, JournalFilter filter, std::uint64_t dropped);
// The same for a question of JournalReading::AnswerJson; nullopt: it is not the question "entries".
// kInvalidArgument names the member.
Result<std::optional<Document>> AskedEntries(const JournalReading& reading,
                                             std::string_view question);
Document LinesDocument(JournalReading reading, JournalFilter filter);
Document HarDocument(JournalReading reading, JournalFilter filter, std::string base_url);

std::string DocumentText(const Document& document);

// A run of entries whose text can be made by itself.
struct Piece {
  std::uint64_t first = 0;  // number of its first entry
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

// At least one piece; each ends with the entry that brings it to `bytes`. Costs as much time as
// DocumentText.
std::vector<Piece> CutDocument(const Document& document, std::uint64_t bytes);
// The text of one of them. All together are DocumentText.
std::string PieceText(const Document& document, const std::vector<Piece>& pieces,
                      std::size_t index);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_DOCUMENT_H_
