// Object Lock: retention and legal hold of a new object and of one that exists, and the deletions
// that they refuse. Creates the bucket, because locks are enabled when a bucket is created.
#include <chrono>
#include <cstdio>
#include <string>

#include "command_line.h"

using examples::Must;
using penstock::ObjectKey;
using Kind = penstock::ObjectConfigurationKind;

namespace {

void Delete(penstock::Client& client, penstock::DeleteObjectRequest request, const char* when) {
  const auto deleted = client.DeleteObject(std::move(request));
  std::printf("%s: %s\n", when, deleted.ok() ? "deleted" : deleted.error().code.c_str());
}

// The lock is part of the request. A lock belongs to a version, not to a key.
void LockNewObject(penstock::Client& client, const examples::Place& place) {
  const ObjectKey key(place.path + "new");
  penstock::PutObjectRequest put{.bucket = place.bucket, .key = key};
  put.attributes.lock = {.mode = penstock::LockMode::kGovernance,
                         .retain_until = penstock::SystemClock().Now() + std::chrono::hours(24),
                         .legal_hold = true};
  const auto stored = Must(client.PutObject(std::move(put), "text"));
  const auto lock = Must(client.HeadObject({.bucket = place.bucket, .key = key})).details->lock;
  std::printf("%s, legal hold %s\n",
              lock.mode == penstock::LockMode::kGovernance ? "governance" : "no retention",
              lock.legal_hold.value_or(false) ? "on" : "off");

  penstock::DeleteObjectRequest removal{
      .bucket = place.bucket, .key = key, .version_id = stored.version_id};
  Delete(client, removal, "held");
  Must(client.PutObjectConfiguration({.bucket = place.bucket,
                                      .key = key,
                                      .kind = Kind::kLegalHold,
                                      .document = "<LegalHold><Status>OFF</Status></LegalHold>"}));
  Delete(client, removal, "retained");
  removal.bypass_governance_retention = true;  // needs the permission of this name
  Delete(client, removal, "bypassed");
}

// Later, retention and legal hold are documents.
void LockExistingObject(penstock::Client& client, const examples::Place& place) {
  const ObjectKey key(place.path + "existing");
  Must(client.PutObject(place.bucket, key, "text"));
  Must(client.PutObjectConfiguration(
      {.bucket = place.bucket,
       .key = key,
       .kind = Kind::kRetention,
       .document = "<Retention><Mode>GOVERNANCE</Mode>"
                   "<RetainUntilDate>2040-01-02T03:04:05Z</RetainUntilDate></Retention>"}));
  Must(client.PutObjectConfiguration({.bucket = place.bucket,
                                      .key = key,
                                      .kind = Kind::kLegalHold,
                                      .document = "<LegalHold><Status>ON</Status></LegalHold>"}));
  const auto lock = Must(client.HeadObject({.bucket = place.bucket, .key = key})).details->lock;
  std::printf("until %lld, legal hold %s\n",
              static_cast<long long>(std::chrono::system_clock::to_time_t(lock.retain_until)),
              lock.legal_hold.value_or(false) ? "on" : "off");
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "object_lock s3://new-bucket/prefix/ [--endpoint URL] [--region NAME]", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));
  const auto client = line.MakeClient();
  Must(client->CreateBucket({.bucket = place.bucket, .object_lock_enabled = true}));
  LockNewObject(*client, place);
  LockExistingObject(*client, place);
}
