#include "emulator/faults/fault_filters.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/faults/actions/faulty_body.h"
#include "emulator/faults/actions/history_store.h"
#include "emulator/faults/actions/replayed_body.h"
#include "emulator/faults/actions/response_shaping.h"
#include "emulator/faults/actions/stale_read_store.h"
#include "emulator/faults/actions/truncated_write_store.h"
#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/registry/earlier_versions.h"
#include "emulator/faults/registry/fault_plan.h"
#include "emulator/s3/core/error_response.h"
#include "emulator/s3/core/operation_traits.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::faults {
namespace {

using Tickets = std::vector<std::unique_ptr<Ticket>>;

constexpr std::string_view kFaultHeader = "x-penstock-fault";
constexpr std::string_view kRetryTestHeader = "x-penstock-retry-test";

// The fault headers of a request. Views into its head.
struct FaultHeaders {
  std::string_view faults;
  std::string_view retry_test;
  std::string_view twice;  // The header that occurs more than once. Empty: none.
  bool any() const { return !faults.empty() || !retry_test.empty(); }
};

// Reads both headers in one pass, because most requests have neither.
FaultHeaders ReadFaultHeaders(const s3::RequestHead& head) {
  FaultHeaders requested;
  for (const s3::HeaderView& header : head.headers) {
    for (const auto& [name, value] : {std::pair(kFaultHeader, &requested.faults),
                                      std::pair(kRetryTestHeader, &requested.retry_test)}) {
      if (header.name.size() != name.size() || !s3::EqualsIgnoreCase(header.name, name)) continue;
      if (!value->empty()) requested.twice = name;
      *value = header.value;
    }
  }
  return requested;
}

bool ExpectsContinue(const s3::RequestHead& head) {
  const auto expect = head.Find("expect");
  return expect && s3::EqualsIgnoreCase(*expect, "100-continue");
}

bool EndsEarly(const Tickets& tickets) {
  return std::any_of(tickets.begin(), tickets.end(),
                     [](const auto& ticket) { return ticket->rule().final; });
}

// The rules that a request has met.
struct MetRules final : message::Attachment {
  std::shared_ptr<FaultPlan> plan;  // Null: the request matches no rule.
  // Counts the bytes of the response. Null: no rule needs the count.
  std::shared_ptr<RunningScenario> counting;
};

// Null: none.
FaultPlan* PlanOf(const s3::Exchange& exchange) {
  const MetRules* const met = exchange.Find<MetRules>();
  return met != nullptr ? met->plan.get() : nullptr;
}

class Faults final : public s3::Filter {
 public:
  explicit Faults(const FaultFilterOptions& options)
      : registry_of_(options.registry_of),
        partition_of_(options.partition_of),
        by_header_(options.by_header),
        memory_limit_(options.memory_limit),
        tools_{*options.pauses, pacers_} {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    const FaultHeaders requested = ReadFaultHeaders(exchange.request);
    FaultRegistry* const registry = registry_of_(exchange);
    if (!requested.any() && (registry == nullptr || registry->idle()))
      return s3::FilterStatus::kContinue;
    if (const Result<void> met = Meet(exchange, registry, requested); !met.ok()) {
      s3::RespondWithError(exchange, met.error());
      return s3::FilterStatus::kResponded;
    }
    FaultPlan* const plan = PlanOf(exchange);
    if (plan == nullptr) return s3::FilterStatus::kContinue;
    if (!DoAtHeaders(exchange, *plan)) return s3::FilterStatus::kResponded;
    if (!plan->At(Stage::kBodyIn).empty()) exchange.WrapBody<FaultyBody>(exchange, *plan, tools_);
    return s3::FilterStatus::kContinue;
  }

  void OnResponse(s3::Exchange& exchange) override {
    const MetRules* const met = exchange.Find<MetRules>();
    if (met == nullptr) return;
    if (met->plan) ShapeResponse(exchange, met->plan, pacers_);
    if (met->counting) met->counting->CountBytes(s3::BodySize(exchange.response));
  }

 private:
  // Attaches the rules to the request.
  Result<void> Meet(s3::Exchange& exchange, FaultRegistry* registry,
                    const FaultHeaders& requested) {
    std::shared_ptr<RunningScenario> counting;
    Tickets tickets;
    LazyRequestProperties properties(exchange, partition_of_);
    if (!requested.twice.empty())
      return Refusal(requested.twice, "duplicate header; send it once, with all rules in one list");
    if (!requested.faults.empty()) {
      if (!by_header_)
        return Refusal(
            kFaultHeader,
            "not allowed because the emulator has an admin token; set faults with the admin API");
      const Clock& clock = *exchange.space->clock;
      auto scenario = ParseInlineFaults(requested.faults, memory_limit_);
      if (!scenario.ok() && !scenario.error().code.empty()) return scenario.error();  // no memory
      if (!scenario.ok()) return Refusal(kFaultHeader, scenario.error().message);
      auto running = RunningScenario::Start(std::move(scenario).value(), clock.Now());
      if (!running.ok()) return Refusal(kFaultHeader, running.error().message);
      tickets = (*running)->Meet(properties, clock);
    }
    if (registry == nullptr && !requested.retry_test.empty())
      return Refusal(kRetryTestHeader, "this namespace has no faults");
    if (registry != nullptr && (!requested.retry_test.empty() || !registry->idle()) &&
        !EndsEarly(tickets)) {
      auto found = registry->Find(requested.retry_test);
      if (!found.ok()) return Refusal(kRetryTestHeader, found.error().message);
      if (const std::shared_ptr<RunningScenario> scenario = std::move(found).value()) {
        Tickets more = scenario->Meet(properties, *exchange.space->clock);
        std::move(more.begin(), more.end(), std::back_inserter(tickets));
        if (scenario->counts_bytes()) {
          scenario->CountBytes(properties.get().size.value_or(0));
          counting = scenario;
        }
      }
    }
    if (tickets.empty() && !counting) return Ok();
    auto& met = exchange.Attach<MetRules>();
    met.counting = std::move(counting);
    if (tickets.empty()) return Ok();
    met.plan = std::make_shared<FaultPlan>(std::move(tickets));
    met.plan->set_registry(registry);
    exchange.notes = met.plan;
    return Ok();
  }

  static Error Refusal(std::string_view header, const std::string& problem) {
    return s3::InvalidArgument(std::string(header) + ": " + problem, header, "");
  }

  // Executes the actions at Stage::kHeaders. Returns false if an action replaces the operation.
  bool DoAtHeaders(s3::Exchange& exchange, FaultPlan& plan) {
    for (FaultPlan::Step& step : plan.At(Stage::kHeaders)) {
      const Action& action = step.timed->action;
      bool proceed = true;
      if (const auto* skew = std::get_if<SkewAction>(&action)) {
        exchange.clock_ahead = skew->ahead;
        FaultPlan::Done(step);
      } else if (const auto* expect = std::get_if<ContinueAction>(&action)) {
        proceed = ApplyContinueAction(exchange, plan, step, *expect);
      } else if (std::holds_alternative<CredentialsAction>(action)) {
        proceed = !plan.SetReplacement(step);
      } else {
        proceed = DoBeforeCommit(exchange, plan, step, tools_.pauses);
      }
      if (!proceed) return false;
    }
    return true;
  }

  // Applies only to clients that wait for "100 Continue". Returns false if the request is refused.
  bool ApplyContinueAction(s3::Exchange& exchange, FaultPlan& plan, FaultPlan::Step& step,
                           const ContinueAction& action) {
    using Kind = ContinueAction::Kind;
    if (!ExpectsContinue(exchange.request)) return true;
    if (action.kind == Kind::kRefuse) return !plan.SetReplacement(step);
    if (action.kind == Kind::kNever && exchange.body->WithholdContinue()) FaultPlan::Done(step);
    if (action.kind == Kind::kLate) {
      traffic::Pauses::Permit permit(tools_.pauses, exchange.wire);
      if (permit.granted()) FaultPlan::Done(step);
      if (!permit.Wait(action.late)) plan.FailAttempts();
    }
    return true;
  }

  FaultRegistry* (*const registry_of_)(const s3::Exchange&);
  std::optional<std::uint64_t> (*const partition_of_)(const s3::Exchange&);
  const bool by_header_;
  const std::shared_ptr<store::MemoryLimit> memory_limit_;
  traffic::Pacers pacers_;
  const FaultTools tools_;
};

// The object that a request overwrites or deletes.
struct PreviousObject final : message::Attachment {
  explicit PreviousObject(store::ObjectPtr previous) : object(std::move(previous)) {}
  const store::ObjectPtr object;
};

class CommitFaults final : public s3::Filter {
 public:
  explicit CommitFaults(const FaultFilterOptions& options)
      : registry_of_(options.registry_of), pauses_(*options.pauses) {}

  s3::FilterStatus OnRequest(s3::Exchange& exchange) override {
    FaultPlan* const plan = PlanOf(exchange);
    FaultRegistry* const registry = registry_of_ != nullptr ? registry_of_(exchange) : nullptr;
    if (plan != nullptr && plan->wants_version_before() && registry != nullptr) {
      plan->set_version_before(VersionBefore(exchange, registry->earlier_versions()));
    }
    if (registry != nullptr && registry->keeps_earlier_versions())
      KeepEarlierVersions(exchange, registry->earlier_versions());
    if (registry != nullptr && !registry->hidden_writes().empty() &&
        s3::TraitsOf(exchange).shows_objects) {
      s3::WrapStore<StaleReadStore>(exchange, registry->hidden_writes(), registry->clock().Now());
    }
    if (plan == nullptr) return s3::FilterStatus::kContinue;
    plan->Begin();
    if (plan->At(Stage::kBeforeCommit).empty()) return s3::FilterStatus::kContinue;
    if (FaultPlan::Step* const step = plan->AtCommit<CommitPartialAction>();
        step != nullptr && CanBeTruncated(exchange)) {
      s3::WrapStore<TruncatedWriteStore>(exchange,
                                         std::get<CommitPartialAction>(step->timed->action).bytes,
                                         [step] { step->entries = 1; });
    }
    if (ReadsBody(exchange)) {
      exchange.WrapBody<CommitGate>(exchange, *plan, pauses_);
    } else if (!PassCommit(exchange, *plan, pauses_)) {
      return s3::FilterStatus::kResponded;
    }
    return s3::FilterStatus::kContinue;
  }

  void OnResponse(s3::Exchange& exchange) override {
    const PreviousObject* const previous = exchange.Find<PreviousObject>();
    if (previous == nullptr || IsRefusal(exchange.response)) return;
    registry_of_(exchange)->earlier_versions().Record(exchange.target.bucket.value,
                                                      previous->object);
  }

 private:
  static void KeepEarlierVersions(s3::Exchange& exchange, EarlierVersions& versions) {
    if (exchange.operation == "DeleteObjects") s3::WrapStore<HistoryStore>(exchange, versions);
    if (!s3::TraitsOf(exchange).overwrites && !DeletesCurrent(exchange)) return;
    if (store::ObjectPtr previous = CurrentObject(exchange))
      exchange.Attach<PreviousObject>(std::move(previous));
  }

  // An append sends only part of the object, so it is excluded.
  static bool CanBeTruncated(const s3::Exchange& exchange) {
    const bool appends =
        exchange.operation == "PutObject" && exchange.request.Find("x-amz-write-offset-bytes");
    return s3::TraitsOf(exchange).stores_body && !appends;
  }
  // Whether the operation reads a request body to its end. Authentication has already read the
  // bodies that operations ignore.
  static bool ReadsBody(const s3::Exchange& exchange) {
    if (!s3::TraitsOf(exchange).takes_body) return false;
    const s3::RequestHead& head = exchange.request;
    const auto length = head.Find("content-length");
    return head.Find("transfer-encoding") || (length && *length != "0");
  }

  FaultRegistry* (*const registry_of_)(const s3::Exchange&);
  traffic::Pauses& pauses_;
};

class DuplicateApply final : public s3::Handler {
 public:
  DuplicateApply(s3::Handler& operations, std::shared_ptr<store::MemoryLimit> memory_limit)
      : operations_(operations), memory_limit_(std::move(memory_limit)) {}

  void Handle(s3::Exchange& exchange) override {
    FaultPlan* const plan = PlanOf(exchange);
    FaultPlan::Step* const twice = plan != nullptr ? plan->AtCommit<DuplicateAction>() : nullptr;
    if (twice != nullptr && s3::TraitsOf(exchange).access == s3::Access::kWrite)
      return ApplyTwice(exchange, *twice);
    operations_.Handle(exchange);
  }

  void Finish(s3::Exchange& exchange) override { operations_.Finish(exchange); }

 private:
  void ApplyTwice(s3::Exchange& exchange, FaultPlan::Step& step) {
    // Both executions must finish before their calls return.
    s3::AsyncResponse* const late = std::exchange(exchange.async, nullptr);
    const KeptBody& kept = exchange.WrapBody<KeptBody>(memory_limit_.get());
    operations_.Handle(exchange);
    if (kept.whole() && !IsRefusal(exchange.response)) {
      s3::Response first = std::exchange(exchange.response, s3::Response());
      exchange.WrapBody<RepeatedBody>(kept);
      operations_.Handle(exchange);
      const bool wants_first = std::get<DuplicateAction>(step.timed->action).response ==
                               DuplicateAction::Response::kFirst;
      // The response to a cancelled request is 503, which says that nothing was stored.
      const bool cancelled = IsRefusal(exchange.response) && !s3::RefuseIfCancelled(exchange).ok();
      if (wants_first || cancelled) exchange.response = std::move(first);
      FaultPlan::Done(step);
    }
    exchange.async = late;
  }

  s3::Handler& operations_;
  const std::shared_ptr<store::MemoryLimit> memory_limit_;
};

class FirstByteDelay final : public s3::Filter {
 public:
  explicit FirstByteDelay(std::chrono::milliseconds delay) : delay_(delay) {}

  void OnResponse(s3::Exchange& exchange) override {
    if (delay_.count() > 0 &&
        (exchange.request.method == "GET" || exchange.request.method == "HEAD"))
      s3::HoldBack(exchange.response.Delivering(), delay_);
  }

 private:
  const std::chrono::milliseconds delay_;
};

}  // namespace

std::unique_ptr<s3::Filter> MakeFaults(const FaultFilterOptions& options) {
  return std::make_unique<Faults>(options);
}

std::unique_ptr<s3::Filter> MakeCommitFaults(const FaultFilterOptions& options) {
  return std::make_unique<CommitFaults>(options);
}

std::unique_ptr<s3::Handler> MakeDuplicateApply(s3::Handler& operations,
                                                std::shared_ptr<store::MemoryLimit> memory_limit) {
  return std::make_unique<DuplicateApply>(operations, std::move(memory_limit));
}

void NoteEnd(const s3::Exchange& exchange) {
  FaultPlan* const plan = PlanOf(exchange);
  if (plan != nullptr && !exchange.whole) plan->FailAttempts();
}

std::unique_ptr<s3::Filter> MakeFirstByteDelay(std::chrono::milliseconds delay) {
  return std::make_unique<FirstByteDelay>(delay);
}

}  // namespace penstock::emulator::faults
