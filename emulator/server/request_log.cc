#include "emulator/server/request_log.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/dates.h"
#include "base/log/diagnostics.h"
#include "base/text/redact.h"
#include "emulator/journal/target_secrets.h"
#include "emulator/json/json_tree.h"
#include "emulator/s3/core/request_claims.h"

namespace penstock::emulator::server {
namespace {

constinit DiagnosticEvent line_lost("server.request_log_line_lost");

// Header values from the client: limits their length and redacts secrets.
std::string FreeText(std::optional<std::string_view> value) {
  static constexpr std::size_t kLimit = 512;
  return Redact(value.value_or(std::string_view()).substr(0, kLimit));
}

std::string Masked(std::string_view text) {
  std::string scratch;
  return std::string(journal::WithoutSecrets(text, scratch));
}

// Returns the code of the error, or of the error document after a status 200
// (CompleteMultipartUpload); else empty.
std::string ErrorCode(const s3::Response& response) {
  if (!response.error_code.empty()) return response.error_code;
  const auto* document = std::get_if<std::string>(&response.body);
  if (!document) return {};
  static constexpr std::string_view kOpen = "<Error><Code>";
  const std::size_t open = document->find(kOpen);
  if (open == std::string::npos) return {};
  const std::size_t begin = open + kOpen.size();
  const std::size_t end = document->find('<', begin);
  return end == std::string::npos ? std::string() : document->substr(begin, end - begin);
}

}  // namespace

std::string LogLine(const s3::Exchange& exchange, WallTime finished) {
  JsonTree tree(EmptyObject(19));
  Json& line = tree.root();
  line["time"] = FormatIso8601(exchange.received);
  line["connection"] = exchange.connection.id;
  line["peer"] = exchange.connection.peer;
  line["request_id"] = exchange.request_id;
  line["method"] = Masked(exchange.request.method);
  line["operation"] = exchange.operation;
  line["bucket"] = Masked(exchange.target.bucket.value);
  line["key"] = Masked(exchange.target.key.value);
  line["range"] = FreeText(exchange.request.Find("range"));
  line["status"] = exchange.response.status;
  line["error"] = exchange.response.status >= 300 || exchange.operation == "CompleteMultipartUpload"
                      ? ErrorCode(exchange.response)
                      : std::string();
  if (!exchange.response.error_detail.empty())
    line["detail"] = Redact(exchange.response.error_detail);
  line["bytes_in"] = exchange.bytes_in;
  line["bytes_out"] = exchange.bytes_out;
  line["duration_us"] =
      std::chrono::duration_cast<std::chrono::microseconds>(finished - exchange.received).count();
  line["access_key_id"] = exchange.identity.access_key_id;
  line["user_agent"] = FreeText(exchange.request.Find("user-agent"));
  line["attempt"] =
      s3::ClaimedAttempt(exchange.request.Find("amz-sdk-request").value_or(std::string_view()))
          .value_or(0);
  // Keys are arbitrary bytes; invalid UTF-8 becomes U+FFFD.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<std::unique_ptr<RequestLog>> RequestLog::Open(const std::string& path) {
  PENSTOCK_ASSIGN(std::unique_ptr<LogFile> file, LogFile::Open("log file", path, line_lost));
  return std::unique_ptr<RequestLog>(new RequestLog(std::move(file)));
}

void RequestLog::Write(const s3::Exchange& exchange, WallTime finished) {
  if (const int problem = file_->Write(LogLine(exchange, finished)); problem != 0)
    line_lost.ReportSystemError("write the request log", problem);
}

}  // namespace penstock::emulator::server
