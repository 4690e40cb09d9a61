#include "penstock/presign.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/dates.h"
#include "base/encoding.h"
#include "base/log/caught.h"
#include "base/text/json_text.h"
#include "client/http/exchange/request_rules.h"
#include "client/s3/attempt/attempt_request.h"
#include "client/s3/call/attempt_loop.h"
#include "client/s3/call/call_options.h"
#include "client/s3/call/client_state.h"
#include "client/s3/call/region_resolver.h"
#include "client/s3/call/signing_credentials.h"
#include "client/s3/client_impl.h"
#include "client/s3/verbs/request_start.h"
#include "client/s3/verbs/verbs.h"
#include "penstock/base/blocking.h"
#include "penstock/base/pending.h"
#include "penstock/bucket_kind.h"

namespace penstock {
namespace {

using s3::ClientState;
using StatePtr = std::shared_ptr<ClientState>;  // Shared with the wait for credentials.

Result<void> CheckExpires(std::chrono::seconds expires) {
  constexpr std::chrono::seconds kLongest = std::chrono::days(7);
  if (expires >= std::chrono::seconds(1) && expires <= kLongest) return Ok();
  return s3::InvalidRequest("expires must be 1 to 604800 seconds, not " +
                            std::to_string(expires.count()));
}

Result<s3::ResolvedEndpointPtr> Resolve(ClientState& state, s3::Operation operation,
                                        const std::string& bucket) {
  s3::RegionResolver resolver(state.config, state.regions, state.endpoints, s3::Info(operation),
                              bucket);
  PENSTOCK_TRY(resolver.Resolve());
  return resolver.endpoint();
}

WallTime EndOf(WallTime now, std::chrono::seconds expires, const Credentials& credentials) {
  const WallTime end = TimeAhead(now, expires);
  return credentials.expires_at ? std::min(end, *credentials.expires_at) : end;
}

struct Place {
  s3::Operation operation;
  std::string bucket;
  std::string key;
};
// Ends once: with the credentials, or at the deadline. Errors get the operation, bucket and key of
// `place`.
template <class T>
class CredentialsWait {
 public:
  CredentialsWait(Place place, Callback<T> done)
      : place_(std::move(place)), done_(std::move(done)) {}

  bool IsOpen() const { return open_; }
  // Passes what `make` returns to the callback, unless the wait has ended.
  template <class Make>
  void End(Make make) {
    if (!open_.exchange(false)) return;
    Result<T> result = Caught("the signing of a request", make);
    if (!result.ok()) result.error().At(s3::Info(place_.operation).name, place_.bucket, place_.key);
    Contain("the callback of a call", [&] { std::exchange(done_, nullptr)(std::move(result)); });
  }

 private:
  const Place place_;
  Callback<T> done_;
  std::atomic<bool> open_{true};
};

// Passes what `sign` returns for the credentials of the endpoint, which should be valid for
// `expires`, to `done`, exactly once.
template <class T, class Sign>
void SignWhenReady(const StatePtr& state, const s3::ResolvedEndpointPtr& endpoint,
                   const Place& place, std::chrono::seconds expires, Deadline deadline, Sign sign,
                   Callback<T> done) {
  const auto wait = std::make_shared<CredentialsWait<T>>(place, std::move(done));
  s3::FetchSigningCredentials(state, endpoint, place.bucket, expires,
                              [wait, sign = std::move(sign)](Result<CredentialsPtr> credentials) {
                                wait->End([&]() -> Result<T> {
                                  if (!credentials.ok()) return std::move(credentials).error();
                                  if (*credentials == nullptr) {
                                    return Error::Make(
                                        ErrorKind::kUnauthenticated,
                                        "a presigned request needs credentials, and this client is "
                                        "anonymous; configure credentials");
                                  }
                                  return sign(**credentials);
                                });
                              });
  deadline = s3::DeadlineOf(*state, {.deadline = deadline});
  if (deadline.IsNever() || !wait->IsOpen()) return;
  Result<void> timer = Caught("a timer of a call", [&] {
    return state->dependencies.transport()->RunAt(deadline.when(), [wait] {
      wait->End([]() -> Result<T> { return s3::LateCredentials(); });
    });
  });
  if (!timer.ok()) wait->End([&]() -> Result<T> { return std::move(timer).error(); });
}

// Runs `start`. Its error goes to `done`.
template <class T, class Start>
void StartOrFail(const Place& place, const Callback<T>& done, Start start) {
  Result<void> started = Caught("the start of a call", start);
  if (started.ok()) return;
  started.error().At(s3::Info(place.operation).name, place.bucket, place.key);
  Contain("the callback of a call", [&] { done(std::move(started).error()); });
}

Result<PresignedRequest> SignUrl(ClientState& state, const s3::WireRequest& wire,
                                 const s3::ResolvedEndpoint& endpoint, std::chrono::seconds expires,
                                 const Credentials& credentials) {
  const WallTime now = state.CorrectedNow();
  http::Request request;
  request.method = s3::Info(wire.operation).method;
  request.target = s3::MakeTarget(wire, endpoint);
  request.headers.push_back({"Host", endpoint.authority});
  request.headers.insert(request.headers.end(), wire.headers.begin(), wire.headers.end());
  request.endpoint = endpoint.endpoint;
  PENSTOCK_TRY(http::CheckRequest(request));
  PENSTOCK_TRY(state.process.SignerFor(s3::ScopeOf(endpoint))
                   .Presign(request, credentials, {.now = now, .expires = expires}));
  PresignedRequest out;
  out.method = request.method;
  out.url = endpoint.endpoint.scheme + "://" + endpoint.authority + request.target;
  for (const http::Header& header : wire.headers)
    out.headers.emplace_back(header.name, header.value);
  out.expires_at = EndOf(now, expires, credentials);
  return out;
}

template <class Request>
void StartUrl(Client& client, s3::Operation operation, const Request& request,
              const PresignOptions& options, const Callback<PresignedRequest>& done) {
  const StatePtr& state = Client::Impl::SharedStateOf(client);
  const Place place{operation, request.bucket.value, request.key.value};
  StartOrFail(place, done, [&]() -> Result<void> {
    PENSTOCK_TRY(CheckExpires(options.expires));
    s3::BuildContext context = state->build_context;
    context.presigned = true;
    context.upload_checksums = false;
    context.verify_downloads = false;
    PENSTOCK_ASSIGN(s3::WireRequest wire, s3::BuildRequest(request, context));
    PENSTOCK_TRY(s3::ApplyCallOptions(request.options, wire));
    PENSTOCK_ASSIGN(const s3::ResolvedEndpointPtr endpoint,
                    Resolve(*state, operation, wire.bucket));
    PENSTOCK_TRY(s3::CheckMayCarryKey(wire, endpoint->endpoint, state->connect));
    SignWhenReady<PresignedRequest>(
        state, endpoint, place, options.expires, request.options.deadline,
        [state, endpoint, wire = std::move(wire),
         expires = options.expires](const Credentials& credentials) {
          return SignUrl(*state, wire, *endpoint, expires, credentials);
        },
        done);
    return Ok();
  });
}

template <class T, class Start>
Result<T> WaitFor(Start start) {
  PENSTOCK_TRY(CheckMayBlock("Presign"));
  auto call = MakePending<T>();
  start(std::move(call.done));
  return call.pending.Get();
}

// Writes the policy of a form as json.dumps of Python does, so that both can be compared.
class PolicyWriter {
 public:
  explicit PolicyWriter(WallTime expiration) {
    // Without milliseconds.
    const std::string time = FormatIso8601(expiration).substr(0, 19) + "Z";
    out_ = "{\"expiration\": \"" + time + "\", \"conditions\": [";
  }
  void Equal(std::string_view name, std::string_view value) {
    Begin();
    out_ += '{';
    internal::AppendJsonString(out_, name);
    out_ += ": ";
    internal::AppendJsonString(out_, value);
    out_ += '}';
  }
  void StartsWith(const std::string& name, std::string_view prefix) {
    Begin();
    out_ += "[\"starts-with\", ";
    internal::AppendJsonString(out_, "$" + name);
    out_ += ", ";
    internal::AppendJsonString(out_, prefix);
    out_ += ']';
  }
  void ContentLengthRange(std::uint64_t least, std::uint64_t most) {
    Begin();
    out_ +=
        "[\"content-length-range\", " + std::to_string(least) + ", " + std::to_string(most) + ']';
  }
  std::string Take() { return std::move(out_) + "]}"; }

 private:
  void Begin() {
    if (!std::exchange(first_, false)) out_ += ", ";
  }
  std::string out_;
  bool first_ = true;
};

constexpr std::string_view kFileName = "${filename}";

Result<void> CheckForm(const PostFormRequest& request) {
  PENSTOCK_TRY(CheckExpires(request.expires));
  if (IsDirectoryBucket(request.bucket.value)) {
    return Error::Make(ErrorKind::kUnsupported,
                       "browser forms work in general purpose buckets only, and `" +
                           request.bucket.value +
                           "` is a directory bucket; presign a PutObjectRequest");
  }
  for (const NameValueList* list : {&request.fields, &request.starts_with}) {
    for (const auto& [name, value] : *list) {
      // It becomes a parameter of a header; values are bodies of their own (RFC 7578).
      if (std::ranges::any_of(
              name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '"'; })) {
        return s3::InvalidRequest(
            "the name of a field of the form has a quote or a control character, for example a "
            "line break; remove it");
      }
      for (const std::string_view own :
           {"", "key", "bucket", "file", "policy", "x-amz-algorithm", "x-amz-credential",
            "x-amz-date", "x-amz-security-token", "x-amz-signature"}) {
        if (http::EqualsIgnoringCase(name, own)) {
          return s3::InvalidRequest("the form sets the field `" + name +
                                    "` itself; use the member of PostFormRequest for it");
        }
      }
    }
  }
  const auto& sizes = request.content_length_range;
  if (sizes && sizes->first > sizes->second)
    return s3::InvalidRequest("content_length_range must not end before it starts");
  return Ok();
}

std::string PolicyOf(const PostFormRequest& request, WallTime end,
                     const NameValueList& signing_fields) {
  PolicyWriter policy(end);
  for (const auto& [name, value] : request.fields) policy.Equal(name, value);
  for (const auto& [name, prefix] : request.starts_with) policy.StartsWith(name, prefix);
  if (const auto& sizes = request.content_length_range)
    policy.ContentLengthRange(sizes->first, sizes->second);
  policy.Equal("bucket", request.bucket.value);
  const std::string_view key = request.key.value;
  if (key.ends_with(kFileName)) {
    policy.StartsWith("key", key.substr(0, key.size() - kFileName.size()));
  } else {
    policy.Equal("key", key);
  }
  for (const auto& [name, value] : signing_fields) policy.Equal(name, value);
  return policy.Take();
}

Result<PostForm> SignForm(ClientState& state, const PostFormRequest& request,
                          const s3::ResolvedEndpoint& endpoint, const Credentials& credentials) {
  const WallTime now = state.CorrectedNow();
  const auth::Signer& signer = state.process.SignerFor(s3::ScopeOf(endpoint));
  PENSTOCK_ASSIGN(NameValueList signing, signer.FormFields(credentials, now));
  const std::string policy =
      Base64Encode(AsBytes(PolicyOf(request, TimeAhead(now, request.expires), signing)));
  s3::WireRequest wire;
  wire.operation = s3::Operation::kPutObject;
  wire.bucket = request.bucket.value;
  PostForm form;
  form.url = endpoint.endpoint.scheme + "://" + endpoint.authority + s3::MakeTarget(wire, endpoint);
  form.fields = request.fields;
  form.fields.emplace_back("key", request.key.value);
  form.fields.insert(form.fields.end(), signing.begin(), signing.end());
  form.fields.emplace_back("policy", policy);
  form.fields.emplace_back("x-amz-signature", signer.SignText(credentials, now, policy));
  return form;
}

}  // namespace

void StartPresign(Client& client, const GetObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done) {
  StartUrl(client, s3::Operation::kGetObject, request, options, done);
}
void StartPresign(Client& client, const HeadObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done) {
  StartUrl(client, s3::Operation::kHeadObject, request, options, done);
}
void StartPresign(Client& client, const PutObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done) {
  StartUrl(client, s3::Operation::kPutObject, request, options, done);
}
void StartPresign(Client& client, const DeleteObjectRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done) {
  StartUrl(client, s3::Operation::kDeleteObject, request, options, done);
}
void StartPresign(Client& client, const UploadPartRequest& request, const PresignOptions& options,
                  Callback<PresignedRequest> done) {
  StartUrl(client, s3::Operation::kUploadPart, request, options, done);
}

Result<PresignedRequest> Presign(Client& client, const GetObjectRequest& request,
                                 const PresignOptions& options) {
  return WaitFor<PresignedRequest>(
      [&](auto done) { StartPresign(client, request, options, std::move(done)); });
}
Result<PresignedRequest> Presign(Client& client, const HeadObjectRequest& request,
                                 const PresignOptions& options) {
  return WaitFor<PresignedRequest>(
      [&](auto done) { StartPresign(client, request, options, std::move(done)); });
}
Result<PresignedRequest> Presign(Client& client, const PutObjectRequest& request,
                                 const PresignOptions& options) {
  return WaitFor<PresignedRequest>(
      [&](auto done) { StartPresign(client, request, options, std::move(done)); });
}
Result<PresignedRequest> Presign(Client& client, const DeleteObjectRequest& request,
                                 const PresignOptions& options) {
  return WaitFor<PresignedRequest>(
      [&](auto done) { StartPresign(client, request, options, std::move(done)); });
}
Result<PresignedRequest> Presign(Client& client, const UploadPartRequest& request,
                                 const PresignOptions& options) {
  return WaitFor<PresignedRequest>(
      [&](auto done) { StartPresign(client, request, options, std::move(done)); });
}

void StartPresign(Client& client, const PostFormRequest& request, Callback<PostForm> done) {
  const StatePtr& state = Client::Impl::SharedStateOf(client);
  const Place place{s3::Operation::kPutObject, request.bucket.value, request.key.value};
  StartOrFail(place, done, [&]() -> Result<void> {
    PENSTOCK_TRY(CheckForm(request));
    PENSTOCK_TRY(s3::StartObjectRequest(s3::Operation::kPutObject, request.bucket, request.key,
                                        state->build_context));
    PENSTOCK_ASSIGN(const s3::ResolvedEndpointPtr endpoint,
                    Resolve(*state, s3::Operation::kPutObject, request.bucket.value));
    SignWhenReady<PostForm>(
        state, endpoint, place, request.expires, Deadline::Never(),
        [state, endpoint, request](const Credentials& credentials) {
          return SignForm(*state, request, *endpoint, credentials);
        },
        done);
    return Ok();
  });
}

Result<PostForm> Presign(Client& client, const PostFormRequest& request) {
  return WaitFor<PostForm>([&](auto done) { StartPresign(client, request, std::move(done)); });
}

}  // namespace penstock
