#include "emulator/faults/documents/condition_document.h"

#include <algorithm>
#include <utility>

namespace penstock::emulator::faults {
namespace {

// Runs `read` on the member, if present.
template <class Read>
Result<void> IfPresent(const JsonFields& fields, std::string_view name, Read read) {
  const Json* const value = fields.Find(name);
  return value == nullptr ? Ok() : read(*value, fields.Place(name));
}

Result<void> ReadNumbers(const JsonFields& fields, std::string_view name,
                         std::optional<NumberSet>& into) {
  return IfPresent(fields, name, [&](const Json& json, const std::string& place) -> Result<void> {
    if (json.is_number_unsigned()) {
      into = NumberSet::Of(json.get<std::uint64_t>());
      return Ok();
    }
    if (!json.is_string())
      return FieldError(place,
                        "must be a number, or a string such as \"3-5\", \">=2\", \"every 5\"");
    Result<NumberSet> set = NumberSet::Parse(json.get<std::string>());
    if (!set.ok()) return FieldError(place, set.error().message);
    into = std::move(set).value();
    return Ok();
  });
}

Result<Pattern> ReadGlob(std::string glob, const std::string& place) {
  Result<Pattern> pattern = Pattern::OfGlob(std::move(glob));
  if (!pattern.ok()) return FieldError(place, pattern.error().message);
  return pattern;
}

}  // namespace

Result<void> ReadCounts(const JsonFields& fields, std::string_view name,
                        std::optional<NumberSet>& into) {
  PENSTOCK_TRY(ReadNumbers(fields, name, into));
  if (into && into->HasZeroAtMost())
    return FieldError(fields.Place(name), "counts from 1: 0 never matches");
  return Ok();
}

Result<Pattern> ReadPattern(const Json& json, const std::string& place) {
  if (json.is_string()) return ReadGlob(json.get<std::string>(), place);
  if (!json.is_object())
    return FieldError(
        place, "must be a string (a glob), or an object with one of glob, prefix, exactly, regex");
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"glob", "prefix", "exactly", "regex"}));
  if (json.size() != 1) return FieldError(place, "needs one of glob, prefix, exactly, regex");
  if (fields.Has("glob")) {
    PENSTOCK_ASSIGN(const std::optional<std::string> glob, fields.Text("glob"));
    return ReadGlob(*glob, fields.Place("glob"));
  }
  if (fields.Has("regex")) {
    PENSTOCK_ASSIGN(const std::optional<std::string> expression, fields.Text("regex"));
    Result<Pattern> pattern = Pattern::OfRegex(*expression);
    if (!pattern.ok()) return FieldError(fields.Place("regex"), pattern.error().message);
    return pattern;
  }
  const std::string_view name = fields.Has("prefix") ? "prefix" : "exactly";
  PENSTOCK_ASSIGN(const std::optional<std::string> text, fields.Text(name));
  return name == "prefix" ? Pattern::Prefix(*text) : Pattern::Exactly(*text);
}

namespace {

Result<void> ReadPatternMember(const JsonFields& fields, std::string_view name,
                               std::optional<Pattern>& into) {
  return IfPresent(fields, name, [&](const Json& json, const std::string& place) -> Result<void> {
    PENSTOCK_ASSIGN(into, ReadPattern(json, place));
    return Ok();
  });
}

// Reads true, false or a pattern.
Result<void> ReadTextCondition(const JsonFields& fields, std::string_view name,
                               std::optional<TextCondition>& into) {
  return IfPresent(fields, name, [&](const Json& json, const std::string& place) -> Result<void> {
    into.emplace();
    if (json.is_boolean()) {
      into->present = json.get<bool>();
      return Ok();
    }
    if (!json.is_string() && !json.is_object()) {
      return FieldError(place,
                        "must be true, false, a string (a glob), or an object with one of glob, "
                        "prefix, exactly, regex");
    }
    PENSTOCK_ASSIGN(into->pattern, ReadPattern(json, place));
    return Ok();
  });
}

Result<void> ReadNamedPatterns(const JsonFields& fields, std::string_view name,
                               std::vector<std::pair<std::string, Pattern>>& into) {
  return IfPresent(fields, name, [&](const Json& json, const std::string& place) -> Result<void> {
    if (!json.is_object()) return FieldError(place, "must be an object of names and patterns");
    for (const auto& [member, value] : json.items()) {
      PENSTOCK_ASSIGN(Pattern pattern, ReadPattern(value, place + "." + member));
      into.emplace_back(member, std::move(pattern));
    }
    return Ok();
  });
}

Result<void> ReadWhole(const JsonFields& fields, std::string_view name, std::uint64_t& into) {
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> number, fields.Whole(name));
  if (number) into = *number;
  return Ok();
}

Result<void> ReadSmall(const JsonFields& fields, std::string_view name, std::uint32_t& into) {
  PENSTOCK_ASSIGN(const std::optional<std::uint64_t> number, fields.Whole(name, 1'000'000));
  if (number) into = static_cast<std::uint32_t>(*number);
  return Ok();
}

Result<void> ReadSeconds(const JsonFields& fields, std::string_view name,
                         std::chrono::nanoseconds& into) {
  PENSTOCK_ASSIGN(const std::optional<std::chrono::nanoseconds> span, fields.Seconds(name));
  if (span) into = *span;
  return Ok();
}

Result<void> ReadOperations(const Json& json, const std::string& place, Condition& condition) {
  const auto add = [&](const Json& name, const std::string& element_place) -> Result<void> {
    if (!name.is_string())
      return FieldError(element_place,
                        "must be a string: an operation, a glob, or a class such as @read");
    Result<std::vector<std::string>> names = ExpandOperation(name.get<std::string>());
    if (!names.ok()) return FieldError(element_place, names.error().message);
    for (std::string& operation : *names) condition.operations.push_back(std::move(operation));
    return Ok();
  };
  if (!json.is_array()) {
    PENSTOCK_TRY(add(json, place));
  } else {
    if (json.empty()) return FieldError(place, "is empty: remove it to match every operation");
    for (std::size_t i = 0; i < json.size(); ++i)
      PENSTOCK_TRY(add(json[i], place + "[" + std::to_string(i) + "]"));
  }
  std::vector<std::string>& operations = condition.operations;
  std::sort(operations.begin(), operations.end());
  operations.erase(std::unique(operations.begin(), operations.end()), operations.end());
  return Ok();
}

Result<void> ReadBucketKind(const JsonFields& fields, Condition& condition) {
  PENSTOCK_ASSIGN(const std::optional<std::string> kind, fields.Text("bucket_kind"));
  if (!kind) return Ok();
  if (*kind != "general" && *kind != "directory") {
    return FieldError(fields.Place("bucket_kind"),
                      "must be general or directory, not '" + *kind + "'");
  }
  condition.directory_bucket = *kind == "directory";
  return Ok();
}

Result<void> ReadRange(const Json& json, const std::string& place, Condition& condition) {
  RangeCondition range;
  if (json.is_boolean()) {
    range.present = json.get<bool>();
  } else {
    if (!json.is_object())
      return FieldError(place, "must be true, false, or an object of covers, first and length");
    PENSTOCK_ASSIGN(const JsonFields fields,
                    JsonFields::Read(json, place, {"covers", "first", "length"}));
    PENSTOCK_ASSIGN(range.covers, fields.Whole("covers"));
    PENSTOCK_TRY(ReadNumbers(fields, "first", range.first));
    PENSTOCK_TRY(ReadNumbers(fields, "length", range.length));
  }
  condition.range = std::move(range);
  return Ok();
}

Result<void> ReadClient(const Json& json, const std::string& place, Condition& condition) {
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, place, {"access_key", "session", "user_agent", "address", "rank"}));
  PENSTOCK_ASSIGN(condition.access_key, fields.Text("access_key"));
  PENSTOCK_TRY(ReadTextCondition(fields, "session", condition.session));
  PENSTOCK_TRY(ReadPatternMember(fields, "user_agent", condition.user_agent));
  PENSTOCK_TRY(ReadPatternMember(fields, "address", condition.address));
  return ReadNumbers(fields, "rank", condition.rank);
}

Result<void> ReadConnection(const Json& json, const std::string& place, Condition& condition) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"reused", "requests", "id"}));
  PENSTOCK_ASSIGN(condition.connection_reused, fields.Flag("reused"));
  PENSTOCK_TRY(ReadNumbers(fields, "requests", condition.connection_requests));
  return ReadCounts(fields, "id", condition.connection_id);
}

Result<void> ReadAfter(const Json& json, const std::string& place, Condition& condition) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"requests", "bytes"}));
  PENSTOCK_TRY(ReadWhole(fields, "requests", condition.after_requests));
  return ReadWhole(fields, "bytes", condition.after_bytes);
}

Result<void> ReadWindow(const Json& json, const std::string& place, Condition& condition) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, place, {"from_s", "to_s", "ramp_s"}));
  TimeWindow window;
  PENSTOCK_TRY(ReadSeconds(fields, "from_s", window.from));
  PENSTOCK_TRY(ReadSeconds(fields, "to_s", window.to));
  PENSTOCK_TRY(ReadSeconds(fields, "ramp_s", window.ramp));
  if (window.to <= window.from) return FieldError(place, "to_s must be more than from_s");
  condition.window = window;
  return Ok();
}

Result<void> ReadBudget(const Json& json, const std::string& place, Limit& limit) {
  PENSTOCK_ASSIGN(const JsonFields fields, JsonFields::Read(json, place, {"most", "of"}));
  Limit::Budget budget;
  PENSTOCK_TRY(ReadSmall(fields, "most", budget.most));
  PENSTOCK_TRY(ReadSmall(fields, "of", budget.of));
  if (budget.most == 0)
    return FieldError(
        fields.Place("most"),
        "must be at least 1: with 0 the rule never applies; remove the budget instead");
  if (budget.most > budget.of && budget.of > 0) {
    return FieldError(fields.Place("most"), "must be at most `of`, not " +
                                                std::to_string(budget.most) + " of " +
                                                std::to_string(budget.of));
  }
  limit.budget = budget;
  return Ok();
}

}  // namespace

Result<Condition> ReadCondition(const Json& json, std::string place) {
  PENSTOCK_ASSIGN(
      const JsonFields fields,
      JsonFields::Read(json, std::move(place),
                       {"operation", "bucket", "bucket_kind", "key", "version", "partition", "part",
                        "range", "size", "header", "query", "client", "attempt", "connection",
                        "nth", "after", "window", "unless_failed", "probability"}));
  Condition condition;
  const auto into = [&condition](auto read) {
    return [read, &condition](const Json& value, const std::string& element_place) {
      return read(value, element_place, condition);
    };
  };
  PENSTOCK_TRY(IfPresent(fields, "operation", into(ReadOperations)));
  PENSTOCK_TRY(ReadPatternMember(fields, "bucket", condition.bucket));
  PENSTOCK_TRY(ReadBucketKind(fields, condition));
  PENSTOCK_TRY(ReadPatternMember(fields, "key", condition.key));
  PENSTOCK_TRY(ReadTextCondition(fields, "version", condition.version));
  PENSTOCK_TRY(ReadNumbers(fields, "partition", condition.partition));
  PENSTOCK_TRY(ReadCounts(fields, "part", condition.part));
  PENSTOCK_TRY(IfPresent(fields, "range", into(ReadRange)));
  PENSTOCK_TRY(ReadNumbers(fields, "size", condition.size));
  PENSTOCK_TRY(ReadNamedPatterns(fields, "header", condition.headers));
  PENSTOCK_TRY(ReadNamedPatterns(fields, "query", condition.query));
  PENSTOCK_TRY(IfPresent(fields, "client", into(ReadClient)));
  PENSTOCK_TRY(ReadCounts(fields, "attempt", condition.attempt));
  PENSTOCK_TRY(IfPresent(fields, "connection", into(ReadConnection)));
  PENSTOCK_TRY(ReadCounts(fields, "nth", condition.nth));
  PENSTOCK_TRY(IfPresent(fields, "after", into(ReadAfter)));
  PENSTOCK_TRY(IfPresent(fields, "window", into(ReadWindow)));
  if (fields.Has("unless_failed")) {
    condition.unless_failed = 0;
    PENSTOCK_TRY(ReadSmall(fields, "unless_failed", *condition.unless_failed));
    if (*condition.unless_failed == 0)
      return FieldError(fields.Place("unless_failed"), "is 0 and never matches; use 1 or more");
  }
  PENSTOCK_ASSIGN(const std::optional<double> probability, fields.Number("probability"));
  if (probability) condition.probability = *probability;
  if (!(condition.probability >= 0 && condition.probability <= 1)) {
    return fields.OutOfRange("probability", "0 to 1");
  }
  return condition;
}

Result<Limit> ReadLimit(const Json& json, std::string place) {
  PENSTOCK_ASSIGN(const JsonFields fields,
                  JsonFields::Read(json, std::move(place), {"times", "per", "budget", "ttl_s"}));
  Limit limit;
  PENSTOCK_ASSIGN(limit.times, fields.Whole("times"));
  PENSTOCK_ASSIGN(const std::optional<std::string> per, fields.Text("per"));
  constexpr std::pair<std::string_view, Per> kPers[] = {{"scenario", Per::kScenario},
                                                        {"invocation", Per::kInvocation},
                                                        {"client", Per::kClient},
                                                        {"key", Per::kKey},
                                                        {"connection", Per::kConnection}};
  if (per) {
    const auto* const found = std::find_if(std::begin(kPers), std::end(kPers),
                                           [&](const auto& row) { return row.first == *per; });
    if (found == std::end(kPers)) {
      return FieldError(
          fields.Place("per"),
          "must be scenario, invocation, client, key or connection, not '" + *per + "'");
    }
    if (!limit.times)
      return FieldError(fields.Place("per"), "sets the scope of `times`: add times");
    limit.per = found->second;
  }
  if (const Json* budget = fields.Find("budget")) {
    PENSTOCK_TRY(ReadBudget(*budget, fields.Place("budget"), limit));
  }
  PENSTOCK_ASSIGN(limit.time_to_live, fields.Seconds("ttl_s"));
  return limit;
}

}  // namespace penstock::emulator::faults
