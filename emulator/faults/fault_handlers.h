// The Handlers that carry out what the rules of a namespace, a retry test or a request itself ask
// for.
//
// One stands before auth and one between auth and the router: what happens before the commit of an
// operation must know that its body has been verified.
#ifndef PENSTOCK_EMULATOR_FAULTS_FAULT_HANDLERS_H_
#define PENSTOCK_EMULATOR_FAULTS_FAULT_HANDLERS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "emulator/faults/fault_registry.h"
#include "emulator/faults/pauses.h"
#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::faults {

struct FaultHandlerOptions {
  // null where the namespace has none
  FaultRegistry* (*desk_of)(const s3::Exchange& exchange) = nullptr;
  // The partition that has a request's key (Facts::partition_of); null: rules that name one are met
  // by nobody.
  std::optional<std::uint64_t> (*partition_of)(const s3::Exchange& exchange) = nullptr;
  Pauses* pauses = nullptr;  // shared by both; outlives them
  bool by_header = true;     // false: a request that brings faults of its own is refused
};

// Asks which rules a request meets, by the namespace that exchange.space names already. A request
// may bring rules of its own in x-penstock-fault, looked at before the others, and name a retry
// test in x-penstock-retry-test, which it then meets instead of the namespace's scenario. What
// cannot be understood is refused with InvalidArgument. `next` outlives the handler.
std::unique_ptr<s3::Handler> MakeFaults(const FaultHandlerOptions& options, s3::Handler& next);

// For requests that MakeFaults has let through.
std::unique_ptr<s3::Handler> MakeCommitFaults(const FaultHandlerOptions& options,
                                              s3::Handler& next);

// The answer has left, whole or not: a fault that the client did not wait for has failed its
// attempt.
void NoteEnd(const s3::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FAULT_HANDLERS_H_
