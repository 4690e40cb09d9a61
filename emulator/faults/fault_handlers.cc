#include "emulator/faults/fault_handlers.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/faults/actions/answer_shaping.h"
#include "emulator/faults/actions/faulty_body.h"
#include "emulator/faults/actions/history_store.h"
#include "emulator/faults/actions/replayed_body.h"
#include "emulator/faults/actions/stale_read_store.h"
#include "emulator/faults/actions/truncated_write_store.h"
#include "emulator/faults/documents/scenario_document.h"
#include "emulator/faults/registry/earlier_versions.h"
#include "emulator/faults/registry/fault_plan.h"
#include "emulator/s3/core/cancellation.h"
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

class Faults final : public s3::Handler {
 public:
  Faults(const FaultHandlerOptions& options, s3::Handler& next)
      : registry_of_(options.registry_of),
        partition_of_(options.partition_of),
        by_header_(options.by_header),
        tools_{*options.pauses, pacers_},
        next_(next) {}

  void Handle(s3::Exchange& exchange) override {
    const FaultHeaders requested = ReadFaultHeaders(exchange.request);
    FaultRegistry* const registry = registry_of_(exchange);
    if (!requested.any() && (registry == nullptr || registry->idle()))
      return next_.Handle(exchange);
    if (exchange.target.raw_path.empty())
      return next_.Handle(exchange);  // Authentication rejects it.
    auto met = Meet(exchange, registry, requested);
    if (!met.ok()) return s3::RespondWithError(exchange, met.error());
    if (met->plan) {
      CarryOut(exchange, std::move(met->plan));
    } else {
      next_.Handle(exchange);
    }
    if (!met->counting) return;
    exchange.WhenAnswered([counting = std::move(met->counting)](const s3::Exchange& answered) {
      counting->CountBytes(s3::BodySize(answered.response));
    });
  }

 private:
  struct Met {
    std::shared_ptr<FaultPlan> plan;  // Null: the request matches no rule.
    // Counts the bytes of the response. Shared with the callback that runs after the response.
    // Null: no rule needs the count.
    std::shared_ptr<RunningScenario> counting;
  };

  Result<Met> Meet(s3::Exchange& exchange, FaultRegistry* registry, const FaultHeaders& requested) {
    Met met;
    Tickets tickets;
    LazyFacts facts(exchange, partition_of_);
    if (!requested.twice.empty())
      return Refusal(requested.twice, "duplicate header; send it once, with all rules in one list");
    if (!requested.faults.empty()) {
      if (!by_header_)
        return Refusal(
            kFaultHeader,
            "not allowed because the emulator has an admin token; set faults with the admin API");
      const Clock& clock = *exchange.space->clock;
      auto scenario = ParseInlineFaults(requested.faults);
      if (!scenario.ok()) return Refusal(kFaultHeader, scenario.error().message);
      auto running = RunningScenario::Start(std::move(scenario).value(), clock.Now());
      if (!running.ok()) return Refusal(kFaultHeader, running.error().message);
      tickets = (*running)->Meet(facts, clock);
    }
    if (registry == nullptr && !requested.retry_test.empty())
      return Refusal(kRetryTestHeader, "this namespace has no faults");
    if (registry != nullptr && (!requested.retry_test.empty() || !registry->idle()) &&
        !EndsEarly(tickets)) {
      auto found = registry->Find(requested.retry_test);
      if (!found.ok()) return Refusal(kRetryTestHeader, found.error().message);
      if (const std::shared_ptr<RunningScenario> scenario = std::move(found).value()) {
        Tickets more = scenario->Meet(facts, *exchange.space->clock);
        std::move(more.begin(), more.end(), std::back_inserter(tickets));
        if (scenario->counts_bytes()) {
          scenario->CountBytes(facts.get().size.value_or(0));
          met.counting = scenario;
        }
      }
    }
    if (!tickets.empty()) {
      met.plan = std::make_shared<FaultPlan>(std::move(tickets));
      met.plan->set_registry(registry);
    }
    return met;
  }

  static Error Refusal(std::string_view header, const std::string& problem) {
    return s3::InvalidArgument(std::string(header) + ": " + problem, header, {});
  }

  void CarryOut(s3::Exchange& exchange, std::shared_ptr<FaultPlan> plan) {
    exchange.notes = plan;
    if (DoAtHeaders(exchange, *plan)) {
      if (plan->At(Stage::kBodyIn).empty()) {
        next_.Handle(exchange);
      } else {
        s3::BodyReader* const wire_body = exchange.body;
        FaultyBody body(exchange, *plan, tools_);
        exchange.body = &body;
        next_.Handle(exchange);
        exchange.body = wire_body;
      }
    }
    exchange.WhenAnswered(
        [this, plan](s3::Exchange& answered) { ShapeAnswer(answered, plan, pacers_); });
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
  traffic::Pacers pacers_;
  const FaultTools tools_;
  s3::Handler& next_;
};

class CommitFaults final : public s3::Handler {
 public:
  CommitFaults(const FaultHandlerOptions& options, s3::Handler& next)
      : registry_of_(options.registry_of), pauses_(*options.pauses), next_(next) {}

  void Handle(s3::Exchange& exchange) override {
    FaultPlan* const plan =
        exchange.notes ? dynamic_cast<FaultPlan*>(exchange.notes.get()) : nullptr;
    FaultRegistry* const registry = registry_of_ != nullptr ? registry_of_(exchange) : nullptr;
    if (plan != nullptr && plan->wants_version_before() && registry != nullptr) {
      plan->set_version_before(VersionBefore(exchange, registry->earlier_versions()));
    }
    const bool keeps = registry != nullptr && registry->keeps_earlier_versions();
    const bool notes = keeps && (Overwrites(exchange) || DeletesCurrent(exchange));
    const store::ObjectPtr before = notes ? CurrentObject(exchange) : nullptr;
    if (keeps && exchange.operation == "DeleteObjects")
      WrapStore<HistoryStore>(exchange, registry->earlier_versions());
    if (registry != nullptr && !registry->hidden_writes().empty() &&
        IsAffectedByHiddenWrites(exchange)) {
      WrapStore<StaleReadStore>(exchange, registry->hidden_writes(), registry->clock().Now());
    }
    CarryOut(exchange, plan);
    if (!before) return;
    exchange.WhenAnswered([registry, before](const s3::Exchange& answered) {
      if (!IsRefusal(answered.response))
        registry->earlier_versions().Record(answered.target.bucket.value, before);
    });
  }

 private:
  void CarryOut(s3::Exchange& exchange, FaultPlan* plan) {
    if (plan == nullptr) return next_.Handle(exchange);
    plan->Begin();
    if (plan->At(Stage::kBeforeCommit).empty()) return next_.Handle(exchange);
    if (FaultPlan::Step* const step = plan->AtCommit<CommitPartialAction>();
        step != nullptr && CanBeTruncated(exchange)) {
      WrapStore<TruncatedWriteStore>(exchange,
                                     std::get<CommitPartialAction>(step->timed->action).bytes,
                                     [step] { step->entries = 1; });
    }
    if (!ReadsBody(exchange)) {
      if (PassCommit(exchange, *plan, pauses_)) Apply(exchange, *plan);
      return;
    }
    s3::BodyReader* const body = exchange.body;
    CommitGate gate(exchange, *plan, pauses_);
    exchange.body = &gate;
    Apply(exchange, *plan);
    exchange.body = body;
  }

  void Apply(s3::Exchange& exchange, FaultPlan& plan) {
    FaultPlan::Step* const twice = plan.AtCommit<DuplicateAction>();
    if (twice != nullptr && s3::TraitsOf(exchange).access == s3::Access::kWrite)
      return ApplyTwice(exchange, *twice);
    next_.Handle(exchange);
  }

  void ApplyTwice(s3::Exchange& exchange, FaultPlan::Step& step) {
    // Both executions must finish before their calls return.
    s3::AsyncResponse* const late = std::exchange(exchange.async, nullptr);
    s3::BodyReader* const body = exchange.body;
    KeptBody kept(*body);
    exchange.body = &kept;
    next_.Handle(exchange);
    if (kept.whole() && !IsRefusal(exchange.response)) {
      s3::Response first = std::exchange(exchange.response, s3::Response());
      RepeatedBody repeated(kept);
      exchange.body = &repeated;
      next_.Handle(exchange);
      const bool wants_first =
          std::get<DuplicateAction>(step.timed->action).answer == DuplicateAction::Answer::kFirst;
      // A cancelled request is answered 503, which says that nothing was stored.
      const bool cancelled = IsRefusal(exchange.response) && !s3::RefuseIfCancelled(exchange).ok();
      if (wants_first || cancelled) exchange.response = std::move(first);
      FaultPlan::Done(step);
    }
    exchange.body = body;
    exchange.async = late;
  }

  // An append sends only part of the object, so it is excluded.
  static bool CanBeTruncated(const s3::Exchange& exchange) {
    if (exchange.operation == "PutObject")
      return !exchange.request.Find("x-amz-write-offset-bytes");
    return exchange.operation == "UploadPart" || exchange.operation == "PostObject";
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
  s3::Handler& next_;
};

}  // namespace

std::unique_ptr<s3::Handler> MakeFaults(const FaultHandlerOptions& options, s3::Handler& next) {
  return std::make_unique<Faults>(options, next);
}

std::unique_ptr<s3::Handler> MakeCommitFaults(const FaultHandlerOptions& options,
                                              s3::Handler& next) {
  return std::make_unique<CommitFaults>(options, next);
}

void NoteEnd(const s3::Exchange& exchange) {
  auto* const plan = exchange.notes ? dynamic_cast<FaultPlan*>(exchange.notes.get()) : nullptr;
  if (plan != nullptr && !exchange.whole) plan->FailAttempts();
}

}  // namespace penstock::emulator::faults
