// CreateSession.
#include <string>

#include "base/dates.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/core/access.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/core/regions.h"
#include "emulator/s3/encryption/encryption.h"
#include "emulator/s3/protocol/directory_session.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/errors.h"

namespace penstock::emulator::s3 {
namespace {

// Formats a date without a fraction: "2026-01-02T03:09:05Z".
std::string ExpirationDate(WallTime time) {
  std::string date = XmlDate(time);
  const auto dot = date.find('.');
  return dot == std::string::npos ? date : date.substr(0, dot) + "Z";
}

Result<bool> ReadMode(const Call& call) {
  const auto mode = call.Header("x-amz-create-session-mode");
  if (!mode || *mode == "ReadWrite") return false;
  if (*mode == "ReadOnly") return true;
  return InvalidArgument("The session mode must be ReadOnly or ReadWrite",
                         "x-amz-create-session-mode", *mode);
}

// Authorizes the request and returns whether the session only reads. Without a mode, S3 first tries
// ReadWrite, and ReadOnly if permissions do not allow that (Amazon S3 API Reference,
// CreateSession).
Result<bool> AuthorizeMode(Call& call) {
  const auto authorized = call.opened ? AuthorizeWithBody(call, {}) : Ok();
  if (authorized.ok()) return ReadMode(call);
  if (call.Header("x-amz-create-session-mode")) return authorized.error();
  if (AuthorizeWithBody(call, {{"s3express:sessionmode", {"ReadOnly"}}}).ok()) return true;
  return authorized.error();
}

// S3's zonal endpoints require an existing bucket. At a custom endpoint, botocore requests a
// session before it creates the bucket, so a missing bucket is accepted. At an endpoint with an IP
// address, CRT clients (Mountpoint, s3torchconnector) address the bucket in the path but omit it
// from CreateSession. Such a session is valid for any directory bucket of the account.
Result<void> CheckBucket(Call& call) {
  if (call.bucket().empty()) return RequireAccount(call.exchange.identity);
  const auto opened = OpenBucket(call);
  if (opened.ok()) return Ok();
  if (opened.error().code == "NoSuchBucket" && !call.exchange.target.on_s3_domain)
    return RequireAccount(call.exchange.identity);
  return opened.error();
}

Result<void> ReadSessionEncryption(Call& call, DirectorySession& session) {
  if (!call.families.encryption) return Ok();
  const auto text = [&](std::string_view name) {
    return std::string(call.Header(name).value_or(""));
  };
  session.encryption = text(kEncryptionHeader);
  session.kms_key_id = text(kKmsKeyHeader);
  session.kms_context = text(kKmsContextHeader);
  if (!session.encryption.empty() && session.encryption != "AES256" &&
      session.encryption != kKmsName) {
    return InvalidArgument("The encryption method specified is not supported", kEncryptionHeader,
                           session.encryption);
  }
  if (session.encryption != kKmsName &&
      (!session.kms_key_id.empty() || !session.kms_context.empty())) {
    return InvalidArgument(
        "Server Side Encryption with AWS KMS managed key requires HTTP header "
        "x-amz-server-side-encryption : aws:kms",
        kEncryptionHeader, session.encryption);
  }
  return Ok();
}

}  // namespace

Result<void> CreateSession(Call& call) {
  if (call.Header(kSessionTokenHeader)) return SessionHeaderRefused();
  PENSTOCK_TRY(CheckBucket(call));
  DirectorySession session;
  session.bucket = call.bucket().value;
  PENSTOCK_ASSIGN(session.read_only, AuthorizeMode(call));
  PENSTOCK_TRY(ReadSessionEncryption(call, session));
  session.expires = *call.exchange.Now() + kSessionLifetime;
  if (call.exchange.sessions == nullptr)
    return NotImplemented("This emulator does not issue session credentials.");
  const SessionCredentials credentials = call.exchange.sessions->Issue(session);
  if (!session.encryption.empty())
    call.response().Add(std::string(kEncryptionHeader), session.encryption);
  if (!session.kms_key_id.empty()) {
    PENSTOCK_ASSIGN(std::string arn, KmsKeyArn(call, session.kms_key_id));
    call.response().Add(std::string(kKmsKeyHeader), std::move(arn));
  }
  if (!session.kms_context.empty())
    call.response().Add(std::string(kKmsContextHeader), session.kms_context);
  if (session.encryption == kKmsName) call.response().Add(std::string(kBucketKeyHeader), "true");
  XmlWriter xml;
  xml.Open("CreateSessionResult", kXmlNamespace);
  xml.Open("Credentials");
  xml.Element("SessionToken", credentials.session_token);
  xml.Element("SecretAccessKey", credentials.secret_access_key);
  xml.Element("AccessKeyId", credentials.access_key_id);
  xml.Element("Expiration", ExpirationDate(session.expires));
  xml.Close("Credentials");
  xml.Close("CreateSessionResult");
  call.RespondXml(xml.Take());
  return Ok();
}

}  // namespace penstock::emulator::s3
