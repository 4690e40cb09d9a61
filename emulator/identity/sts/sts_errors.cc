#include "emulator/identity/sts/sts_errors.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/text/utf8.h"
#include "base/xml/xml.h"

namespace penstock::emulator::identity {
namespace {

struct Row {
  std::string_view code;
  int status;
};

constexpr Row kStatuses[] = {
    {"AccessDenied", 403},
    {"ExpiredTokenException", 400},
    {"IDPRejectedClaim", 403},
    {"IncompleteSignature", 400},
    {"InternalFailure", 500},
    {"InvalidAction", 400},
    {"InvalidClientTokenId", 403},
    {"InvalidIdentityToken", 400},
    {"MalformedPolicyDocument", 400},
    {"MissingAction", 400},
    {"MissingAuthenticationToken", 403},
    {"NotImplemented", 501},
    {"PackedPolicyTooLarge", 400},
    {"Throttling", 400},
    {"ValidationError", 400},
};

// What authentication refuses in the terms of S3, and what STS answers.
struct Translation {
  std::string_view code;
  std::string_view sts_code;
  int status;
  std::string_view message;  // Empty: the message of S3.
};

constexpr std::string_view kInvalidToken = "The security token included in the request is invalid.";
constexpr Translation kTranslations[] = {
    {"InvalidAccessKeyId", "InvalidClientTokenId", 403, kInvalidToken},
    {"InvalidToken", "InvalidClientTokenId", 403, kInvalidToken},
    {"ExpiredToken", "ExpiredToken", 403, "The security token included in the request is expired"},
    {"RequestTimeTooSkewed", "SignatureDoesNotMatch", 403, {}},
    {"AuthorizationHeaderMalformed", "IncompleteSignature", 400, {}},
    {"AuthorizationQueryParametersError", "IncompleteSignature", 400, {}},
    {"InternalError", "InternalFailure", 500, {}},
};

std::string Document(std::string_view code, std::string_view message, int status,
                     const std::string& request_id) {
  XmlWriter xml;
  xml.Open("ErrorResponse", kStsNamespace);
  xml.Open("Error");
  xml.Element("Type", status >= 500 ? "Receiver" : "Sender");
  xml.Element("Code", code);
  xml.Element("Message", Xml10Text(message));
  xml.Close("Error");
  xml.Element("RequestId", request_id);
  xml.Close("ErrorResponse");
  return xml.Take();
}

}  // namespace

std::string Xml10Text(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  for (const char c : ReplaceIllFormedUtf8(text)) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    if (is_control && c != '\t' && c != '\n' && c != '\r') out += kReplacement;
    else out += c;
    if (out.ends_with("\xEF\xBF\xBE") || out.ends_with("\xEF\xBF\xBF"))
      out.replace(out.size() - kReplacement.size(), kReplacement.size(), kReplacement);
  }
  return out;
}

std::string StsRequestId(const s3::Exchange& exchange) {
  std::string id = HexEncode(Sha256(AsBytes(exchange.request_id))).substr(0, 32);
  for (const std::size_t at : {8u, 13u, 18u, 23u}) id.insert(at, 1, '-');
  return id;
}

Error StsError(std::string_view code, std::string message) {
  const auto* const row = std::find_if(std::begin(kStatuses), std::end(kStatuses),
                                       [code](const Row& each) { return each.code == code; });
  Error error = Error::Make(ErrorKind::kInvalidArgument, std::move(message));
  error.code = code;
  error.http_status = row != std::end(kStatuses) ? row->status : 400;
  return error;
}

Error NotAuthorized(const s3::Identity& caller, std::string_view action,
                    std::string_view resource) {
  return StsError("AccessDenied", "User: " + caller.arn +
                                      " is not authorized to perform: " + std::string(action) +
                                      " on resource: " + std::string(resource));
}

void RespondWithStsError(s3::Exchange& exchange, const Error& error) {
  const std::string code = error.code.empty() ? std::string("InternalFailure") : error.code;
  const int status = error.http_status != 0 ? error.http_status : 500;
  const bool is_internal = error.code.empty();
  const std::string id = StsRequestId(exchange);
  message::Response response;
  response.status = status;
  response.error_code = code;
  if (is_internal) response.error_detail = error.message;
  response.Add("x-amzn-RequestId", id);
  response.Add("Content-Type", "text/xml");
  response.body =
      Document(code, is_internal ? "internal error of the emulator" : error.message, status, id);
  exchange.response = std::move(response);
}

void TranslateError(s3::Exchange& exchange) {
  message::Response& response = exchange.response;
  const auto* const text = std::get_if<std::string>(&response.body);
  if (response.error_code.empty() || text == nullptr) return;
  const auto document = XmlDocument::Parse(*text);
  if (!document.ok() || document->root().name() != "Error") return;
  std::string code = response.error_code;
  std::string message = document->root().Child("Message").text();
  const auto* const row =
      std::find_if(std::begin(kTranslations), std::end(kTranslations),
                   [&code](const Translation& each) { return each.code == code; });
  if (row != std::end(kTranslations)) {
    code = row->sts_code;
    response.status = row->status;
    if (!row->message.empty()) message = row->message;
  }
  const std::string id = StsRequestId(exchange);
  response.error_code = code;
  response.chunked = false;
  std::erase_if(response.headers,
                [](const auto& header) { return header.first == "Content-Type"; });
  response.Add("Content-Type", "text/xml");
  response.Add("x-amzn-RequestId", id);
  response.body = Document(code, message, response.status, id);
}

}  // namespace penstock::emulator::identity
