#include "emulator/s3/core/restore_state.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

#include "base/dates.h"

namespace penstock::emulator::s3 {
namespace {

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string SecondsText(WallTime time) {
  return std::to_string(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

WallTime TimeOfSeconds(std::int64_t seconds) { return WallTime(std::chrono::seconds(seconds)); }

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return words;
}

}  // namespace

bool IsArchived(std::string_view storage_class) {
  return storage_class == "GLACIER" || storage_class == "DEEP_ARCHIVE";
}

// "READY EXPIRY DAYS TIER COMPLETED": times in seconds since 1970.
std::optional<Restore> StoredRestore(const store::Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name != kRestoreAttribute) continue;
    const std::vector<std::string_view> words = Words(value);
    if (words.size() != 5) return std::nullopt;
    const auto ready = ParseNumber(words[0]);
    const auto expiry = ParseNumber(words[1]);
    const auto days = ParseNumber(words[2]);
    if (!ready || !expiry || !days) return std::nullopt;
    return Restore{TimeOfSeconds(*ready), TimeOfSeconds(*expiry), *days, std::string(words[3]),
                   words[4] == "1"};
  }
  return std::nullopt;
}

void ReplaceRestore(const std::optional<Restore>& restore, store::Attributes& attributes) {
  std::erase_if(attributes, [](const auto& entry) { return entry.first == kRestoreAttribute; });
  if (!restore) return;
  attributes.emplace_back(kRestoreAttribute,
                          SecondsText(restore->ready) + " " + SecondsText(restore->expiry) + " " +
                              std::to_string(restore->days) + " " + restore->tier +
                              (restore->completed ? " 1" : " 0"));
}

bool IsReadable(const store::ObjectRecord& object, WallTime now) {
  if (!IsArchived(object.storage_class)) return true;
  const auto restore = StoredRestore(object.attributes);
  return restore && restore->IsReadable(now);
}

void AddRestoreHeader(message::Response& response, const store::ObjectRecord& object,
                      WallTime now) {
  if (!IsArchived(object.storage_class)) return;
  const auto restore = StoredRestore(object.attributes);
  if (!restore || now >= restore->expiry) return;
  response.Add("x-amz-restore", restore->IsOngoing(now)
                                    ? "ongoing-request=\"true\""
                                    : "ongoing-request=\"false\", expiry-date=\"" +
                                          FormatHttpDate(restore->expiry) + "\"");
}

}  // namespace penstock::emulator::s3
