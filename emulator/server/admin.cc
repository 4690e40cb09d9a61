#include "emulator/server/admin.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "emulator/api/text.h"
#include "emulator/server/admin_json.h"
#include "emulator/server/users_document.h"

namespace penstock::emulator::server {
namespace {

constexpr std::size_t kLongestBody = 8 << 20;  // as a users file
constexpr std::string_view kRoot = "/_penstock/";

int StatusOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument: return 400;
    case ErrorKind::kNotFound: return 404;
    case ErrorKind::kAlreadyExists: return 409;
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
    case 409: return "AlreadyExists";
    default: return "InternalError";
  }
}

void Answer(api::Exchange& exchange, int status, std::string body) {
  exchange.response = api::Response();
  exchange.response.status = status;
  exchange.response.Add("Content-Type", "application/json");
  exchange.response.Add("Cache-Control", "no-store");
  if (exchange.request.method == "HEAD") {
    exchange.response.content_length = body.size();
  } else {
    exchange.response.body = std::move(body);
  }
}

void AnswerError(api::Exchange& exchange, int status, const std::string& message) {
  Answer(exchange, status, JsonText({{"error", message}, {"code", CodeOf(status)}}));
}

void Refuse(api::Exchange& exchange, int status, const std::string& message) {
  AnswerError(exchange, status, message);
  exchange.response.close = true;  // its body may still be on the way
}

Result<std::string> ReadBody(api::Exchange& exchange) {
  std::string text;
  if (exchange.body == nullptr) return text;
  std::array<std::byte, 16 << 10> buffer;
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, exchange.body->Read(buffer));
    if (count == 0) return text;
    if (text.size() + count > kLongestBody) {
      return Error::Make(ErrorKind::kInvalidArgument, "the body is longer than 8 MiB; send it in several requests");
    }
    text.append(reinterpret_cast<const char*>(buffer.data()), count);
  }
}

// One request taken apart.
struct Call {
  std::string path;  // behind /_penstock/, without the name that ends it
  std::string name;  // "ann" of namespaces/ann; empty: none
  std::string body;
};

class Admin final : public api::Handler {
 public:
  Admin(Emulator& emulator, std::string token) : emulator_(emulator), token_(std::move(token)) {}

  void Handle(api::Exchange& exchange) override {
    Call call;
    call.path = exchange.request.target.substr(0, exchange.request.target.find('?'));
    if (IsAdminAlias(exchange.request.method, exchange.request.target)) {
      call.path = call.path == "/moto-api/reset" ? "reset" : "health";
    } else if (call.path.starts_with(kRoot)) {
      call.path.erase(0, kRoot.size());
    } else {
      return RefusePath(exchange);
    }
    // A browser names the page that asks: without a token no page anywhere may empty this emulator or read files through it.
    if (token_.empty() && call.path != "health" && exchange.request.Find("origin")) {
      return Refuse(exchange, 403, "a web page asks (Origin header); start with --admin-token and send the token");
    }
    if (!Allowed(exchange, call.path)) {
      Refuse(exchange, 401, "this admin API needs its token; send Authorization: Bearer TOKEN");
      return exchange.response.Add("WWW-Authenticate", "Bearer");
    }
    auto body = ReadBody(exchange);
    if (!body.ok()) return Refuse(exchange, 400, body.error().message);
    call.body = std::move(body).value();
    if (const std::size_t slash = call.path.find('/'); slash != std::string::npos) {
      call.name = api::PercentDecode(std::string_view(call.path).substr(slash + 1), {}).value_or(std::string());
      call.path.erase(slash + 1);
    }
    Dispatch(exchange, call);
  }

 private:
  using Answering = Result<std::string> (Admin::*)(const Call&);
  struct Route {
    std::string_view path;
    std::string_view method;
    Answering answer;
    int status = 200;
  };

  bool Allowed(const api::Exchange& exchange, std::string_view path) const {
    if (token_.empty() || path == "health") return true;
    const std::string_view given = exchange.request.Find("authorization").value_or(std::string_view());
    return given.starts_with("Bearer ") && ConstantTimeEqual(AsBytes(given.substr(7)), AsBytes(token_));
  }

  void Dispatch(api::Exchange& exchange, const Call& call) {
    static constexpr Route kRoutes[] = {
        {"health", "GET", &Admin::Health},
        {"stats", "GET", &Admin::Stats},
        {"reset", "POST", &Admin::Reset},
        {"namespaces", "GET", &Admin::ListNamespaces},
        {"namespaces", "POST", &Admin::CreateNamespace, 201},
        {"namespaces/", "DELETE", &Admin::DeleteNamespace},
        {"clock", "GET", &Admin::ReadClock},
        {"clock", "POST", &Admin::ChangeClock},
        {"clock", "DELETE", &Admin::RestoreClock},
        {"clock/", "GET", &Admin::ReadClock},
        {"clock/", "POST", &Admin::ChangeClock},
        {"clock/", "DELETE", &Admin::RestoreClock},
        {"seed", "POST", &Admin::Seed},
        {"users", "GET", &Admin::ListUsers},
        {"users", "POST", &Admin::AddUsers},
        {"access-keys/", "PATCH", &Admin::ChangeKey},
        {"access-keys/", "DELETE", &Admin::RemoveKey},
    };
    const std::string_view method = exchange.request.method == "HEAD" ? std::string_view("GET") : exchange.request.method;
    std::string allow;
    for (const Route& route : kRoutes) {
      if (route.path != call.path) continue;
      if (route.method != method) {
        allow += (allow.empty() ? "" : ", ") + std::string(route.method == "GET" ? "GET, HEAD" : route.method);
        continue;
      }
      Result<std::string> answer = (this->*route.answer)(call);
      if (answer.ok()) return Answer(exchange, route.status, std::move(answer).value());
      const Error& error = answer.error();
      return AnswerError(exchange, StatusOf(error.kind), error.message.empty() ? error.ToString() : error.message);
    }
    if (allow.empty()) return RefusePath(exchange);
    AnswerError(exchange, 405, "method not allowed; use " + allow);
    exchange.response.Add("Allow", allow);
  }

  static void RefusePath(api::Exchange& exchange) {
    const std::string_view path = exchange.request.target.substr(0, exchange.request.target.find('?'));
    Refuse(exchange, 404,
           "unknown path '" + std::string(path) +
               "'; this listener serves /_penstock/ health, stats, reset, namespaces, clock, seed, users and access-keys");
  }

  Result<std::string> Health(const Call&) { return HealthJson(); }
  Result<std::string> Stats(const Call&) { return StatsJson(emulator_.stats()); }

  Result<std::string> Reset(const Call& call) {
    PENSTOCK_ASSIGN(const std::optional<std::string> name, NamespaceToReset(call.body));
    PENSTOCK_TRY(name ? emulator_.ResetNamespace(*name) : emulator_.Reset());
    return JsonText({{"status", "ok"}});
  }

  Result<std::string> ListNamespaces(const Call&) {
    PENSTOCK_ASSIGN(const std::vector<std::string> names, emulator_.Namespaces());
    return JsonText({{"namespaces", names}});
  }
  Result<std::string> CreateNamespace(const Call& call) {
    PENSTOCK_ASSIGN(const std::string name, NamespaceToCreate(call.body));
    PENSTOCK_ASSIGN(const AccessKey key, emulator_.CreateNamespace(name));
    return JsonText({{"name", name}, {"access_key_id", key.id}, {"secret_access_key", key.secret}});
  }
  Result<std::string> DeleteNamespace(const Call& call) {
    PENSTOCK_TRY(emulator_.DeleteNamespace(call.name));
    return JsonText({{"status", "ok"}});
  }

  static std::string SpaceOf(const Call& call) { return call.name.empty() ? std::string(kDefaultNamespace) : call.name; }
  static Result<std::string> ClockAnswer(const Call& call, Result<ClockState> state) {
    if (!state.ok()) return std::move(state).error();
    return ClockJson(SpaceOf(call), *state);
  }
  Result<std::string> ReadClock(const Call& call) { return ClockAnswer(call, emulator_.GetClock(SpaceOf(call))); }
  Result<std::string> ChangeClock(const Call& call) {
    PENSTOCK_ASSIGN(const ClockChange change, ParseClockChange(call.body));
    return ClockAnswer(call, emulator_.ChangeClock(SpaceOf(call), change));
  }
  Result<std::string> RestoreClock(const Call& call) { return ClockAnswer(call, emulator_.RestoreClock(SpaceOf(call))); }

  Result<std::string> Seed(const Call& call) {
    PENSTOCK_ASSIGN(const SeedRequest request, ParseSeedRequest(call.body));
    PENSTOCK_ASSIGN(const SeedReport report, emulator_.Seed(request));
    return JsonText({{"objects", report.objects}, {"bytes", report.bytes}, {"skipped", report.skipped}});
  }

  Result<std::string> ListUsers(const Call&) { return emulator_.ListUsers(); }
  Result<std::string> AddUsers(const Call& call) {
    PENSTOCK_TRY(emulator_.AddUsers(call.body));
    return emulator_.ListUsers();
  }
  Result<std::string> ChangeKey(const Call& call) {
    PENSTOCK_ASSIGN(const AccessKeyChange change, ParseKeyChange(call.body));
    PENSTOCK_TRY(emulator_.ChangeAccessKey(call.name, change));
    return JsonText({{"status", "ok"}});
  }
  Result<std::string> RemoveKey(const Call& call) {
    PENSTOCK_TRY(emulator_.RemoveAccessKey(call.name));
    return JsonText({{"status", "ok"}});
  }

  Emulator& emulator_;
  const std::string token_;
};

}  // namespace

bool IsAdminAlias(std::string_view method, std::string_view target) {
  if (target == "/moto-api/reset") return method == "POST";
  return target == "/_localstack/health" && (method == "GET" || method == "HEAD");
}

std::unique_ptr<api::Handler> MakeAdmin(Emulator& emulator, std::string token) {
  return std::make_unique<Admin>(emulator, std::move(token));
}

}  // namespace penstock::emulator::server
