#include "emulator/server/process/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/ascii.h"
#include "base/text/quantity.h"
#include "emulator/server/process/config_file.h"
#include "emulator/server/process/options.h"
#include "emulator/traffic/limits/limits.h"

namespace penstock::emulator::server {
namespace {

struct Flags {
  EmulatorOptions options;
  std::string diagnostic_log = CommandLine().diagnostic_log;
  bool memory = false;
  std::string durability = "relaxed";
  std::string auth = "verify";
  std::string authorization = "on";
  std::vector<std::string> access_keys;
  std::vector<std::string> secret_keys;
  std::vector<std::string> secret_key_files;
  std::string admin_token_file;
  std::string moto_reset = "auto";
  std::string console = "on";
  std::string limits;
  std::string config;  // read by AddOtherSources
};

// CLI11 parses "-1" as the largest unsigned number, takes that number for all larger ones, and says
// "Could not convert" of other text. These validators return messages with the value and the fix.
// They pass empty values, which RefuseEmptyValues refuses.

template <class Number>
std::string NumberProblem(const std::string& text, const std::string& fix) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.empty()) return {};
  if (parsed.ec == std::errc() && parsed.ptr == end) return {};
  const bool large = parsed.ec == std::errc::result_out_of_range && parsed.ptr == end;
  return "'" + text + "' is " + (large ? "too large" : "not a number") + "; give " + fix;
}

// A signed number. `fix`: "0 to 65535".
CLI::Validator IsInteger(const std::string& fix) {
  return CLI::Validator([fix](std::string& text) { return NumberProblem<int>(text, fix); }, "");
}

CLI::Validator IsShare() {
  return CLI::Validator(
      [](std::string& text) { return NumberProblem<double>(text, "0 to 1, for example 0.05"); },
      "");
}

CLI::Validator IsWhole() {
  return CLI::Validator(
      [](std::string& text) {
        if (text.starts_with('-')) return text + " is negative; give 0 or more";
        return NumberProblem<std::uint64_t>(text, "a whole number up to 18446744073709551615");
      },
      "");
}

// Replaces a number with a unit ("512MiB", "25 ms") by the number in the smallest unit.
template <class Parse>
CLI::Validator InUnits(Parse parse, std::string expected) {
  return CLI::Validator(
      [parse, expected = std::move(expected)](std::string& text) -> std::string {
        if (text.empty()) return {};  // RefuseEmptyValues says it
        const std::optional<std::uint64_t> number = parse(text);
        if (!number) return "'" + text + "' is not " + expected;
        text = std::to_string(*number);
        return {};
      },
      "");
}

CLI::Validator IsSize(const std::string& range) {
  return InUnits(&ParseByteSize, range +
                                     " with or without a unit (KiB, MiB, GiB, TiB, kB, MB, GB, "
                                     "TB), for example 64MiB");
}

CLI::Validator IsDuration(const std::string& range) {
  const auto parse = [](std::string_view text) -> std::optional<std::uint64_t> {
    static constexpr QuantityUnit kUnits[] = {{"ms", 1}, {"s", 1000}};
    return text == "0" ? 0 : ParseQuantity(text, kUnits);
  };
  return InUnits(parse, range + ", for example 25ms");
}

void DeclareListeners(CLI::App& app, Flags& flags) {
  EmulatorOptions& options = flags.options;
  app.footer(
      "penstock-emulator fsck DIR checks the directory of --data DIR; see penstock-emulator fsck "
      "--help.\npenstock-emulator health checks that an emulator serves; see penstock-emulator "
      "health --help.\n\nEach option also has an environment variable, PENSTOCK_EMULATOR_ and its "
      "name, for example PENSTOCK_EMULATOR_MEMORY_LIMIT (lists: one value; a flag: true), and a "
      "key "
      "in the file of --config, for example memory_limit. The command line has precedence over "
      "variables, and variables over the file.");
  app.add_option("--config", flags.config, "TOML file with options");
  app.set_version_flag("--version", std::string("penstock-emulator ") + PENSTOCK_VERSION);
  app.add_option("--host", options.host, "address to listen on")->capture_default_str();
  options.port = kDefaultPort;
  app.add_option("--port", options.port, "port for S3; 0: any free one")
      ->check(IsInteger("0 to 65535"))
      ->capture_default_str();
  app.add_option("--admin-port", options.admin_port,
                 "port for /_penstock; 0: any free one, -1: none")
      ->check(IsInteger("-1 to 65535"))
      ->capture_default_str();
  app.add_option("--admin-host", options.admin_host,
                 "address of the admin listener, which needs no signature; one that other machines "
                 "can reach needs an admin token")
      ->capture_default_str();
  app.add_option("--admin-allow-host", options.admin_allowed_hosts,
                 "name that the Host header of admin requests may have, besides localhost and IP "
                 "addresses of this listener; repeatable");
  app.add_option("--admin-token", options.admin_token,
                 "token that admin requests need (Authorization: Bearer TOKEN). Visible in "
                 "the process list: prefer --admin-token-file or "
                 "the environment variable PENSTOCK_EMULATOR_ADMIN_TOKEN");
  app.add_option("--admin-token-file", flags.admin_token_file, "file with the admin token");
  app.add_option("--moto-reset", flags.moto_reset,
                 "POST /moto-api/reset on the S3 port, which needs no signature; auto: on in "
                 "memory on a loopback address")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str();
  app.add_option("--console", flags.console, "the web console at /console/ of the admin port")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
}

void DeclareStorage(CLI::App& app, Flags& flags) {
  EmulatorOptions& options = flags.options;
  auto* data = app.add_option("--data", options.data_directory,
                              "directory for buckets and the users of the admin API");
  app.add_flag("--memory", flags.memory, "keep buckets in memory only (the default without --data)")
      ->excludes(data);
  app.add_option("--memory-limit", options.memory_limit_bytes,
                 "limit for the memory of objects (without --data), request documents, namespaces, "
                 "fault scenarios and limits, for example 512MiB; beyond it uploads get 507 and "
                 "documents 503. 0: "
                 "three quarters of the control group's limit, else half of the machine's memory")
      ->transform(IsSize("0, or 1048576 (1MiB) to 9223372036854775807 bytes"))
      ->capture_default_str();
  app.add_option(
         "--durability", flags.durability,
         "strict: acknowledged writes are on disk; relaxed: they survive a crash of the process")
      ->check(CLI::IsMember({"strict", "relaxed"}))
      ->capture_default_str();
  app.add_option("--scrub-rate", options.scrub_bytes_per_second,
                 "rate per second of the background check of --data for damage, for example 8MiB; "
                 "0: no check")
      ->transform(IsSize("0, or 65536 (64KiB) bytes per second or more"))
      ->capture_default_str();
}

void DeclareAccess(CLI::App& app, Flags& flags) {
  EmulatorOptions& options = flags.options;
  app.add_option("--access-key", flags.access_keys,
                 "access key id; repeatable, each with a --secret-key. Without keys and users: "
                 "penstock / penstock-secret");
  app.add_option(
      "--secret-key", flags.secret_keys,
      "secret of the access key at the same position. Visible in the process list: prefer "
      "--secret-key-file or, for one key, the "
      "environment variable PENSTOCK_EMULATOR_SECRET_KEY");
  app.add_option("--secret-key-file", flags.secret_key_files,
                 "file with the secret of the access key at the same position; repeatable");
  app.add_option("--users", options.users_path,
                 "JSON file of accounts, users and access keys (docs/reference/admin-api.md)");
  app.add_option(
         "--auth", flags.auth,
         "verify: check everything; parse: check form, region, clock skew, expiry and "
         "inactive keys, but no signature and no "
         "payload hash: no secret is needed; off: every request belongs to the first access key")
      ->check(CLI::IsMember({"verify", "parse", "off"}))
      ->capture_default_str();
  app.add_option("--authorization", flags.authorization,
                 "on: policies, ACLs and Block Public Access decide, as in S3; off: an account may "
                 "do everything in its own buckets and nothing in others")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--region", options.region, "home region, also for host names without a region")
      ->capture_default_str();
  app.add_flag("--relaxed-bucket-names", options.relaxed_bucket_names,
               "also accept bucket names that S3 rejects but S3 mocks accept: 1 to 255 letters, "
               "digits, '.', '-' and '_'");
}

void DeclareFaults(CLI::App& app, Flags& flags) {
  EmulatorOptions& options = flags.options;
  app.add_option("--fail-rate", options.fail_rate,
                 "share of requests that get 503 SlowDown, 0 to 1")
      ->check(IsShare())
      ->capture_default_str();
  app.add_option("--fail-seed", options.fail_seed, "seed that selects the requests that fail")
      ->check(IsWhole())
      ->capture_default_str();
  app.add_option("--faults", options.faults_path,
                 "JSON file with the initial faults of every namespace (docs/reference/faults.md)");
  app.add_option("--first-byte-delay", options.first_byte_delay_ms,
                 "delay of every GET and HEAD response, as with a distant region: 25ms, 1s")
      ->transform(IsDuration("0, or 1ms to 60s"))
      ->capture_default_str();
  app.add_option("--limits", flags.limits,
                 "limits, latency and bandwidth of S3: aws-standard, aws-strict, aws-express or "
                 "a JSON FILE (docs/limits.schema.json)");
}

void DeclareTlsAndLogs(CLI::App& app, Flags& flags) {
  EmulatorOptions& options = flags.options;
  app.add_option("--tls-cert", options.tls_certificate_path,
                 "PEM certificate chain; enables HTTPS");
  app.add_option("--tls-key", options.tls_key_path, "PEM private key");
  app.add_option("--journal-size", options.journal_bytes,
                 "memory for each namespace's journal of requests, 128KiB or more; 0: no journal")
      ->transform(IsSize("0, or 131072 (128KiB) to 1099511627776 bytes (1TiB)"))
      ->capture_default_str();
  app.add_option("--event-sink", options.event_sinks,
                 "where the events of a destination are sent: ARN=file:PATH or "
                 "ARN=http://HOST:PORT/PATH; '*' in the ARN matches any characters; repeatable");
  app.add_flag("--yield-to-clients", options.yield_to_clients,
               "from 16 connections on, let clients on the same machine run first (SCHED_BATCH)");
  app.add_option("--log", options.log_path,
                 "append one JSON line per request to FILE; '-': standard error");
  app.add_option(
         "--diagnostic-log", flags.diagnostic_log,
         "append one JSON line per internal error that does not end the process, at most one a "
         "second of each kind, to FILE; '-': standard error")
      ->capture_default_str();
}

Error Usage(std::string message) {
  return Error::Make(ErrorKind::kInvalidArgument, std::move(message));
}

// Returns a preset's name unchanged, and for other values the text of the file.
Result<std::string> ReadLimits(const std::string& name) {
  if (name.empty() || traffic::PresetLimits(name).ok()) return name;
  std::string presets;
  for (const std::string_view preset : traffic::PresetNames())
    presets += std::string(presets.empty() ? "" : ", ") + std::string(preset);
  const std::string takes = "give a JSON file (docs/limits.schema.json) or one of " + presets;
  PENSTOCK_ASSIGN(std::string text,
                  ReadConfigFile({.what = "limits file", .path = name, .fix = takes}));
  if (text.empty()) return Usage("limits file '" + name + "' is empty; " + takes);
  return text;
}

// Returns the only line of a file.
Result<std::string> ReadSecret(const std::string& what, const std::string& path) {
  PENSTOCK_ASSIGN(
      std::string text,
      ReadConfigFile(
          {.what = what, .path = path, .fix = "name a file with the secret as its only line"}));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (!text.empty() && text.find_first_of("\r\n") == std::string::npos) return text;
  return Usage(what + " '" + path + "' must have exactly one line, and it must not be empty");
}

Error EmptyValue(const std::string& flag) {
  return Usage(flag + " is empty; give it a value, or leave the option out");
}

// Rejects "--data=": CLI11 would use the next argument as the value.
Result<void> RefuseMissingValues(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      return EmptyValue(argument.substr(0, argument.size() - 1));
  }
  return Ok();
}

// Rejects empty values: no option accepts one, and CLI11 would parse it as the number 0.
Result<void> RefuseEmptyValues(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) return EmptyValue(option->get_name());
    }
  }
  return Ok();
}

Result<std::vector<std::string>> SecretsOf(const Flags& flags) {
  if (!flags.secret_keys.empty() && !flags.secret_key_files.empty()) {
    return Usage("secrets are given by --secret-key and by --secret-key-file; use one of the two");
  }
  std::vector<std::string> secrets = flags.secret_keys;
  for (const std::string& path : flags.secret_key_files) {
    PENSTOCK_ASSIGN(secrets.emplace_back(), ReadSecret("secret key file", path));
  }
  return secrets;
}

Result<void> TakeAccessKeys(Flags& flags) {
  PENSTOCK_ASSIGN(const std::vector<std::string> secrets, SecretsOf(flags));
  if (flags.access_keys.size() != secrets.size()) {
    return Usage(std::to_string(flags.access_keys.size()) + " --access-key but " +
                 std::to_string(secrets.size()) +
                 (flags.secret_key_files.empty() ? " --secret-key" : " --secret-key-file") +
                 "; give one secret with each key, also where they come from variables or a file");
  }
  for (std::size_t i = 0; i < secrets.size(); ++i)
    flags.options.access_keys.push_back({flags.access_keys[i], secrets[i]});
  return Ok();
}

Result<void> TakeAdminToken(Flags& flags) {
  std::string& token = flags.options.admin_token;
  if (flags.admin_token_file.empty()) return Ok();
  if (!token.empty())
    return Usage(
        "the admin token is given by --admin-token and by --admin-token-file; use one of the two");
  PENSTOCK_ASSIGN(token, ReadSecret("admin token file", flags.admin_token_file));
  return Ok();
}

// Names the flags without their values: the value of a mistyped --secret-key is a secret.
Error UnknownFlags(const std::vector<std::string>& extras) {
  std::string names;
  for (const std::string& extra : extras) {
    if (extra.starts_with('-')) names += " " + extra.substr(0, extra.find('='));
  }
  return Usage(
      names.empty()
          ? std::string("unexpected argument; options have the form --flag value, see --help")
          : "unknown flag:" + names + "; see --help");
}

// The message of a parser's error, with the variable or key in place of an option that came from
// there.
std::string WithSource(std::string message, const Settings& settings) {
  for (const auto& [option, source] : settings.sources) {
    const std::string name = "--" + option;
    if (message.starts_with(name + ":")) return source + message.substr(name.size());
  }
  return message;
}

std::vector<std::string> NamesOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name().substr(2);
    if (name != "help" && name != "version") names.push_back(name);
  }
  return names;
}

}  // namespace

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv,
                                     const Environment& environment) {
  CLI::App app("An S3 emulator for development and tests.", "penstock-emulator");
  Flags flags;
  // --help lists the options in this order.
  for (const auto declare :
       {DeclareListeners, DeclareStorage, DeclareAccess, DeclareFaults, DeclareTlsAndLogs})
    declare(app, flags);
  PENSTOCK_ASSIGN(const Settings settings,
                  AddOtherSources({argv + 1, argv + argc}, NamesOf(app), environment));
  PENSTOCK_TRY(RefuseMissingValues(settings.arguments));
  try {
    app.parse(std::vector<std::string>(settings.arguments.rbegin(), settings.arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return CommandLine{.text = app.help()};
  } catch (const CLI::CallForVersion& version) {
    return CommandLine{.text = std::string(version.what()) + "\n"};
  } catch (const CLI::ExtrasError&) {
    return UnknownFlags(app.remaining());
  } catch (const CLI::ParseError& error) {
    return Usage(WithSource(error.what(), settings));
  }
  PENSTOCK_TRY(RefuseEmptyValues(app));
  PENSTOCK_TRY(TakeAccessKeys(flags));
  PENSTOCK_TRY(TakeAdminToken(flags));
  if (flags.moto_reset != "auto") flags.options.moto_reset = flags.moto_reset == "on";
  flags.options.console = flags.console == "on";
  PENSTOCK_ASSIGN(flags.options.limits_json, ReadLimits(flags.limits));
  flags.options.durability =
      flags.durability == "strict" ? DurabilityMode::kStrict : DurabilityMode::kRelaxed;
  flags.options.auth = flags.auth == "verify"  ? AuthMode::kVerify
                       : flags.auth == "parse" ? AuthMode::kParse
                                               : AuthMode::kOff;
  flags.options.authorization =
      flags.authorization == "on" ? AuthorizationMode::kOn : AuthorizationMode::kOff;
  PENSTOCK_ASSIGN(EmulatorOptions checked, CheckedOptions(std::move(flags.options)));
  return CommandLine{.options = std::move(checked),
                     .diagnostic_log = std::move(flags.diagnostic_log),
                     .text = std::nullopt};
}

}  // namespace penstock::emulator::server
