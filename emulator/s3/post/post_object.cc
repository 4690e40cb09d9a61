// PostObject: creates an object from the file in a browser's form (Amazon S3 API Reference, "POST
// Object"). The form was parsed and its signature verified before (form.h, emulator/auth). This
// file checks the policy and turns the fields into the headers of a put.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "emulator/s3/access/object_lock.h"
#include "emulator/s3/authorization/authorization.h"
#include "emulator/s3/authorization/decisions.h"
#include "emulator/s3/checksums/body.h"
#include "emulator/s3/checksums/checksums.h"
#include "emulator/s3/config/lifecycle.h"
#include "emulator/s3/core/handlers.h"
#include "emulator/s3/objects/copy_source.h"
#include "emulator/s3/objects/metadata.h"
#include "emulator/s3/post/form.h"
#include "emulator/s3/post/post_policy.h"
#include "emulator/s3/protocol/documents.h"
#include "emulator/s3/protocol/encoded_words.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/names.h"
#include "emulator/s3/protocol/tags.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::string_view kFileName = "${filename}";
constexpr std::string_view kMetaPrefix = "x-amz-meta-";

// Fields that become headers of a put, besides all x-amz-* fields and `acl`.
constexpr std::string_view kHeaders[] = {
    "Content-Type",     "Cache-Control", "Content-Disposition", "Content-Encoding",
    "Content-Language", "Expires",       "Content-MD5"};
// Headers of the browser: the fields replace all others. Policies see the last two.
constexpr std::string_view kKeptHeaders[] = {"Host", "User-Agent", "Referer"};
// Recorded against Amazon S3: in ISO-8859-1, with a space for other characters.
constexpr std::string_view kLatin1Headers[] = {"Cache-Control", "Content-Disposition"};
// Fields of the signature.
constexpr std::string_view kSignature[] = {"x-amz-algorithm", "x-amz-credential", "x-amz-date",
                                           "x-amz-signature", "x-amz-security-token"};

template <std::size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view name) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](std::string_view known) { return EqualsIgnoreCase(known, name); });
}

// Replaces ${filename} in all fields, before any other check. The variable stays if the file has no
// name.
std::vector<FormField> Expanded(const Form& form) {
  std::vector<FormField> fields = form.fields;
  if (!form.file_name) return fields;
  for (FormField& field : fields) {
    if (EqualsIgnoreCase(field.name, "policy")) continue;
    for (auto at = field.value.find(kFileName); at != std::string::npos;
         at = field.value.find(kFileName, at)) {
      field.value.replace(at, kFileName.size(), *form.file_name);
      at += form.file_name->size();
    }
  }
  return fields;
}

std::string_view ValueOf(const std::vector<FormField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FormField& field) {
    return EqualsIgnoreCase(field.name, name);
  });
  return found == fields.end() ? std::string_view() : std::string_view(found->value);
}

// Returns the header for a field; empty: none.
std::string_view HeaderOf(const FormField& field) {
  if (EqualsIgnoreCase(field.name, "acl")) return "x-amz-acl";
  if (Contains(kHeaders, field.name)) return field.name;
  return StartsWithIgnoreCase(field.name, "x-amz-") && !Contains(kSignature, field.name)
             ? field.name
             : std::string_view();
}

// Makes the headers of a put. A field value that is not a valid header value is encoded or refused.
Result<std::vector<HeaderView>> MakeHeaders(const RequestHead& request,
                                            std::vector<FormField>& fields) {
  std::vector<HeaderView> headers;
  for (FormField& field : fields) {
    const std::string_view header = HeaderOf(field);
    if (header.empty()) continue;
    if (HasControlCharacter(field.name)) return MakeError("MalformedPOSTRequest");
    if (StartsWithIgnoreCase(header, kMetaPrefix)) {
      field.value = EncodeMetadataText(field.value);
    } else if (Contains(kLatin1Headers, header)) {
      field.value = Utf8ToLatin1(field.value).text;
    }
    if (HasControlCharacter(field.value)) {
      return InvalidArgument("A form field's value must not contain control characters.", header,
                             field.value);
    }
    const auto same =
        EqualsIgnoreCase(header, "content-type") ? std::nullopt : request.Find(header);
    if (same && *same != field.value) {
      return InvalidRequest("Conflicting values provided in HTTP headers and POST form fields.");
    }
    headers.push_back({header, TrimBlanks(field.value)});
  }
  return headers;
}

// Reads the file and enforces the policy's size range. Reads and counts the rest of a file that is
// too long, for the error message.
class SizedBody final : public BodyWrapper {
 public:
  SizedBody(BodyReader& file, SizeRange range) : BodyWrapper(file), range_(range) {}

  Result<std::size_t> Read(MutableByteView buffer) override {
    PENSTOCK_ASSIGN(const std::size_t count, inner().Read(buffer));
    size_ += count;
    if (size_ > range_.max) return TooLarge(buffer);
    if (count > 0 || size_ >= range_.min) return count;
    return MakeError("EntityTooSmall", {{"ProposedSize", std::to_string(size_)},
                                        {"MinSizeAllowed", std::to_string(range_.min)}});
  }

 private:
  Error TooLarge(MutableByteView scratch) {
    for (;;) {
      const auto count = inner().Read(scratch);
      if (!count.ok()) return count.error();
      if (*count == 0) break;
      size_ += *count;
    }
    return MakeError("EntityTooLarge", {{"ProposedSize", std::to_string(size_)},
                                        {"MaxSizeAllowed", std::to_string(range_.max)}});
  }

  const SizeRange range_;
  std::uint64_t size_ = 0;
};

// Recorded against Amazon S3: XML that is not a Tagging document sets no tags.
Result<store::Attributes> ReadTags(std::string_view document) {
  if (document.empty()) return store::Attributes();
  const auto xml = ParseRequestDocument(document);
  if (xml.ok() && xml->root().name() != "Tagging") return store::Attributes();
  return ParseTagDocument(document);
}

Result<void> CheckHeaders(Call& call) {
  constexpr std::string_view kOperation = "PostObject";
  const RequestHead& request = call.exchange.request;
  PENSTOCK_ASSIGN(call.families, RefuseUnknown(request, call.exchange.target, false));
  if (call.families.bucket) PENSTOCK_TRY(RefuseMisplacedBucketHeader(request, kOperation));
  if (call.families.encryption) PENSTOCK_TRY(RefuseMisplacedEncryption(call, kOperation));
  if (call.families.copy_source) PENSTOCK_TRY(RefuseCopySource(call, kOperation));
  if (call.families.object_lock) PENSTOCK_TRY(CheckObjectLockHeaders(call, kOperation));
  return Ok();
}

Result<void> Authorize(Call& call, const store::Attributes& tags) {
  const BodyKeys keys = TagKeys(tags);
  PENSTOCK_TRY(AuthorizeWithBody(call, keys));
  if (tags.empty()) return Ok();
  const Subject subject{.bucket = call.opened.get(),
                        .bucket_name = call.bucket().value,
                        .key = call.key().value,
                        .version = std::nullopt};
  return AuthorizeAction(call, subject, "s3:PutObjectTagging", keys);
}

// Executes the put. `call` has the form's fields as headers, and the key.
Result<store::PutOutcome> Put(Call& call, const store::BucketRecord& bucket,
                              std::string_view tagging) {
  PENSTOCK_TRY(CheckKey(call.key().value));
  PENSTOCK_TRY(CheckHeaders(call));
  PENSTOCK_ASSIGN(const ChecksumClaim claim, ReadChecksumClaim(call));
  if (call.Header("x-amz-checksum-algorithm") && claim.info == nullptr) {
    return InvalidRequest(
        "x-amz-checksum-algorithm specified, but no corresponding x-amz-checksum-* field was "
        "found.");
  }
  PENSTOCK_ASSIGN(ObjectSettings settings, ReadObjectSettings(call, bucket));
  PENSTOCK_ASSIGN(settings.tags, ReadTags(tagging));
  PENSTOCK_TRY(Authorize(call, settings.tags));
  PENSTOCK_TRY(RequireChecksumOfLocked(call, settings.lock, claim.info != nullptr, "Put Object"));
  ReceiveOptions receive{.claim = claim,
                         .also_compute = {},
                         .expected_digest = Md5Style::kHex,
                         .md5 = settings.encryption.etag_is_md5()};
  if (claim.info == nullptr) receive.also_compute.push_back(ChecksumAlgorithm::kCrc64Nvme);
  PENSTOCK_ASSIGN(ReceivedBody body, ReceiveBody(call, std::move(receive)));
  PENSTOCK_ASSIGN(store::PutOutcome outcome,
                  call.store.Put(store::PutObject{
                      bucket.name, NewObjectRecord(call, settings, claim, std::move(body)), {}}));
  AddNewVersionHeader(call, outcome);
  AddExpirationHeader(call, *outcome.object);
  AddEncryptionHeaders(call, settings.encryption);
  AddContextHeader(call, settings.encryption);
  return outcome;
}

// Returns the URL to redirect to. nullopt: no redirect, also if the field is not an absolute URL.
std::optional<std::string> RedirectOf(const Call& call, const std::vector<FormField>& fields,
                                      std::string_view etag) {
  std::string_view url = ValueOf(fields, "success_action_redirect");
  if (url.empty()) url = ValueOf(fields, "redirect");  // The old name of the field.
  const auto host = url.find("://");
  const bool absolute =
      StartsWithIgnoreCase(url, "http://") || StartsWithIgnoreCase(url, "https://");
  if (!absolute || host + 3 >= url.size() || HasControlCharacter(url)) return std::nullopt;
  const std::string_view fragment = url.substr(std::min(url.find('#'), url.size()));
  url.remove_suffix(fragment.size());
  std::string target(url);
  target += url.find('?') == std::string_view::npos ? '?' : '&';
  const auto encoded = [](std::string_view text) {
    std::string form = ListingEncode(text);
    for (auto at = form.find('/'); at != std::string::npos; at = form.find('/', at))
      form.replace(at, 1, "%2F");
    return form;
  };
  target += "bucket=" + encoded(call.bucket().value) + "&key=" + encoded(call.key().value) +
            "&etag=" + encoded(etag);
  return target.append(fragment);
}

void Respond(Call& call, const std::vector<FormField>& fields, const store::ObjectRecord& object) {
  Response& response = call.response();
  const std::string etag = Quoted(object.etag.value);
  response.Add("ETag", etag);
  AddChecksumHeader(call, object.checksum_algorithm, object.checksum);
  response.Add("x-amz-checksum-type", object.checksum_type);
  if (auto redirect = RedirectOf(call, fields, etag)) {
    response.status = 303;
    response.Add("Location", std::move(*redirect));
    return;
  }
  const std::string location = ObjectUrl(call);
  response.Add("Location", location);
  const std::string_view status = ValueOf(fields, "success_action_status");
  response.status = status == "200" ? 200 : status == "201" ? 201 : 204;
  if (response.status != 201) return;
  XmlWriter xml;
  xml.Open("PostResponse");
  xml.Element("Location", location);
  xml.Element("Bucket", call.bucket().value);
  xml.Element("Key", call.key().value);
  xml.Element("ETag", etag);
  xml.Close("PostResponse");
  call.RespondXml(xml.Take());
}

}  // namespace

Result<void> PostObject(Call& call) {
  PENSTOCK_ASSIGN(const store::BucketPtr bucket, OpenBucket(call));
  Exchange& exchange = call.exchange;
  PENSTOCK_CHECK(exchange.form != nullptr);  // Authentication opens the form of every PostObject.
  std::vector<FormField> fields = Expanded(*exchange.form);
  SizeRange size;
  if (const std::string_view document = ValueOf(fields, "policy"); !document.empty()) {
    PENSTOCK_ASSIGN(const PostPolicy policy, ParsePostPolicy(document));
    PENSTOCK_TRY(CheckPostPolicy(policy, fields, bucket->name.value, *exchange.Now()));
    size = policy.size();
  }
  SizedBody body(*exchange.body, size);
  RequestHead head{
      exchange.request.method, exchange.request.target, exchange.request.minor_version, {}};
  PENSTOCK_ASSIGN(head.headers, MakeHeaders(exchange.request, fields));
  for (const std::string_view name : kKeptHeaders) {
    if (const auto value = exchange.request.Find(name)) head.headers.push_back({name, *value});
  }
  Exchange put{head, exchange.connection, &body};
  put.form = exchange.form;
  put.wire = exchange.wire;
  put.target = exchange.target;
  put.target.key = ObjectKey(std::string(ValueOf(fields, "key")));
  put.identity = exchange.identity;
  put.signing_region = exchange.signing_region;
  put.space = exchange.space;
  put.clock_ahead = exchange.clock_ahead;
  put.operation = exchange.operation;
  Call inner{put, call.options, call.store, false, bucket, {}};
  const auto outcome = Put(inner, *bucket, ValueOf(fields, "tagging"));
  Decisions::Move(put, exchange);
  if (!outcome.ok()) return outcome.error();
  Respond(inner, fields, *outcome->object);
  exchange.response = std::move(put.response);
  return Ok();
}

}  // namespace penstock::emulator::s3
