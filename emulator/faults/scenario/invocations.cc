#include "emulator/faults/scenario/invocations.h"

namespace penstock::emulator::faults {

std::shared_ptr<Attempt> Invocations::Begin(const std::shared_ptr<Invocations>& all,
                                            const RequestProperties& properties) {
  const bool has_id = !properties.invocation.empty();
  std::shared_ptr<Attempt> attempt(new Attempt(all, std::string(properties.invocation),
                                               has_id ? std::string() : AttemptIdentity(properties),
                                               properties.exchange->connection.id));
  if (!has_id) all->ContinueInvocation(*attempt);
  return attempt;
}

void Invocations::ContinueInvocation(Attempt& attempt) {
  const auto resume = [&attempt](const Failed& failed) {
    attempt.invocation_ = failed.invocation;
    attempt.failures_before_ = failed.failures;
  };
  const MutexLock lock(mutex_);
  const auto own = by_connection_.find({attempt.identity_, attempt.connection_});
  if (own != by_connection_.end()) {
    const std::uint64_t number = own->second;
    resume(waiting_.at(number));
    return Forget(number);
  }
  const auto first = not_continued_.lower_bound({attempt.identity_, 0});
  if (first != not_continued_.end() && first->first == attempt.identity_) {
    resume(waiting_.at(first->second));
    not_continued_.erase(first);
    return;
  }
  // Header values cannot contain NUL, so this cannot equal a client's id.
  attempt.invocation_ = std::string(1, '\0') + std::to_string(++begun_);
}

void Invocations::Keep(Failed failed) {
  const MutexLock lock(mutex_);
  const auto before = by_connection_.find({failed.identity, failed.connection});
  if (before != by_connection_.end()) Forget(before->second);
  if (waiting_.size() >= most_) Forget(waiting_.begin()->first);
  const auto [at, added] = waiting_.emplace(++numbers_, std::move(failed));
  const Failed& kept = at->second;
  by_connection_.emplace(std::pair(std::string_view(kept.identity), kept.connection), at->first);
  not_continued_.emplace(kept.identity, at->first);
}

void Invocations::Forget(std::uint64_t number) {
  const auto found = waiting_.find(number);
  const Failed& failed = found->second;
  by_connection_.erase({failed.identity, failed.connection});
  not_continued_.erase({failed.identity, number});
  waiting_.erase(found);
}

std::uint64_t Attempt::failures() const {
  if (!has_id()) return failures_before_;
  const MutexLock lock(all_->mutex_);
  return all_->failures_.Taken(invocation_);
}

void Attempt::Fail() {
  if (std::exchange(failed_, true)) return;
  if (!has_id())
    return all_->Keep({.identity = identity_,
                       .connection = connection_,
                       .invocation = invocation_,
                       .failures = failures_before_ + 1});
  const MutexLock lock(all_->mutex_);
  all_->failures_.Take(invocation_);
  all_->failures_.Finish(invocation_, /*happened=*/true);
}

Attempt::Waiting::Waiting(const std::shared_ptr<Attempt>& attempt)
    : attempt_(attempt && attempt->has_id() ? attempt : nullptr) {
  if (!attempt_) return;
  const MutexLock lock(attempt_->all_->mutex_);
  attempt_->all_->failures_.Take(attempt_->invocation_);
}

Attempt::Waiting::~Waiting() {
  if (!attempt_) return;
  const MutexLock lock(attempt_->all_->mutex_);
  attempt_->all_->failures_.Finish(attempt_->invocation_, /*happened=*/false);
}

}  // namespace penstock::emulator::faults
