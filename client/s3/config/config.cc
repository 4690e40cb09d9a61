#include "client/s3/config/config.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "client/memory/default_limit.h"

namespace penstock::s3 {
namespace {

constexpr int kMaxAttemptsLimit = 64;
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::seconds(1'000'000'000);
constexpr int kMaxIoThreads = 64;                // As http::kMaxIoThreads.
constexpr int kMaxConnections = 4096;            // As http::kMaxConnections.
constexpr std::uint64_t kLowestRate = 64 << 10;  // Bytes per second.

Error Invalid(std::string message, std::string_view setting = {}) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message)).About(setting);
}

// The value of a setting and its origin, for messages.
struct Setting {
  std::string value;
  std::string origin;
};

// Looks up settings by environment variable, then by profile key.
class Settings {
 public:
  Settings(const auth::Environment& environment, const auth::ProfileSet& profiles,
           std::string profile_name)
      : environment_(environment),
        profiles_(profiles),
        profile_name_(std::move(profile_name)),
        profile_(profiles.FindProfile(profile_name_)) {}

  std::optional<Setting> Variable(const std::string& name) const {
    auto value = environment_.Get(name);
    if (!value) return std::nullopt;
    return Setting{*std::move(value), name};
  }

  std::optional<Setting> Profile(const std::string& key) const {
    if (profile_ == nullptr) return std::nullopt;
    auto value = profile_->Find(key);
    if (!value || value->empty()) return std::nullopt;
    return Setting{*std::move(value), key + " of profile " + profile_name_};
  }

  std::optional<Setting> S3Service(const std::string& key) const {
    if (profile_ == nullptr) return std::nullopt;
    auto value = profiles_.FindServiceSetting(*profile_, "s3", key);
    if (!value || value->empty()) return std::nullopt;
    return Setting{*std::move(value), "s3." + key + " in the services of profile " + profile_name_};
  }

  std::optional<Setting> Either(const std::string& variable, const std::string& key) const {
    auto found = Variable(variable);
    return found ? found : Profile(key);
  }

 private:
  const auth::Environment& environment_;
  const auth::ProfileSet& profiles_;
  std::string profile_name_;
  const auth::Section* profile_;
};

Result<bool> ReadFlag(const std::optional<Setting>& setting, bool unset = false) {
  if (!setting) return unset;
  const std::string value = AsciiLower(setting->value);
  if (value == "true") return true;
  if (value == "false") return false;
  return Invalid(setting->origin + " must be true or false, not `" + setting->value + "`");
}

Result<bool> ReadChecksumPolicy(ChecksumPolicy configured, const std::optional<Setting>& setting) {
  if (configured != ChecksumPolicy::kDefault) return configured == ChecksumPolicy::kWhenSupported;
  if (!setting) return true;
  const std::string value = AsciiLower(setting->value);
  if (value == "when_supported") return true;
  if (value == "when_required") return false;
  return Invalid(setting->origin + " must be when_supported or when_required, not `" +
                 setting->value + "`");
}

Result<const RetryRules*> ReadRetryMode(RetryMode configured, const Settings& settings) {
  PENSTOCK_ASSIGN(const bool use_2026_rules, ReadFlag(settings.Variable("AWS_NEW_RETRIES_2026")));
  if (configured != RetryMode::kDefault) return &RetryRulesOf(configured, use_2026_rules);
  const auto setting = settings.Either("AWS_RETRY_MODE", "retry_mode");
  if (!setting)
    return &RetryRulesOf(use_2026_rules ? RetryMode::kStandard : RetryMode::kTuned, use_2026_rules);
  const std::string value = AsciiLower(setting->value);
  for (const RetryRules& rules : kRetryRules) {
    if (rules.name == value) return &RetryRulesOf(rules.mode, use_2026_rules);
  }
  return Invalid(setting->origin + " must be tuned, legacy, standard or adaptive, not `" +
                 setting->value + "`");
}

Result<int> ReadMaxAttempts(std::optional<int> configured, const Settings& settings,
                            const RetryRules& rules) {
  std::string origin = "max_attempts";
  if (!configured) {
    const auto setting = settings.Either("AWS_MAX_ATTEMPTS", "max_attempts");
    if (!setting) return rules.max_attempts;
    origin = setting->origin;
    const std::string& text = setting->value;
    int parsed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error != std::errc{} || end != text.data() + text.size()) {
      return Invalid(origin + " must be 1 to 64, not `" + text + "`", "max_attempts");
    }
    configured = parsed;
  }
  if (*configured < 1 || *configured > kMaxAttemptsLimit) {
    return Invalid(
        origin + " must be 1 to 64 (1 means no retries), not " + std::to_string(*configured),
        "max_attempts");
  }
  return *configured;
}

// The origin is empty for the URL of the configuration.
Result<Setting> FindEndpointUrl(const std::string& configured, const Settings& settings) {
  if (!configured.empty()) return Setting{configured, {}};
  PENSTOCK_ASSIGN(const bool ignore, ReadFlag(settings.Either("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
                                                              "ignore_configured_endpoint_urls")));
  if (ignore) return Setting();
  for (const auto& found :
       {settings.Variable("AWS_ENDPOINT_URL_S3"), settings.Variable("AWS_ENDPOINT_URL"),
        settings.S3Service("endpoint_url"), settings.Profile("endpoint_url")}) {
    if (found) return *found;
  }
  return Setting();
}

Result<AddressingStyle> FindAddressingStyle(AddressingStyle configured, const Settings& settings) {
  const auto setting = settings.Either("PENSTOCK_ADDRESSING_STYLE", "s3.addressing_style");
  if (configured != AddressingStyle::kAuto || !setting) return configured;
  const std::string value = AsciiLower(setting->value);
  if (value == "auto") return AddressingStyle::kAuto;
  if (value == "path") return AddressingStyle::kPath;
  if (value == "virtual") return AddressingStyle::kVirtual;
  return Invalid(setting->origin + " must be auto, virtual or path, not `" + setting->value + "`");
}

// TLS reads its files for each connection. Opening a FIFO would wait for a writer each time, and
// stop all transfers of that I/O thread.
Result<void> RefuseFifo(const std::string& origin, const std::string& path) {
  struct ::stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode))
    return Invalid(origin + " is '" + path + "', a FIFO; give a regular file");
  return Ok();
}

Result<std::string> FindCaBundle(const std::string& configured, const Settings& settings) {
  Setting found{configured, "ca_bundle_path"};
  if (configured.empty())
    found = settings.Either("AWS_CA_BUNDLE", "ca_bundle").value_or(std::move(found));
  PENSTOCK_TRY(RefuseFifo(found.origin, found.value));
  return std::move(found.value);
}

std::string FindRegion(const ClientConfig& config, const Settings& settings) {
  if (!config.region.empty()) return config.region;
  for (const auto& found : {settings.Variable("AWS_REGION"),
                            settings.Variable("AWS_DEFAULT_REGION"), settings.Profile("region")}) {
    if (found) return found->value;
  }
  return config.endpoint_url.empty() ? std::string() : "us-east-1";
}

Result<void> CheckConnections(const ClientConfig& config) {
  if (config.io_threads && (*config.io_threads < 1 || *config.io_threads > kMaxIoThreads)) {
    return Invalid("io_threads must be 1 to " + std::to_string(kMaxIoThreads) + ", not " +
                       std::to_string(*config.io_threads),
                   "io_threads");
  }
  if (config.retry_policy && config.async_retry_policy) {
    return Invalid("retry_policy and async_retry_policy exclude each other; set one",
                   "async_retry_policy");
  }
  if (config.max_connections &&
      (*config.max_connections < 1 || *config.max_connections > kMaxConnections)) {
    return Invalid("max_connections must be 1 to " + std::to_string(kMaxConnections) + ", not " +
                       std::to_string(*config.max_connections),
                   "max_connections");
  }
  if (config.max_bytes_per_second && *config.max_bytes_per_second < kLowestRate) {
    return Invalid("max_bytes_per_second must be at least " + std::to_string(kLowestRate) +
                       ", not " + std::to_string(*config.max_bytes_per_second),
                   "max_bytes_per_second");
  }
  if (config.client_certificate_path.empty() &&
      !(config.client_key_path.empty() && config.client_key_password.empty())) {
    return Invalid("client_key_path and client_key_password require client_certificate_path",
                   "client_certificate_path");
  }
  PENSTOCK_TRY(RefuseFifo("client_certificate_path", config.client_certificate_path));
  return RefuseFifo("client_key_path", config.client_key_path);
}

Result<void> CheckClient(const ClientConfig& config) {
  PENSTOCK_TRY(CheckConnections(config));
  if (config.requester_pays && config.signing == Signing::kUnsigned) {
    return Invalid(
        "requester_pays requires authenticated requests and cannot be combined with unsigned; drop "
        "one");
  }
  // Both comparisons: a char of a non-ASCII byte is negative on x86-64 and positive on ARM64.
  const auto not_printable = [](char c) { return c < ' ' || c > '~'; };
  if (std::ranges::any_of(config.user_agent, not_printable)) {
    return Invalid("user_agent has a control or non-ASCII character; use printable ASCII");
  }
  for (const auto& [name, timeout] : {std::pair{"attempt_timeout", config.attempt_timeout},
                                      std::pair{"operation_timeout", config.operation_timeout}}) {
    if (timeout.count() < 0 || timeout > kLongestTimeout) {
      return Invalid(std::string(name) + " must be 0 (no limit) to " +
                         std::to_string(kLongestTimeout.count()) + " ms (31 years), not " +
                         std::to_string(timeout.count()) + " ms",
                     name);
    }
  }
  for (const auto& [name, timeout] : {std::pair{"connect_timeout", config.connect_timeout},
                                      std::pair{"idle_timeout", config.idle_timeout},
                                      std::pair{"low_speed_time", config.low_speed_time}}) {
    if (timeout.count() <= 0 || timeout > kLongestTimeout) {
      return Invalid(std::string(name) + " must be 1 to " +
                         std::to_string(kLongestTimeout.count()) + " ms (31 years), not " +
                         std::to_string(timeout.count()) + " ms",
                     name);
    }
  }
  return Ok();
}

// The configured value if set, else the variable or the profile key.
Result<bool> ReadSwitch(std::optional<bool> given, const std::optional<Setting>& setting,
                        bool unset = false) {
  return given ? Result<bool>(*given) : ReadFlag(setting, unset);
}

Result<void> ReadEndpointFlags(const Settings& settings, ResolvedConfig& out) {
  const ClientConfig& given = out.client;
  const auto either = [&](const std::string& variable, const std::string& key,
                          const std::string& nested) {
    auto found = settings.Either(variable, key);
    return found || nested.empty() ? found : settings.Profile(nested);
  };
  PENSTOCK_ASSIGN(out.fips, ReadSwitch(given.use_fips_endpoint,
                                       either("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", "")));
  PENSTOCK_ASSIGN(out.dualstack,
                  ReadSwitch(given.use_dualstack_endpoint,
                             either("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint",
                                    "s3.use_dualstack_endpoint")));
  PENSTOCK_ASSIGN(out.accelerate, ReadSwitch(given.use_accelerate_endpoint,
                                             settings.Profile("s3.use_accelerate_endpoint")));
  PENSTOCK_ASSIGN(
      out.use_arn_region,
      ReadSwitch(given.use_arn_region,
                 either("AWS_S3_USE_ARN_REGION", "s3_use_arn_region", "s3.use_arn_region"), true));
  PENSTOCK_ASSIGN(const bool no_mrap,
                  ReadSwitch(given.disable_multi_region_access_points,
                             either("AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS",
                                    "s3_disable_multiregion_access_points", "")));
  out.multi_region_access_points = !no_mrap;
  PENSTOCK_ASSIGN(const bool no_sessions,
                  ReadSwitch(given.disable_s3_express_session_auth,
                             either("AWS_S3_DISABLE_EXPRESS_SESSION_AUTH",
                                    "s3_disable_express_session_auth", "")));
  out.express_sessions = !no_sessions;
  const auto us_east_1 = either("AWS_S3_US_EAST_1_REGIONAL_ENDPOINT",
                                "s3_us_east_1_regional_endpoint", "s3.us_east_1_regional_endpoint");
  if (!us_east_1) return Ok();
  const std::string value = AsciiLower(us_east_1->value);
  if (value != "legacy" && value != "regional") {
    return Invalid(us_east_1->origin + " must be legacy or regional, not `" + us_east_1->value +
                   "`");
  }
  out.global_us_east_1 = value == "legacy";
  return Ok();
}

Result<void> ReadChecksumPolicies(const Settings& settings, ResolvedConfig& out) {
  PENSTOCK_ASSIGN(out.upload_checksums,
                  ReadChecksumPolicy(out.client.upload_checksums,
                                     settings.Either("AWS_REQUEST_CHECKSUM_CALCULATION",
                                                     "request_checksum_calculation")));
  PENSTOCK_ASSIGN(out.verify_downloads,
                  ReadChecksumPolicy(out.client.download_checksums,
                                     settings.Either("AWS_RESPONSE_CHECKSUM_VALIDATION",
                                                     "response_checksum_validation")));
  return Ok();
}

// This option is specific to Penstock, so there is no profile key for it.
// The limit applies to the process (SetMemoryLimit). A variable that cannot be parsed fails the
// first Client.
Result<void> CheckMemoryLimit(const auth::Environment& environment) {
  const std::optional<std::string> text = environment.Get("PENSTOCK_MEMORY_LIMIT");
  if (text && !text->empty()) PENSTOCK_TRY(memory::ParseMemoryLimit(*text));
  return Ok();
}

// As for the memory limit, there are no profile keys.
Result<void> ReadCache(const Settings& settings, NodeCacheConfig& cache) {
  if (!cache.directory) {
    const auto variable = settings.Variable("PENSTOCK_CACHE_DIR");
    cache.directory = variable ? variable->value : std::string();
  }
  if (cache.directory->empty()) return Ok();
  const auto size = settings.Variable("PENSTOCK_CACHE_SIZE");
  if (!cache.max_bytes && size && !size->value.empty()) {
    PENSTOCK_ASSIGN(cache.max_bytes, ParseCacheSize("PENSTOCK_CACHE_SIZE", size->value));
  }
  if (!cache.max_bytes || *cache.max_bytes >= kMinCacheBytes) return Ok();
  return Invalid("the size of the cache must be at least " + std::to_string(kMinCacheBytes) +
                     " bytes (16MiB), not " + std::to_string(*cache.max_bytes),
                 "cache");
}

}  // namespace

EndpointInputs ResolvedConfig::EndpointFor(const std::string& bucket, const std::string& region,
                                           const OperationRules& rules) const {
  return {.bucket = bucket,
          .region = region,
          .custom = endpoint,
          .addressing_style = client.addressing_style,
          .fips = fips,
          .dualstack = dualstack,
          .accelerate = accelerate && !rules.never_accelerated,
          .global_us_east_1 = global_us_east_1,
          .use_arn_region = use_arn_region,
          .multi_region_access_points = multi_region_access_points,
          .express_sessions = express_sessions,
          .operation = rules};
}

Result<ResolvedConfig> ResolveConfig(ClientConfig config, const auth::Environment& environment) {
  PENSTOCK_TRY(CheckClient(config));
  PENSTOCK_ASSIGN(const auth::ProfileSet profiles, auth::LoadProfiles(environment));
  const Settings settings(environment, profiles,
                          auth::SelectProfileName(environment, config.profile));
  ResolvedConfig out;
  out.client = std::move(config);
  PENSTOCK_ASSIGN(Setting url, FindEndpointUrl(out.client.endpoint_url, settings));
  out.client.endpoint_url = std::move(url.value);
  if (!out.client.endpoint_url.empty()) {
    auto endpoint = ParseEndpointUrl(out.client.endpoint_url);
    if (!endpoint.ok() && !url.origin.empty())
      endpoint.error().message.insert(0, url.origin + ": ");
    PENSTOCK_ASSIGN(out.endpoint, std::move(endpoint));
  }
  PENSTOCK_ASSIGN(out.client.addressing_style,
                  FindAddressingStyle(out.client.addressing_style, settings));
  PENSTOCK_ASSIGN(out.retry_rules, ReadRetryMode(out.client.retry_mode, settings));
  out.client.retry_mode = out.retry_rules->mode;
  PENSTOCK_ASSIGN(out.max_attempts,
                  ReadMaxAttempts(out.client.max_attempts, settings, *out.retry_rules));
  out.client.max_attempts = out.max_attempts;
  out.client.region = FindRegion(out.client, settings);
  PENSTOCK_ASSIGN(out.client.ca_bundle_path, FindCaBundle(out.client.ca_bundle_path, settings));
  PENSTOCK_TRY(CheckMemoryLimit(environment));
  PENSTOCK_TRY(ReadEndpointFlags(settings, out));
  PENSTOCK_ASSIGN(out.hedge_reads, ReadSwitch(out.client.hedge_reads,
                                              settings.Variable("PENSTOCK_HEDGE_READS"), true));
  PENSTOCK_TRY(ReadChecksumPolicies(settings, out));
  PENSTOCK_TRY(ReadCache(settings, out.client.cache));
  // Reports errors that are independent of the bucket now instead of at the first request.
  PENSTOCK_TRY(ResolveEndpoint(out.EndpointFor("", out.client.region)));
  return out;
}

}  // namespace penstock::s3
