#include "emulator/faults/actions/response_shaping.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/faults/actions/corrupt_body.h"
#include "emulator/faults/actions/replacement_response.h"
#include "emulator/s3/core/request_claims.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/traffic/latency_profile.h"
#include "emulator/traffic/request_work.h"

namespace penstock::emulator::faults {
namespace {

using Place = s3::DeliveryStep::Place;
using Kind = s3::DeliveryStep::Kind;
using Step = FaultPlan::Step;

// The access key that the request claims, or the client address without its port.
std::string ClientOf(const s3::Exchange& exchange) {
  const std::string_view key = s3::ClaimedAccessKey(exchange.request, exchange.target);
  if (!key.empty()) return std::string(key);
  return exchange.connection.peer.substr(0, exchange.connection.peer.rfind(':'));
}

// Headers that the HTTP layer adds to every response.
bool IsAddedByHttpLayer(const std::string& name) {
  constexpr std::array<std::string_view, 4> kNames{"date", "server", "x-amz-request-id",
                                                   "x-amz-id-2"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view added) { return s3::EqualsIgnoreCase(name, added); });
}

class Shaping {
 public:
  Shaping(s3::Exchange& exchange, const std::shared_ptr<FaultPlan>& plan, traffic::Pacers& pacers)
      : exchange_(exchange),
        plan_(plan),
        pacers_(pacers),
        committed_(plan->carried_out() && !IsRefusal(exchange.response)) {}

  void Run() {
    for (const Step& step : plan_->steps()) {
      const bool skewed = step.done && std::holds_alternative<SkewAction>(step.timed->action) &&
                          step.ticket->attempt();
      if (skewed && response().error_code == "RequestTimeTooSkewed") step.ticket->attempt()->Fail();
    }
    plan_->FinishWrites(committed_);
    if (Step* const step = plan_->replacement()) Replace(*step);
    for (Step& step : plan_->steps()) {
      if (step.timed->at.stage < Stage::kAfterCommit || step.done || &step == plan_->replacement())
        continue;
      step_ = &step;
      std::visit([this](const auto& action) { Apply(action); }, step.timed->action);
    }
  }

 private:
  s3::Response& response() { return exchange_.response; }
  const Point& at() const { return step_->timed->at; }

  // Marks `step` as done during the transfer. The exchange owns both the plan and the delivery, so
  // the plan outlives the delivery.
  std::function<void()> WhenDone(Step& step) {
    return [plan = plan_, &step] { FaultPlan::Done(step); };
  }
  // Marks the current step as done when the transfer reaches this place.
  void Mark(Place place, std::uint64_t offset = 0) {
    response().Delivering().steps.push_back(
        {.place = place, .offset = offset, .done = WhenDone(*step_)});
  }
  void AddPause(Place place, std::uint64_t offset, std::chrono::nanoseconds time) {
    std::vector<s3::DeliveryStep>& steps = response().Delivering().steps;
    Mark(place, offset);  // A pause counts as done when it begins.
    steps.push_back({.place = place, .offset = offset, .wait = time});
    if (!step_->ticket->attempt()) return;
    const auto waiting = std::make_shared<std::optional<Attempt::Waiting>>();
    steps[steps.size() - 2].done = [begun = WhenDone(*step_), waiting,
                                    attempt = step_->ticket->attempt()] {
      waiting->emplace(attempt);
      begun();
    };
    steps.push_back({.place = place, .offset = offset, .done = [waiting] { waiting->reset(); }});
  }
  Place PlaceOf() const {
    switch (at().stage) {
      case Stage::kStatus:
      case Stage::kBodyOut: return Place::kBody;
      case Stage::kTrailer: return Place::kTrailer;
      case Stage::kClose: return Place::kEnd;
      default: return Place::kHead;
    }
  }

  // Replaces the response, before or after the operation.
  void Replace(Step& step) {
    step_ = &step;
    const Action& action = step.timed->action;
    if (const auto* drop = std::get_if<DropAction>(&action))
      return DropConnection(exchange_, *drop, WhenDone(step));
    if (const auto* late = std::get_if<LateErrorAction>(&action)) {
      ApplyLateError(exchange_, *late);
      auto& steps = response().delivery->steps;
      steps.insert(steps.begin(), {.place = Place::kBody, .done = WhenDone(step)});
      return;
    }
    if (const auto* error = std::get_if<ErrorAction>(&action)) ApplyError(exchange_, *error);
    if (const auto* redirect = std::get_if<RedirectAction>(&action))
      ApplyRedirect(exchange_, *redirect);
    if (const auto* credentials = std::get_if<CredentialsAction>(&action))
      RefuseCredentials(exchange_, *credentials);
    if (std::holds_alternative<ContinueAction>(action)) RefuseToContinue(exchange_);
    // The step is counted before the response is sent, so that a client that has received it sees
    // the count.
    FaultPlan::Done(step);
  }
  void ReplaceAfterCommit() {
    if (committed_ && plan_->SetReplacement(*step_)) Replace(*step_);
  }

  void Apply(const ErrorAction&) { ReplaceAfterCommit(); }
  void Apply(const LateErrorAction&) { ReplaceAfterCommit(); }
  void Apply(const RedirectAction&) { ReplaceAfterCommit(); }
  void Apply(const CredentialsAction&) {}
  void Apply(const ContinueAction&) {}
  void Apply(const PartialFailureAction&) {}
  void Apply(const DuplicateAction&) {}
  void Apply(const CommitPartialAction&) {}
  void Apply(const DelayVisibilityAction&) {}
  void Apply(const SkewAction&) {}
  void Apply(const TlsAbortAction&) {}
  void Apply(const TlsCertificateAction&) {}
  void Apply(const GoAwayAction&) {}
  void Apply(const ConnectionLimitAction&) {}

  void Apply(const DropAction& drop) {
    // The journal records the response that was lost.
    if (at().stage == Stage::kAfterCommit && !(committed_ && plan_->SetReplacement(*step_))) return;
    AddDrop(response().Delivering(), PlaceOf(), at().offset, drop, WhenDone(*step_));
  }
  void Apply(const StallAction& stall) { AddPause(PlaceOf(), at().offset, stall.time); }
  void Apply(const LatencyAction& latency) {
    AddPause(Place::kHead, 0, LatencyOf(latency, exchange_, *step_->ticket));
  }

  void Apply(const PaceAction& pace) {
    if (!HasBody()) return;  // There is nothing to pace.
    s3::Delivery& delivery = response().Delivering();
    Mark(Place::kBody);
    if (pace.piece > 0) {
      delivery.piece = delivery.piece == 0 ? pace.piece : std::min(delivery.piece, pace.piece);
      delivery.piece_every = std::max<std::chrono::nanoseconds>(delivery.piece_every, pace.every);
      return;
    }
    traffic::PaceResponse(delivery, FindPacer(pace, exchange_, *step_->ticket, pacers_));
  }

  void Apply(const CorruptAction& corrupt) {
    if (Corrupt(response(), at().offset, corrupt, plan_->version_before().get()))
      Mark(Place::kBody, at().offset + 1);
  }

  void Apply(const TruncateAction& truncate) {
    using Cut = TruncateAction::Kind;
    const std::uint64_t size = s3::BodySize(response());
    const bool allows_whole_body = truncate.kind == Cut::kNoTerminator;
    if (size == 0 || at().offset > size || (at().offset == size && !allows_whole_body)) return;
    s3::Delivery& delivery = response().Delivering();
    switch (truncate.kind) {
      case Cut::kFin:
        delivery.steps.push_back({.place = Place::kBody,
                                  .offset = at().offset,
                                  .kind = Kind::kFin,
                                  .done = WhenDone(*step_)});
        return;
      case Cut::kReset:
        delivery.steps.push_back({.place = Place::kBody,
                                  .offset = at().offset,
                                  .kind = Kind::kReset,
                                  .done = WhenDone(*step_)});
        return;
      case Cut::kLengthLie: TruncateBody(response(), at().offset); return Mark(Place::kTrailer);
      case Cut::kNoTerminator:
        if (!HasChunks()) return;
        TruncateBody(response(), at().offset);
        response().chunked = true;
        delivery.steps.push_back(
            {.place = Place::kTrailer, .kind = Kind::kFin, .done = WhenDone(*step_)});
        return;
    }
  }

  // The step is done only if a header changes.
  void Apply(const HeaderAction& headers) {
    bool changed = false;
    for (const auto& [name, value] : headers.set) changed |= SetHeader(name, value);
    for (const std::string& name : headers.repeat) {
      const auto value = response().Find(name);
      if (value) response().Add(name, std::string(*value));
      changed |= value.has_value();
    }
    for (const std::string& name : headers.drop) changed |= DropHeader(name);
    if (changed) FaultPlan::Done(*step_);
  }

  bool HasBody() const {
    return exchange_.request.method != "HEAD" && s3::BodySize(exchange_.response) > 0;
  }
  // HTTP/1.0 has no chunks: the HTTP layer sends the length of such a response.
  bool HasChunks() const { return exchange_.request.minor_version > 0; }
  // Responses with status 204 and 304 have no Content-Length (RFC 9110, section 8.6).
  bool IsSized() const {
    return exchange_.response.status != 204 && exchange_.response.status != 304;
  }

  bool SetHeader(const std::string& name, const std::string& value) {
    if (s3::EqualsIgnoreCase(name, "content-length")) {
      if (!IsSized()) return false;
      std::uint64_t length = 0;
      std::from_chars(value.data(), value.data() + value.size(), length);
      const bool changes_length =
          std::exchange(response().chunked, false) ||
          length != response().content_length.value_or(s3::BodySize(response()));
      response().content_length = length;
      return changes_length;
    }
    for (auto& [header, old] : response().headers) {
      if (s3::EqualsIgnoreCase(header, name)) return std::exchange(old, value) != value;
    }
    response().Add(name, value);
    return true;
  }

  bool DropHeader(const std::string& name) {
    const bool length = s3::EqualsIgnoreCase(name, "content-length");
    if (length && !HasChunks()) return false;
    const bool was_sized = length && IsSized() && !std::exchange(response().chunked, true);
    const auto dropped = std::erase_if(response().headers, [&](const auto& header) {
      return s3::EqualsIgnoreCase(header.first, name);
    });
    response().Delivering().without.push_back(name);  // In case the HTTP layer would add it.
    return was_sized || dropped > 0 || IsAddedByHttpLayer(name);
  }

  s3::Exchange& exchange_;
  const std::shared_ptr<FaultPlan>& plan_;
  traffic::Pacers& pacers_;
  // The operation succeeded, so there is an acknowledgement to lose.
  const bool committed_;
  Step* step_ = nullptr;
};

}  // namespace

bool IsRefusal(const s3::Response& response) {
  constexpr int kMinError = 400;
  constexpr int kNotModified = 304;  // Has no error code.
  return response.status >= kMinError || response.status == kNotModified ||
         !response.error_code.empty();
}

void ShapeResponse(s3::Exchange& exchange, const std::shared_ptr<FaultPlan>& plan,
                   traffic::Pacers& pacers) {
  Shaping(exchange, plan, pacers).Run();
}

std::chrono::nanoseconds LatencyOf(const LatencyAction& latency, const s3::Exchange& exchange,
                                   const Ticket& ticket) {
  if (!latency.trace_ms.empty()) {
    const double ms =
        latency.trace_ms[static_cast<std::size_t>(ticket.turn() % latency.trace_ms.size())];
    return std::chrono::nanoseconds(std::llround(ms * 1e6));
  }
  traffic::Draw draw = ticket.draw();
  // Its first number also decided whether the rule applies, so it is uniform in [0, probability).
  // Scale it to [0, 1).
  const double probability = ticket.rule().when.probability;
  if (probability > 0) draw[0] = std::min(draw[0] / probability, std::nextafter(1.0, 0.0));
  if (!latency.profile.empty()) {
    const auto profile = traffic::FindProfile(latency.profile);
    return profile.ok() ? traffic::FirstByte(profile->Of(traffic::WorkOf(exchange)), draw)
                        : std::chrono::nanoseconds(0);
  }
  if (latency.max_ms > latency.floor_ms) {
    const double ms = latency.floor_ms + draw[0] * (latency.max_ms - latency.floor_ms);
    return std::chrono::nanoseconds(std::llround(ms * 1e6));
  }
  const traffic::Waiting waiting{.floor_ms = latency.floor_ms,
                                 .median_ms = latency.median_ms,
                                 .sigma = latency.sigma,
                                 .straggler = {},
                                 .stall = {}};
  return traffic::FirstByte(waiting, draw);
}

std::shared_ptr<traffic::Pacer> FindPacer(const PaceAction& pace, const s3::Exchange& exchange,
                                          const Ticket& ticket, traffic::Pacers& pacers) {
  using Scope = PaceAction::Scope;
  std::string name = (exchange.space ? exchange.space->name : std::string()) + '\0' +
                     ticket.rule().id + '\0' + std::to_string(pace.bytes_per_second) + '\0';
  switch (pace.scope) {
    case Scope::kRequest: return std::make_shared<traffic::Pacer>(pace.bytes_per_second);
    case Scope::kConnection: name += "connection " + std::to_string(exchange.connection.id); break;
    case Scope::kClient: name += "client " + ClientOf(exchange); break;
    case Scope::kBucket: name += "bucket " + exchange.target.bucket.value; break;
    case Scope::kServer: break;
  }
  return pacers.Find(name, pace.bytes_per_second);
}

}  // namespace penstock::emulator::faults
