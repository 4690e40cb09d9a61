// Questions to a journal as JSON (JournalReading::AnswerJson, ParseJournalFilter).
#ifndef PENSTOCK_EMULATOR_JOURNAL_QUESTION_H_
#define PENSTOCK_EMULATOR_JOURNAL_QUESTION_H_

#include <string>

#include "emulator/json/json_fields.h"
#include "penstock/journal.h"

namespace penstock::emulator::journal {

// `place`: of the filter in what it was given in. FieldError's.
Result<JournalFilter> FilterOf(const Json& json, const std::string& place);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_QUESTION_H_
