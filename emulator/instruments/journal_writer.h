// Writes requests into the journal.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_

#include <memory>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::instruments {

// A handler that reports responses to the journal before they are sent. Readers of the journal wait
// for their entries, so a client that has received its response finds it in the journal. `next`
// must outlive the handler.
std::unique_ptr<s3::Handler> MakeInFlightTracker(s3::Handler& next);

// Appends an entry for a request whose response is about to end to the journal of its namespace.
// Does nothing if there is an entry or no journal.
void RecordEntry(s3::Exchange& exchange);
// Call at the end of a request. Appends an entry if there is none, and amends an entry that
// predicted another end.
void WriteEnd(const s3::Exchange& exchange);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_
