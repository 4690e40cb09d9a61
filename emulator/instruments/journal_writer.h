// What the journal is told of each request.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_

#include <memory>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::instruments {

// The Handler that tells the journal which answers begin to leave: whoever asks it waits for their
// entries, so that a client that has its answer finds it there. `next` outlives the handler.
std::unique_ptr<s3::Handler> MakeInFlightTracker(s3::Handler& next);

// Writes a request whose answer is about to end into its namespace's journal, once; nothing where
// there is none.
void RecordEntry(s3::Exchange& exchange);
// The request is over: one that is not written down is, and an entry that foretold another end is
// amended.
void WriteEnd(const s3::Exchange& exchange);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_
