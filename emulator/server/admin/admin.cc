#include "emulator/server/admin/admin.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/log/diagnostics.h"
#include "emulator/console/console.h"
#include "emulator/http/parsing/head_parser.h"
#include "emulator/s3/protocol/text.h"
#include "emulator/server/admin/admin_json.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/store/system/memory_limit.h"

namespace penstock::emulator::server {
namespace {

constexpr std::size_t kLongestBody = 8 << 20;  // the same as for a users file
constexpr std::string_view kRoot = "/_penstock/";

// Sent instead of the diagnostic log's message, which names files of this machine.
constexpr char kFailedInside[] = "internal error of the emulator; its diagnostic log has the cause";
constexpr char kNoRoom[] =
    "the emulator has run out of disk space, memory or open files; free some and retry (its "
    "diagnostic log says which)";

constinit DiagnosticEvent request_failed("admin.request_failed");

int StatusOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kCancelled:
    case ErrorKind::kInvalidArgument: return 400;
    case ErrorKind::kNotFound: return 404;
    case ErrorKind::kAlreadyExists: return 409;
    case ErrorKind::kUnavailable: return 503;
    case ErrorKind::kResourceExhausted: return 507;
    default: return 500;
  }
}

std::string_view CodeOf(int status) {
  switch (status) {
    case 400: return "InvalidArgument";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 405: return "MethodNotAllowed";
    case 406: return "NotAcceptable";
    case 409: return "AlreadyExists";
    case 421: return "MisdirectedRequest";
    case 503: return "ServiceUnavailable";
    case 507: return "InsufficientStorage";
    default: return "InternalError";
  }
}

void Respond(message::Exchange& exchange, int status, AdminBody body,
             std::string_view content_type = "application/json") {
  exchange.response = message::Response();
  exchange.response.status = status;
  exchange.response.Add("Content-Type", std::string(content_type));
  exchange.response.Add("Cache-Control", "no-store");
  // The listener's origin may use the whole API (AdmitOrigin): no response may run as a script.
  exchange.response.Add("X-Content-Type-Options", "nosniff");
  const bool is_head = exchange.request.method == "HEAD";
  std::visit(
      [&](auto& bytes) {
        if constexpr (requires { bytes.size(); }) {
          if (is_head) exchange.response.content_length = bytes.size();
          else exchange.response.body = std::move(bytes);
        } else {
          exchange.response.stream = std::move(bytes);
        }
      },
      body);
}

void RespondWithError(message::Exchange& exchange, int status, const std::string& message) {
  Respond(exchange, status, JsonText({{"error", message}, {"code", CodeOf(status)}}));
}

void Refuse(message::Exchange& exchange, int status, const std::string& message) {
  RespondWithError(exchange, status, message);
  exchange.response.close = true;  // the rest of its body may still arrive
}

// DocumentCharge's SlowDown where there is no memory for the body.
Result<std::string> ReadBody(message::Exchange& exchange, store::DocumentCharge& charge) {
  std::string text;
  if (exchange.body == nullptr) return text;
  std::array<std::byte, 16 << 10> buffer;
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, exchange.body->Read(buffer));
    if (count == 0) return text;
    if (text.size() + count > kLongestBody) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the body is longer than 8 MiB; send it in several requests");
    }
    PENSTOCK_TRY(charge.GrowTo(text.size() + count));
    text.append(reinterpret_cast<const char*>(buffer.data()), count);
  }
}

// Parses "a=1&b". Names and values that cannot be decoded are kept unchanged.
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(pair.size(), equals + 1));
    const auto decoded = [](std::string_view part) {
      return s3::PercentDecode(part, {}).value_or(std::string(part));
    };
    query.emplace_back(decoded(pair.substr(0, equals)), decoded(value));
  }
  return query;
}

class Admin final : public message::Handler {
 public:
  Admin(Emulator& emulator, AdminOptions options)
      : emulator_(emulator), options_(std::move(options)) {}

  std::unique_ptr<message::Exchange> NewExchange(message::RequestHead& request,
                                                 message::Connection& connection) override {
    return IsUnsignedS3(request) ? options_.unsigned_s3->NewExchange(request, connection)
                                 : message::Handler::NewExchange(request, connection);
  }

  void Handle(message::Exchange& exchange) override {
    if (IsUnsignedS3(exchange.request)) return HandleUnsignedS3(exchange);
    AdminCall call;
    call.client_gone = [wire = exchange.wire] { return wire != nullptr && wire->PeerHasClosed(); };
    call.concurrency = &concurrency_;
    call.hooks = &options_.hooks;
    call.host = exchange.request.Find("host").value_or(std::string_view());
    const std::string_view target = exchange.request.target;
    if (options_.metadata != nullptr && Metadata::Serves(target)) {
      if (AdmitOrigin(exchange)) options_.metadata->Handle(exchange, HasToken(exchange));
      return;
    }
    if (console::IsConsoleTarget(target)) return ServeConsole(exchange);
    call.path = target.substr(0, target.find('?'));
    if (call.path.size() < target.size())
      call.query = ParseQuery(target.substr(call.path.size() + 1));
    if (IsAdminAlias(exchange.request.method, exchange.request.target)) {
      call.path = exchange.request.method == "POST" ? "reset" : "health";
      if (call.path == "reset" && !options_.moto_reset) {
        return Refuse(exchange, 403,
                      "POST /moto-api/reset is off on this S3 port; start with --moto-reset on, or "
                      "use the admin API");
      }
    } else if (call.path.starts_with(kRoot)) {
      call.path.erase(0, kRoot.size());
    } else {
      return RefusePath(exchange);
    }
    if (call.path != "health" && !Admit(exchange)) return;
    store::DocumentCharge charge(options_.document_memory.get());
    auto body = ReadBody(exchange, charge);
    if (!body.ok())
      return Refuse(exchange, body.error().kind == ErrorKind::kThrottled ? 503 : 400,
                    body.error().message);
    call.body = std::move(body).value();
    if (const std::size_t slash = call.path.find('/'); slash != std::string::npos) {
      call.name = s3::PercentDecode(std::string_view(call.path).substr(slash + 1), {})
                      .value_or(std::string());
      call.path.erase(slash + 1);
    }
    Dispatch(exchange, call);
  }

  // Only requests of S3 leave their response pending.
  void Finish(message::Exchange& exchange) override { options_.unsigned_s3->Finish(exchange); }

 private:
  bool IsUnsignedS3(const message::RequestHead& request) const {
    return options_.unsigned_s3 != nullptr && UnsignedS3::Serves(request.target);
  }

  void HandleUnsignedS3(message::Exchange& exchange) {
    if (!Admit(exchange)) return;
    const Result<void> handled = options_.unsigned_s3->Handle(exchange);
    if (handled.ok()) return;
    RespondWithFailure(exchange, "s3", handled.error());
    exchange.response.close = true;  // the rest of its body may still arrive
  }

  // Returns false after it has sent an error.
  bool Admit(message::Exchange& exchange) const {
    if (!AdmitOrigin(exchange)) return false;
    if (HasToken(exchange)) return true;
    Refuse(exchange, 401, "this admin API requires its token; send Authorization: Bearer TOKEN");
    exchange.response.Add("WWW-Authenticate", "Bearer");
    return false;
  }

  // The console's files are public. They contain nothing of this emulator.
  void ServeConsole(message::Exchange& exchange) const {
    if (!AdmitHost(exchange)) return;
    if (!options_.console) {
      return Refuse(exchange, 404, "the console is off; start with --console on (the default)");
    }
    if (const auto refusal = console::Serve(exchange, console::EmbeddedAssets())) {
      Refuse(exchange, refusal->status, refusal->message);
      if (refusal->status == 405) exchange.response.Add("Allow", "GET, HEAD");
    }
    console::AddSecurityHeaders(exchange.response);
  }

  bool AdmitHost(message::Exchange& exchange) const {
    const std::string_view host = exchange.request.Find("host").value_or(std::string_view());
    if (options_.hosts.Allows(host)) return true;
    Refuse(exchange, 421,
           "the Host header names '" + std::string(host) +
               "', which may be a web page's own DNS name; use localhost or an IP address, or "
               "start with --admin-allow-host NAME");
    return false;
  }

  bool AdmitOrigin(message::Exchange& exchange) const {
    if (!AdmitHost(exchange)) return false;
    // Browsers mark requests of web pages. Without a token, no page but the console must be able to
    // empty this emulator or read files through it.
    const message::RequestHead& request = exchange.request;
    if (options_.token.empty() && IsOfWebPage(request) &&
        !(options_.console && IsOfSameOrigin(request))) {
      Refuse(exchange, 403,
             "requests of web pages of another origin (Origin or Sec-Fetch-Site header) need a "
             "token; start with --admin-token and send the token");
      return false;
    }
    return true;
  }

  // Browsers send each of these headers once. Find() sees only the first one.
  static bool HasRepeatedMark(const message::RequestHead& request) {
    for (const std::string_view name : {"origin", "sec-fetch-site"}) {
      const auto count =
          std::count_if(request.headers.begin(), request.headers.end(),
                        [name](const auto& header) { return EqualsIgnoreCase(header.name, name); });
      if (count > 1) return true;
    }
    return false;
  }

  // Sec-Fetch-Site "none": the user entered the address.
  static bool IsOfWebPage(const message::RequestHead& request) {
    return HasRepeatedMark(request) || request.Find("origin") ||
           request.Find("sec-fetch-site").value_or("none") != "none";
  }

  // Whether every header by which a browser marks the requests of a page names this listener. Its
  // Host header was checked. Other ports of this machine are other origins ("same-site").
  static bool IsOfSameOrigin(const message::RequestHead& request) {
    constexpr std::string_view kScheme = "http://";
    if (HasRepeatedMark(request)) return false;
    const std::string_view site = request.Find("sec-fetch-site").value_or("same-origin");
    if (site != "same-origin" && site != "none") return false;
    const auto origin = request.Find("origin");
    if (!origin) return true;
    return origin->starts_with(kScheme) &&
           EqualsIgnoreCase(origin->substr(kScheme.size()),
                            request.Find("host").value_or(std::string_view()));
  }

  bool HasToken(const message::Exchange& exchange) const {
    if (options_.token.empty()) return true;
    const std::string_view given =
        exchange.request.Find("authorization").value_or(std::string_view());
    // RFC 9110 sections 11.1 and 11.4: the scheme is case-insensitive; one or more spaces follow.
    constexpr std::string_view kScheme = "bearer ";
    if (given.size() < kScheme.size() ||
        !EqualsIgnoreCase(given.substr(0, kScheme.size()), kScheme))
      return false;
    const std::string_view token =
        given.substr(std::min(given.find_first_not_of(' ', kScheme.size()), given.size()));
    return ConstantTimeEqual(AsBytes(token), AsBytes(options_.token));
  }

  void Dispatch(message::Exchange& exchange, const AdminCall& call) {
    const std::string_view method =
        exchange.request.method == "HEAD" ? std::string_view("GET") : exchange.request.method;
    const std::string whole_path = call.path + call.name;
    std::string allow;
    for (const auto routes : {SpaceRoutes(), FaultRoutes(), LimitRoutes(), JournalRoutes(),
                              ExplainRoutes(), LifecycleRoutes(), EventRoutes(), SimulateRoutes(),
                              SchemaRoutes(), LiveRoutes(), PresignRoutes()}) {
      for (const AdminRoute& route : routes) {
        if (route.path != call.path && route.path != whole_path) continue;
        if (route.method == method) return RespondBy(route, exchange, call);
        allow += (allow.empty() ? "" : ", ") +
                 std::string(route.method == "GET" ? "GET, HEAD" : route.method);
      }
    }
    if (allow.empty()) return RefusePath(exchange);
    RespondWithError(exchange, 405, "method not allowed; use " + allow);
    exchange.response.Add("Allow", allow);
  }

  // A mistyped parameter must not change the effect of a request. Returns an empty string if the
  // route accepts the query.
  static std::string QueryProblem(const AdminRoute& route, const AdminCall& call) {
    for (auto given = call.query.begin(); given != call.query.end(); ++given) {
      const std::string& name = given->first;
      if (route.parameters != "*" && (name.empty() || name != route.parameters)) {
        return "unknown query parameter '" + name +
               "'; allowed: " + (route.parameters.empty() ? "none" : std::string(route.parameters));
      }
      // A condition key (explain) has one parameter for each of its values.
      if (name.find(':') != std::string::npos) continue;
      if (std::any_of(call.query.begin(), given,
                      [&](const auto& earlier) { return earlier.first == name; })) {
        return "the query parameter '" + name + "' is given twice; give it once";
      }
    }
    return {};
  }

  void RespondBy(const AdminRoute& route, message::Exchange& exchange, const AdminCall& call) {
    if (const std::string problem = QueryProblem(route, call); !problem.empty())
      return RespondWithError(exchange, 400, problem);
    Result<AdminReply> reply = route.respond(emulator_, call);
    if (reply.ok())
      return Respond(exchange, route.status, std::move(reply->body), reply->content_type);
    RespondWithFailure(exchange, call.path, reply.error());
  }

  // Of the emulator or of a request. `path` is for the diagnostic log.
  static void RespondWithFailure(message::Exchange& exchange, const std::string& path,
                                 const Error& error) {
    const std::string message = error.message.empty() ? error.ToString() : error.message;
    const int status = StatusOf(error.kind);
    // Messages of these codes name no path, but what to do: of the memory limit, and of removed
    // files.
    const bool is_public = error.code == "InsufficientStorage" || error.code == "InternalError";
    if (status == 500 || status == 507) request_failed.Report(path + ": " + message);
    RespondWithError(exchange, status,
                     is_public       ? message
                     : status == 500 ? kFailedInside
                     : status == 507 ? kNoRoom
                                     : message);
    if (error.kind == ErrorKind::kUnavailable) exchange.response.Add("Retry-After", "1");
  }

  static void RefusePath(message::Exchange& exchange) {
    const std::string_view path =
        exchange.request.target.substr(0, exchange.request.target.find('?'));
    Refuse(
        exchange, 404,
        "unknown path '" + std::string(path) +
            "'; this listener serves /_penstock/ health, stats, metrics, reset, namespaces, clock, "
            "faults, retry-tests, scenarios, limits, lifecycle, events, explain, seed, simulate, "
            "schemas, users, access-keys, live, presign, s3/NAMESPACE/, journal, journal-tail, "
            "journal-query, journal-capture and container-credentials, /latest/ of the instance "
            "metadata service, and the console at /console/");
  }

  Emulator& emulator_;
  const AdminOptions options_;
  AdminConcurrency concurrency_;
};

}  // namespace

bool IsAdminAlias(std::string_view method, std::string_view target) {
  if (target == "/moto-api/reset" || target == "//moto-api/reset") return method == "POST";
  return target == "/_localstack/health" && (method == "GET" || method == "HEAD");
}

std::unique_ptr<message::Handler> MakeAdmin(Emulator& emulator, AdminOptions options) {
  return std::make_unique<Admin>(emulator, std::move(options));
}

}  // namespace penstock::emulator::server
