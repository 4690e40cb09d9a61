// Filters that execute the actions of fault rules, and the filter that delays all reads. Rules come
// from the namespace's scenario, a retry test, or the request itself.
//
// One filter of rules precedes authentication and the other follows it, before the router. Actions
// before the commit of an operation must run after the body has been verified.
#ifndef PENSTOCK_EMULATOR_FAULTS_FAULT_FILTERS_H_
#define PENSTOCK_EMULATOR_FAULTS_FAULT_FILTERS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "emulator/faults/registry/fault_registry.h"
#include "emulator/s3/core/filter_chain.h"
#include "emulator/store/system/memory_limit.h"
#include "emulator/traffic/pauses.h"

namespace penstock::emulator::faults {

struct FaultFilterOptions {
  // Returns the namespace's registry. Null result: the namespace has no faults.
  FaultRegistry* (*registry_of)(const s3::Exchange& exchange) = nullptr;
  // Returns the partition that serves the request's key (RequestProperties::partition_of). Null:
  // rules that name partitions match no request.
  std::optional<std::uint64_t> (*partition_of)(const s3::Exchange& exchange) = nullptr;
  traffic::Pauses* pauses = nullptr;  // Shared by both filters; must outlive them.
  bool by_header = true;  // False: requests with an x-penstock-fault header are rejected.
  // Rules in x-penstock-fault are charged to it until their request has ended. Null: not charged.
  std::shared_ptr<store::MemoryLimit> memory_limit = nullptr;
};

// Finds the rules that a request matches, in the namespace given by exchange.space, and executes
// their actions.
//
// A request may carry rules in x-penstock-fault; they are evaluated before the others. It may name
// a retry test in x-penstock-retry-test, which then replaces the namespace's scenario. Invalid
// headers are rejected with InvalidArgument, and rules beyond the memory limit with
// MemoryLimit::Exceeded.
std::unique_ptr<s3::Filter> MakeFaults(const FaultFilterOptions& options);

// Executes the actions at and before the commit, for requests that passed the filter of MakeFaults.
std::unique_ptr<s3::Filter> MakeCommitFaults(const FaultFilterOptions& options);

// Runs an operation twice if a rule asks for it (DuplicateAction). A handler, because filters pass
// a request on once. `operations` must outlive it. The copies of bodies are charged to
// `memory_limit`; null: not charged. A body without room is not sent twice.
std::unique_ptr<s3::Handler> MakeDuplicateApply(s3::Handler& operations,
                                                std::shared_ptr<store::MemoryLimit> memory_limit);

// Delays the responses of GET and HEAD by `delay`, counted from when they were produced. Zero: no
// delay. Other methods are not delayed.
std::unique_ptr<s3::Filter> MakeFirstByteDelay(std::chrono::milliseconds delay);

// Call when the response has ended, complete or not. If the client left early, the attempt counts
// as failed.
void NoteEnd(const s3::Exchange& exchange);

}  // namespace penstock::emulator::faults

#endif  // PENSTOCK_EMULATOR_FAULTS_FAULT_FILTERS_H_
