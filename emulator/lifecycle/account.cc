#include "emulator/lifecycle/account.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/dates.h"
#include "emulator/json/json_tree.h"

namespace penstock::emulator::lifecycle {
namespace {

Json DateJson(const std::optional<WallTime>& time) {
  return time ? Json(FormatIso8601(*time)) : Json();
}

void WriteCounts(Json& json, const ActionCounts& counts) {
  json = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) json[std::string(NameOf(static_cast<ActionKind>(i)))] = counts[i];
  }
}

void WriteBucket(Json& json, const std::string& name, const BucketAccount& account) {
  json = EmptyObject(8);
  json["name"] = name;
  json["versions"] = account.versions;
  json["uploads"] = account.uploads;
  json["rules"] = Json::array();
  for (const auto& [id, counts] : account.rules) {
    json["rules"].push_back(EmptyObject(2));
    Json& rule = json["rules"].back();
    rule["id"] = id;
    WriteCounts(rule["actions"], counts);
  }
  json["locked"] = account.locked;
  json["changed"] = account.changed;
  json["failed"] = account.failed;
  json["error"] = account.error.empty() ? Json() : Json(account.error);
}

void WriteEntry(Json& json, const Account::Entry& entry) {
  const Action& action = entry.action;
  json = EmptyObject(10);
  json["action"] = NameOf(action.kind);
  json["bucket"] = entry.bucket;
  json["key"] = action.key.value;
  json["version_id"] = action.version_id.empty() ? Json() : Json(action.version_id.value);
  json["upload_id"] = action.upload_id.empty() ? Json() : Json(action.upload_id.value);
  json["rule"] = action.rule_id.empty() ? Json() : Json(action.rule_id);
  json["date"] = FormatIso8601(action.date);
  json["size"] = action.size;
  json["from"] = action.from.empty() ? Json() : Json(action.from);
  json["to"] = action.to.empty() ? Json() : Json(action.to);
}

}  // namespace

void Account::Add(const std::string& bucket, const Action& action, const Outcome& outcome) {
  BucketAccount& account = buckets_[bucket];
  switch (outcome.kind) {
    case OutcomeKind::kLocked: ++account.locked; return;
    case OutcomeKind::kChanged: ++account.changed; return;
    case OutcomeKind::kFailed:
      ++account.failed;
      if (account.error.empty()) account.error = outcome.error;
      return;
    case OutcomeKind::kApplied: break;
  }
  ++actions_;
  ++account.rules[action.rule_id][static_cast<std::size_t>(action.kind)];
  if (entries_.size() < kMaxLogged) entries_.push_back({bucket, action});
}

void Account::Merge(Account later) {
  for (auto& [name, from] : later.buckets_) {
    BucketAccount& to = buckets_[name];
    to.versions = std::max(to.versions, from.versions);
    to.uploads = std::max(to.uploads, from.uploads);
    for (const auto& [id, counts] : from.rules) {
      ActionCounts& sums = to.rules[id];
      for (std::size_t i = 0; i < counts.size(); ++i) sums[i] += counts[i];
    }
    to.locked += from.locked;
    to.changed += from.changed;
    to.failed += from.failed;
    if (to.error.empty()) to.error = std::move(from.error);
  }
  const std::size_t room = std::min(kMaxLogged - entries_.size(), later.entries_.size());
  const auto begin = later.entries_.begin();
  entries_.insert(entries_.end(), std::make_move_iterator(begin),
                  std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(room)));
  actions_ += later.actions_;
  time = later.time;
  next = later.next;
}

std::string AccountJson(std::string_view name_space, const Account& account) {
  JsonTree tree(EmptyObject(7));
  Json& json = tree.root();
  json["namespace"] = name_space;
  json["time"] = DateJson(account.time);
  json["next"] = DateJson(account.next);
  json["actions"] = account.actions();
  json["buckets"] = Json::array();
  for (const auto& [name, bucket] : account.buckets()) {
    json["buckets"].push_back(Json());
    WriteBucket(json["buckets"].back(), name, bucket);
  }
  json["log"] = Json::array();
  for (const Account::Entry& entry : account.entries()) {
    json["log"].push_back(Json());
    WriteEntry(json["log"].back(), entry);
  }
  json["omitted"] = account.actions() - account.entries().size();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace penstock::emulator::lifecycle
