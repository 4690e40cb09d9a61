// A simulated job and its report as JSON: what the command line and Python speak.
#ifndef PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_
#define PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_

#include <string>
#include <string_view>

#include "emulator/simulate/simulation.h"

namespace penstock::emulator::simulate {

// The job of penstock/simulate.h. kInvalidArgument names the member.
Result<Job> ParseJob(std::string_view json);

// The job's summary and the report; times in seconds, counts as they are.
std::string ReportJson(const Job& job, const Report& report);

}  // namespace penstock::emulator::simulate

#endif  // PENSTOCK_EMULATOR_SIMULATE_DOCUMENTS_H_
