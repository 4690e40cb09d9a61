// Writes journal entries as one text. The text can be produced in pieces, so that a large journal's
// text is never in memory as a whole.
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

// A document to produce. CheckJournalFilter must accept `filter`.
struct Document {
  JournalReading reading = {};
  JournalFilter filter = {};
  // Of the entries that match the filter, skip the oldest `skip`.
  std::uint64_t skip = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // Then include at most so many.
  std::string begin = {};
  std::string between = {};
  std::string end = {};
  std::function<std::string(const JournalEntryView&)> text_of = {};
};

// {"size": ..., "entries": [...]}. `dropped`: the value of dropped_of_asked.
Document EntriesDocument(JournalReading reading, JournalFilter filter, std::uint64_t dropped);
// The same for a question of JournalReading::QueryJson. nullopt: the question is not "entries".
// Returns kInvalidArgument that names the member.
Result<std::optional<Document>> AskedEntries(const JournalReading& reading,
                                             std::string_view question);
Document LinesDocument(JournalReading reading, JournalFilter filter);
Document HarDocument(JournalReading reading, JournalFilter filter, std::string base_url);

std::string DocumentText(const Document& document);

// A run of entries whose text can be produced separately.
struct Piece {
  std::uint64_t first = 0;  // Number of its first entry.
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
};

// Divides a document into pieces, at least one. Each piece ends with the entry that reaches
// `bytes`. Takes as long as DocumentText.
std::vector<Piece> CutDocument(const Document& document, std::uint64_t bytes);
// Returns the text of one piece. The concatenation of all pieces is DocumentText.
std::string PieceText(const Document& document, const std::vector<Piece>& pieces,
                      std::size_t index);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_DOCUMENT_H_
