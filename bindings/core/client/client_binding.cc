// Client: configuration, whole-object reads into Python memory, and simple operations.
#include "bindings/core/client/client_binding.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc/named_crc.h"
#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_events.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/new_bytes.h"
#include "bindings/core/client/progress.h"
#include "bindings/core/client/read_wait.h"
#include "bindings/core/client/trace.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/credentials.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

struct Options {
  std::string region;
  std::string endpoint;
  bool force_path_style = false;
  bool unsigned_requests = false;
  std::string profile;
  std::optional<int> max_attempts;
  bool requester_pays = false;
  std::string user_agent;
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
  std::string retry_mode;  // empty: from the environment
  double attempt_timeout = 0;
  double operation_timeout = 0;
  std::optional<std::uint64_t> low_speed_limit;
  double connect_timeout = 0;  // 0: the default
  double idle_timeout = 0;     // 0: the default
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, bool> flags;
  std::map<std::string, std::string> texts;
  // The number of this client in penstock/_events.py; 0: it has no such callback.
  std::uint64_t observer_number = 0;
  std::uint64_t policy_number = 0;
  std::string customer_key;  // Of SSE-C; empty: none.
};

RetryMode ModeOf(const std::string& name) {
  for (const RetryMode mode :
       {RetryMode::kTuned, RetryMode::kLegacy, RetryMode::kStandard, RetryMode::kAdaptive}) {
    if (name == RetryModeName(mode)) return mode;
  }
  if (name.empty()) return RetryMode::kDefault;
  Raise(Error::Make(ErrorKind::kInvalidArgument,
                    "retry_mode must be tuned, legacy, standard or adaptive, not `" + name + "`"));
}

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, 1e9) * 1000)));
}

// Sets the optional boolean settings of ClientConfig by name. The environment decides the others.
void SetFlags(const std::map<std::string, bool>& flags, ClientConfig& config) {
  const std::pair<const char*, std::optional<bool>*> known[] = {
      {"use_fips_endpoint", &config.use_fips_endpoint},
      {"use_dualstack_endpoint", &config.use_dualstack_endpoint},
      {"use_accelerate_endpoint", &config.use_accelerate_endpoint},
      {"use_arn_region", &config.use_arn_region},
      {"disable_multi_region_access_points", &config.disable_multi_region_access_points},
      {"disable_s3_express_session_auth", &config.disable_s3_express_session_auth},
      {"hedge_reads", &config.hedge_reads}};
  for (const auto& [name, value] : flags) {
    const auto* found = std::ranges::find(known, name, [](const auto& flag) { return flag.first; });
    if (found == std::end(known)) throw py::value_error("unknown flag " + name);
    *found->second = value;
  }
}

// Sets the optional numbers of ClientConfig by name, which Python has checked.
void SetNumbers(const std::map<std::string, std::int64_t>& numbers, ClientConfig& config) {
  for (const auto& [name, value] : numbers) {
    if (name == "io_threads") {
      config.io_threads = static_cast<int>(value);
    } else if (name == "max_connections") {
      config.max_connections = static_cast<int>(value);
    } else if (name == "max_bytes_per_second") {
      config.max_bytes_per_second = static_cast<std::uint64_t>(value);
    } else if (name == "cache_size") {
      config.cache.max_bytes = static_cast<std::uint64_t>(value);
    } else {
      throw py::value_error("unknown number " + name);
    }
  }
}

ChecksumPolicy PolicyOf(const std::string& name, const std::string& value) {
  if (value == "when_supported") return ChecksumPolicy::kWhenSupported;
  if (value == "when_required") return ChecksumPolicy::kWhenRequired;
  Raise(Error::Make(ErrorKind::kInvalidArgument,
                    name + " must be None, when_supported or when_required, not `" + value + "`"));
}

// Python has checked the value.
AddressingStyle StyleOf(const std::string& value) {
  if (value == "path") return AddressingStyle::kPath;
  return value == "virtual" ? AddressingStyle::kVirtual : AddressingStyle::kAuto;
}

// Sets the optional texts of ClientConfig by name.
void SetTexts(const std::map<std::string, std::string>& texts, ClientConfig& config) {
  const std::pair<const char*, std::string*> known[] = {
      {"ca_bundle_path", &config.ca_bundle_path},
      {"ca_directory_path", &config.ca_directory_path},
      {"client_certificate_path", &config.client_certificate_path},
      {"client_key_path", &config.client_key_path},
      {"client_key_password", &config.client_key_password}};
  for (const auto& [name, value] : texts) {
    const auto* found = std::ranges::find(known, name, [](const auto& text) { return text.first; });
    if (found != std::end(known)) {
      *found->second = value;
    } else if (name == "proxy" || name == "no_proxy") {
      if (!config.proxy) config.proxy.emplace();
      (name == "proxy" ? config.proxy->url : config.proxy->no_proxy) = value;
    } else if (name == "addressing_style") {
      config.addressing_style = StyleOf(value);
    } else if (name == "cache") {
      config.cache.directory = value;
    } else if (name == "upload_checksums" || name == "download_checksums") {
      (name == "upload_checksums" ? config.upload_checksums : config.download_checksums) =
          PolicyOf(name, value);
    } else {
      throw py::value_error("unknown text " + name);
    }
  }
}

// Sets the observers of Python and of PENSTOCK_TRACE.
void SetObserver(PyClient& client, std::uint64_t number) {
  std::vector<std::function<void(const RequestEvent&)>> observers;
  if (auto trace = Unwrap(OpenTrace())) observers.push_back(std::move(trace));
  if (number != 0) observers.push_back(MakeObserver(number, client.dropped_events));
  if (observers.empty()) return;
  client.client->SetObserver([observers = std::move(observers)](const RequestEvent& event) {
    for (const auto& observer : observers) observer(event);
  });
}

PyClient MakeClient(Options options) {
  ClientConfig config;
  config.region = std::move(options.region);
  config.endpoint_url = std::move(options.endpoint);
  if (options.force_path_style) config.addressing_style = AddressingStyle::kPath;
  config.signing = options.unsigned_requests ? Signing::kUnsigned : Signing::kSigned;
  config.profile = std::move(options.profile);
  config.max_attempts = options.max_attempts;
  config.requester_pays = options.requester_pays;
  config.user_agent = std::move(options.user_agent);
  SetFlags(options.flags, config);
  SetTexts(options.texts, config);
  SetNumbers(options.numbers, config);
  config.retry_mode = ModeOf(options.retry_mode);
  config.attempt_timeout = Milliseconds(options.attempt_timeout);
  config.operation_timeout = Milliseconds(options.operation_timeout);
  if (options.connect_timeout > 0) config.connect_timeout = Milliseconds(options.connect_timeout);
  if (options.idle_timeout > 0) config.idle_timeout = Milliseconds(options.idle_timeout);
  if (options.low_speed_limit.has_value()) {
    config.low_speed_bytes_per_second = *options.low_speed_limit;
    config.low_speed_time = std::chrono::seconds(5);
  }
  if (!options.customer_key.empty())
    config.customer_key = Unwrap(CustomerKey::Create(AsBytes(options.customer_key)));
  if (options.policy_number != 0)
    config.async_retry_policy = MakeRetryPolicy(options.policy_number);
  if (!options.access_key_id.empty()) {
    config.credentials = MakeStaticCredentials(Credentials{
        options.access_key_id, options.secret_access_key, options.session_token, std::nullopt});
  }
  // It reads profile files.
  auto created = WithoutGil([&] { return Client::Create(std::move(config)); });
  std::shared_ptr<Client> client = Unwrap(std::move(created));
  PyClient made{std::move(client)};
  SetObserver(made, options.observer_number);
  return made;
}

using Checksums = std::vector<std::pair<std::string, std::string>>;

// Reads into a new `bytes`, filled in place. `head` has the object's bytes before `start` and is
// copied to the front. Returns the bytes, the metadata and the CRC of DownloadResponse.
py::tuple Read(const PyClient& self, ReadArguments arguments, const py::bytes& head,
               const Progress& progress) {
  DownloadRequest request = MakeDownload(std::move(arguments));
  request.options.progress = progress.counter();
  const std::string_view first = head;
  py::object bytes;
  const auto make_memory = [&bytes, first](std::uint64_t size) -> Result<MutableByteView> {
    const HeldGil gil;
    PENSTOCK_ASSIGN(bytes, NewBytes(first.size() + size));
    const MutableByteView memory = BytesMemory(bytes);
    if (!first.empty()) std::memcpy(memory.data(), first.data(), first.size());
    return memory.subspan(first.size());
  };
  auto result = WithoutGil([&] {
    if (!request.known_size || !request.known_etag) {
      return DownloadInto(self.client, std::move(request), make_memory, progress.interrupt());
    }
    // Runs on this thread: the size is known before the first request.
    request.destination = make_memory;
    return Download(*self.client, std::move(request), progress.interrupt());
  });
  const DownloadResponse response = Unwrap(std::move(result));
  progress.Report();
  if (!bytes) bytes = head;
  return py::make_tuple(bytes, response.metadata, response.prefix_crc);
}

// Reads into a writable buffer from its offset `filled` on. Returns the number of bytes, the
// metadata and the CRC of DownloadResponse.
py::tuple ReadInto(const PyClient& self, const py::object& buffer, ReadArguments arguments,
                   const Progress& progress, std::size_t filled) {
  const BufferView view(buffer, BufferView::Access::kWrite);
  const MutableByteView memory = view.writable().subspan(std::min(filled, view.writable().size()));
  AdviseHugePages(memory);
  // A read up to the object's end is requested without an end. S3 sends the checksum only with a
  // response that covers the whole object.
  const bool to_the_end =
      arguments.size && arguments.etag && arguments.start + memory.size() >= *arguments.size;
  if (!to_the_end) arguments.end = arguments.start + memory.size();
  DownloadRequest request = MakeDownload(std::move(arguments));
  request.options.progress = progress.counter();
  request.destination = [memory](std::uint64_t size) -> Result<MutableByteView> {
    return memory.first(size);
  };
  auto result =
      WithoutGil([&] { return Download(*self.client, std::move(request), progress.interrupt()); });
  const DownloadResponse response = Unwrap(std::move(result));
  progress.Report();
  return py::make_tuple(response.bytes, response.metadata, response.prefix_crc);
}

// Uploads with one PutObject, optionally on a condition. Returns the ETag.
py::str PutObject(const PyClient& self, Text<"bucket"> bucket, Text<"key"> key,
                  const py::object& data, Named<"if_match", std::optional<std::string>> if_match,
                  Named<"if_none_match", bool> if_none_match) {
  const BufferView view(data, BufferView::Access::kRead);
  UploadOptions options;
  options.single_put_limit_bytes = 5ull << 30;
  if (if_match.value) options.if_match = ETag(std::move(*if_match.value));
  options.if_none_match_any = if_none_match.value;
  auto result = WithoutGil([&] {
    return Upload(self.client, BucketName(std::move(bucket.value)), ObjectKey(std::move(key.value)),
                  view.bytes(), std::move(options), SignalPending);
  });
  return TextToPython(Unwrap(std::move(result)).etag.value);
}

py::list PairsToPython(const std::vector<std::pair<std::string, std::string>>& pairs) {
  py::list list;
  for (const auto& [name, value] : pairs)
    list.append(py::make_tuple(TextToPython(name), TextToPython(value)));
  return list;
}

void BindMetadata(py::module_& module) {
  py::class_<ObjectMetadata>(module, "ObjectMetadata",
                             "Metadata of one object version, as returned by S3.")
      .def_readonly("size", &ObjectMetadata::size)
      .def_property_readonly("etag",
                             [](const ObjectMetadata& m) { return TextToPython(m.etag.value); })
      .def_property_readonly("last_modified",
                             [](const ObjectMetadata& m) { return EpochSeconds(m.last_modified); })
      .def_property_readonly("content_type",
                             [](const ObjectMetadata& m) { return TextToPython(m.content_type); })
      .def_property_readonly("storage_class",
                             [](const ObjectMetadata& m) { return TextToPython(m.storage_class); })
      .def_property_readonly(
          "version_id", [](const ObjectMetadata& m) { return TextToPython(m.version_id.value); })
      .def_property_readonly("restore",
                             [](const ObjectMetadata& m) { return TextToPython(m.restore); })
      .def_property_readonly("checksums",
                             [](const ObjectMetadata& m) { return PairsToPython(m.checksums); })
      .def_property_readonly(
          "user_metadata", [](const ObjectMetadata& m) { return PairsToPython(m.user_metadata); });
}

void BindObjects(Guarded<PyClient>& client) {
  client
      .def(
          "head_object",
          [](const PyClient& self, const Text<"bucket">& bucket, const Text<"key">& key,
             const Text<"version_id">& version) {
            return Call(
                self,
                HeadObjectRequest{
                    BucketName(bucket.value), ObjectKey(key.value), VersionId(version.value), {}});
          },
          "bucket"_a, "key"_a, "version_id"_a = "")
      .def("put_object", &PutObject, "bucket"_a, "key"_a, "data"_a, "if_match"_a = py::none(),
           "if_none_match"_a = false)
      .def(
          "delete_object",
          [](const PyClient& self, const Text<"bucket">& bucket, const Text<"key">& key,
             const Text<"version_id">& version,
             const Named<"if_match", std::optional<std::string>>& if_match) {
            DeleteObjectRequest request{
                BucketName(bucket.value), ObjectKey(key.value), VersionId(version.value), {}, {}};
            if (if_match.value) request.if_match = ETag(*if_match.value);
            Call(self, std::move(request));
          },
          "bucket"_a, "key"_a, "version_id"_a = "", "if_match"_a = py::none())
      .def(
          "delete_objects",
          [](const PyClient& self, const Text<"bucket">& bucket,
             const Named<"keys", std::vector<std::string>>& keys) {
            DeleteObjectsRequest request{BucketName(bucket.value), {}, {}};
            for (const std::string& key : keys.value) request.keys.emplace_back(key);
            std::vector<std::tuple<py::str, py::str, py::str>> failures;
            for (const auto& f : Call(self, std::move(request)).failures) {
              failures.emplace_back(KeyToPython(f.key.value), TextToPython(f.code),
                                    TextToPython(f.message));
            }
            return failures;
          },
          "bucket"_a, "keys"_a)
      .def(
          "copy_object",
          [](const PyClient& self, const Text<"src_bucket">& source_bucket,
             const Text<"src_key">& source_key, const Text<"dst_bucket">& bucket,
             const Text<"dst_key">& key, const Text<"src_version_id">& version,
             const Named<"src_etag", std::optional<std::string>>& etag) {
            CopyObjectRequest request;
            request.source_bucket = BucketName(source_bucket.value);
            request.source_key = ObjectKey(source_key.value);
            request.bucket = BucketName(bucket.value);
            request.key = ObjectKey(key.value);
            request.source_version_id = VersionId(version.value);
            if (etag.value) request.source_if_match = ETag(*etag.value);
            return TextToPython(Call(self, std::move(request)).etag.value);
          },
          "src_bucket"_a, "src_key"_a, "dst_bucket"_a, "dst_key"_a, "src_version_id"_a = "",
          "src_etag"_a = py::none())
      .def(
          "abort_multipart_upload",
          [](const PyClient& self, const Text<"bucket">& bucket, const Text<"key">& key,
             const Text<"upload_id">& id) {
            Call(self, AbortMultipartUploadRequest{
                           BucketName(bucket.value), ObjectKey(key.value), UploadId(id.value), {}});
          },
          "bucket"_a, "key"_a, "upload_id"_a);
}

void BindConstructor(Guarded<PyClient>& client) {
  client.def(
      py::init([](std::string region, std::string endpoint, bool force_path_style, bool unsigned_,
                  std::string profile, std::optional<int> max_attempts, bool requester_pays,
                  std::string user_agent, std::string access_key_id, std::string secret_access_key,
                  std::string session_token, std::string retry_mode, double attempt_timeout,
                  double operation_timeout, std::optional<std::uint64_t> low_speed_limit,
                  double connect_timeout, double idle_timeout,
                  std::map<std::string, std::int64_t> numbers, std::map<std::string, bool> flags,
                  std::map<std::string, std::string> texts, std::uint64_t observer_number,
                  std::uint64_t policy_number, const py::bytes& customer_key) {
        return MakeClient({std::move(region),
                           std::move(endpoint),
                           force_path_style,
                           unsigned_,
                           std::move(profile),
                           max_attempts,
                           requester_pays,
                           std::move(user_agent),
                           std::move(access_key_id),
                           std::move(secret_access_key),
                           std::move(session_token),
                           std::move(retry_mode),
                           attempt_timeout,
                           operation_timeout,
                           low_speed_limit,
                           connect_timeout,
                           idle_timeout,
                           std::move(numbers),
                           std::move(flags),
                           std::move(texts),
                           observer_number,
                           policy_number,
                           std::string(customer_key)});
      }),
      py::kw_only(), "region"_a = "", "endpoint"_a = "", "force_path_style"_a = false,
      "unsigned"_a = false, "profile"_a = "", "max_attempts"_a = py::none(),
      "requester_pays"_a = false, "user_agent"_a = "", "access_key_id"_a = "",
      "secret_access_key"_a = "", "session_token"_a = "", "retry_mode"_a = "",
      "attempt_timeout"_a = 0.0, "operation_timeout"_a = 0.0, "low_speed_limit"_a = py::none(),
      "connect_timeout"_a = 0.0, "idle_timeout"_a = 0.0,
      "numbers"_a = std::map<std::string, std::int64_t>(),
      "flags"_a = std::map<std::string, bool>(), "texts"_a = std::map<std::string, std::string>(),
      "observer_number"_a = 0, "policy_number"_a = 0, "customer_key"_a = py::bytes(""));
}

void BindReads(Guarded<PyClient>& client) {
  client
      .def(
          "read",
          [](const PyClient& self, Text<"bucket"> bucket, Text<"key"> key,
             Named<"start", std::uint64_t> start, Named<"end", std::optional<std::uint64_t>> end,
             Named<"size", std::optional<std::uint64_t>> size,
             Named<"etag", std::optional<std::string>> etag,
             Named<"part_size", std::optional<std::uint64_t>> part_size,
             Named<"parallel", std::optional<int>> parallel, const py::bytes& head,
             py::object progress, Text<"version_id"> version, Checksums checksums,
             std::optional<std::uint64_t> prefix_crc,
             Named<"listed_etag", std::optional<std::string>> listed) {
            return Read(
                self,
                {std::move(bucket.value), std::move(key.value), start.value, end.value, size.value,
                 std::move(etag.value), part_size.value, parallel.value, std::move(version.value),
                 std::move(checksums), prefix_crc, std::move(listed.value)},
                head, Progress(std::move(progress)));
          },
          "bucket"_a, "key"_a, "start"_a = 0, "end"_a = py::none(), "size"_a = py::none(),
          "etag"_a = py::none(), "part_size"_a = py::none(), "parallel"_a = py::none(),
          "head"_a = py::bytes(""), "progress"_a = py::none(), "version_id"_a = "",
          "checksums"_a = Checksums(), "prefix_crc"_a = py::none(), "listed_etag"_a = py::none())
      .def(
          "read_into",
          [](const PyClient& self, Text<"bucket"> bucket, Text<"key"> key, const py::object& buffer,
             Named<"start", std::uint64_t> start, Named<"size", std::optional<std::uint64_t>> size,
             Named<"etag", std::optional<std::string>> etag,
             Named<"part_size", std::optional<std::uint64_t>> part_size,
             Named<"parallel", std::optional<int>> parallel, py::object progress,
             Text<"version_id"> version, std::size_t filled, Checksums checksums,
             std::optional<std::uint64_t> prefix_crc,
             Named<"listed_etag", std::optional<std::string>> listed) {
            return ReadInto(self, buffer,
                            {std::move(bucket.value), std::move(key.value), start.value,
                             std::nullopt, size.value, std::move(etag.value), part_size.value,
                             parallel.value, std::move(version.value), std::move(checksums),
                             prefix_crc, std::move(listed.value)},
                            Progress(std::move(progress)), filled);
          },
          "bucket"_a, "key"_a, "buffer"_a, "start"_a = 0, "size"_a = py::none(),
          "etag"_a = py::none(), "part_size"_a = py::none(), "parallel"_a = py::none(),
          "progress"_a = py::none(), "version_id"_a = "", "filled"_a = 0,
          "checksums"_a = Checksums(), "prefix_crc"_a = py::none(), "listed_etag"_a = py::none());
}

}  // namespace

DownloadRequest MakeDownload(ReadArguments arguments) {
  DownloadRequest request;
  request.bucket = BucketName(std::move(arguments.bucket));
  request.key = ObjectKey(std::move(arguments.key));
  request.begin = arguments.start;
  request.end = arguments.end;
  request.known_size = arguments.size;
  if (arguments.etag) request.known_etag = ETag(std::move(*arguments.etag));
  if (arguments.listed_etag) request.listed_etag = ETag(std::move(*arguments.listed_etag));
  request.version_id = VersionId(std::move(arguments.version_id));
  request.known_checksums = std::move(arguments.checksums);
  request.prefix_crc = arguments.prefix_crc;
  request.options.part_size_bytes = arguments.part_size;
  request.options.max_parallel_parts = arguments.parallel;
  return request;
}

void BindClient(py::module_& module) {
  BindMetadata(module);
  Guarded<PyClient> client(module, "Client",
                           "S3 client. Safe from any thread; usable in a forked child.");
  BindConstructor(client);
  BindReads(client);
  client
      .def_property_readonly(
          "may_repeat", [](const PyClient& self) { return self.client->may_repeat(); },
          "False if max_attempts is 1.")
      .def("stats", [](const PyClient& self) {
        py::dict stats = StatsToPython(self.client->stats());
        stats["events_dropped"] = self.dropped_events->load();
        return stats;
      });
  BindObjects(client);
  BindDirectoryBuckets(module, client);
  BindOperations(client);
  BindFiles(module, client);
  BindPages(client);
}

}  // namespace penstock::python
