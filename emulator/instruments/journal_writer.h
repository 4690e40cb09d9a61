// What the journal is told of each request.
#ifndef PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_
#define PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_

#include <memory>

#include "emulator/api/exchange.h"

namespace penstock::emulator::instruments {

// The Handler that tells the journal which answers begin to leave: whoever asks it waits for their entries, so that a client
// that has its answer finds it there. `next` outlives the handler.
std::unique_ptr<api::Handler> MakeLeavingMarks(api::Handler& next);

// Writes a finished request into its namespace's journal; nothing where there is none. `now`: when its answer had left or
// failed.
void WriteDown(const api::Exchange& exchange, MonotonicTime now);

}  // namespace penstock::emulator::instruments

#endif  // PENSTOCK_EMULATOR_INSTRUMENTS_JOURNAL_WRITER_H_
