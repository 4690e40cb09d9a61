// Writes requests into the journal of their namespace.
#ifndef PENSTOCK_EMULATOR_JOURNAL_JOURNAL_WRITER_H_
#define PENSTOCK_EMULATOR_JOURNAL_JOURNAL_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "emulator/journal/journal.h"
#include "emulator/s3/core/filter_chain.h"

namespace penstock::emulator::journal {

// The journal entry of a request.
struct EntryPlace final : message::Attachment {
  explicit EntryPlace(std::uint64_t in_flight_mark) : mark(in_flight_mark) {}
  std::uint64_t mark;            // Marks the request as in flight while the response is sent.
  std::uint64_t number = 0;      // Number of the entry. 0: not written yet.
  MonotonicTime ended{};         // The end time in the entry.
  std::size_t faults_bytes = 0;  // Size of the list of fired rules in the entry.
};

// Returns the journal of the request's namespace. Null: none.
using JournalOf = std::function<Journal*(const s3::Exchange& exchange)>;

// A filter that reports responses to the journal before they are sent. Readers of the journal wait
// for their entries, so a client that has received its response finds it in the journal.
std::unique_ptr<s3::Filter> MakeInFlightTracker(JournalOf journal_of);

// Appends an entry for a request whose response is about to end. Does nothing if there is an entry.
void RecordEntry(Journal& journal, s3::Exchange& exchange);
// Call at the end of a request. Appends an entry if there is none, and amends an entry that
// predicted another end.
void WriteEnd(Journal& journal, const s3::Exchange& exchange);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_JOURNAL_WRITER_H_
