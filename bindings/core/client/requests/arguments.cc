#include "bindings/core/client/requests/arguments.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "bindings/core/errors.h"
#include "penstock/base/clock.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

constexpr double kMaxSeconds = 9'223'372'036;  // WallTime has 64 bits of nanoseconds.

[[noreturn]] void Invalid(const std::string& message) {
  Raise(Error::Make(ErrorKind::kInvalidArgument, message));
}

// Converts one of a few names to its value.
template <class T, std::size_t kSize>
T OneOf(const std::string& name, py::handle value,
        const std::array<std::pair<std::string_view, T>, kSize>& known) {
  std::string text;
  LoadValue(name, value, text);
  const auto* found =
      std::ranges::find(known, text, [](const auto& one) -> std::string_view { return one.first; });
  if (found != known.end()) return found->second;
  std::string all;
  for (const auto& [one, unused] : known) all.append(all.empty() ? "" : ", ").append(one);
  Invalid(name + " must be one of " + all + "; not `" + text + "`");
}

// The elements of a sequence of that length; other values are a TypeError.
py::tuple Elements(const std::string& name, py::handle value, std::size_t count,
                   const std::string& wanted) {
  if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr()))
    argument::Refuse(name, value, wanted);
  auto elements = py::tuple(py::reinterpret_borrow<py::object>(value));
  if (elements.size() != count)
    throw py::type_error(name + " must be " + wanted + ", not " + std::to_string(elements.size()) +
                         " elements");
  return elements;
}

// The elements of any iterable except text.
template <class Element>
void ForEach(const std::string& name, py::handle value, const std::string& wanted,
             Element element) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || !py::hasattr(value, "__iter__"))
    argument::Refuse(name, value, wanted);
  std::size_t index = 0;
  for (const py::handle one : py::reinterpret_borrow<py::iterable>(value))
    element(name + "[" + std::to_string(index++) + "]", one);
}

// Loads an attribute of a Python object, unless it is None.
template <class T>
void LoadAttribute(const std::string& name, py::handle object, const char* attribute, T& loaded) {
  if (const py::object value = object.attr(attribute); !value.is_none())
    LoadValue(name + "." + attribute, value, loaded);
}

std::optional<std::int64_t> Offset(const std::string& name, py::handle value) {
  std::optional<std::int64_t> offset;
  if (!value.is_none()) LoadValue(name, value, offset);
  return offset;
}

double Number(const std::string& name, py::handle value, const std::string& wanted) {
  if (PyBool_Check(value.ptr()) || !(PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())))
    argument::Refuse(name, value, wanted);
  const double number = PyFloat_AsDouble(value.ptr());
  PyErr_Clear();  // Of an int beyond double, which is -1 here.
  return number;
}

[[noreturn]] void RefuseRange(const std::string& name, py::handle value) {
  Invalid(name +
          " must be (begin, end) with 0 <= begin < end, where either may be None, or (-n, None)"
          " for the last n bytes; not " +
          std::string(py::repr(value)));
}

Encryption LoadEncryption(Arguments& arguments) {
  std::string kind;
  SseKms kms;
  CustomerKey key;
  arguments.Load("server_side_encryption", kind);
  arguments.Load("sse_kms_key_id", kms.key_id);
  arguments.Load("sse_kms_encryption_context", kms.context);
  arguments.Load("bucket_key_enabled", kms.bucket_key);
  arguments.Load("sse_customer_key", key);
  const bool of_kms = !kms.key_id.empty() || !kms.context.empty() || kms.bucket_key;
  if (!key.empty()) {
    if (!kind.empty() || of_kms)
      Invalid(
          "sse_customer_key cannot be combined with server_side_encryption, sse_kms_key_id, "
          "sse_kms_encryption_context or bucket_key_enabled; give one kind of encryption");
    return key;
  }
  if (kind == "aws:kms") return kms;
  if (kind == "aws:kms:dsse") {
    if (kms.bucket_key) Invalid("bucket_key_enabled does not apply to aws:kms:dsse; leave it out");
    return DsseKms{std::move(kms.key_id), std::move(kms.context)};
  }
  if (of_kms)
    Invalid(
        "sse_kms_key_id, sse_kms_encryption_context and bucket_key_enabled need "
        "server_side_encryption=\"aws:kms\" (the first two also \"aws:kms:dsse\"), not `" +
        kind + "`");
  if (kind == "AES256") return SseS3{};
  if (!kind.empty())
    Invalid("server_side_encryption must be AES256, aws:kms or aws:kms:dsse; not `" + kind +
            "`. For a key of your own give sse_customer_key");
  return {};
}

void LoadLock(Arguments& arguments, ObjectLock& lock) {
  std::optional<WallTime> until;
  arguments.Load("object_lock_mode", lock.mode);
  arguments.Load("object_lock_retain_until_date", until);
  arguments.Load("object_lock_legal_hold", lock.legal_hold);
  if ((lock.mode != LockMode::kNone) != until.has_value())
    Invalid(
        "object_lock_mode and object_lock_retain_until_date belong together; give both or "
        "neither");
  if (until) lock.retain_until = *until;
}

}  // namespace

void LoadValue(const std::string& name, py::handle value, std::string& loaded) {
  argument::Load(name, value, loaded);
}

void LoadValue(const std::string& name, py::handle value, bool& loaded) {
  if (!PyBool_Check(value.ptr())) argument::Refuse(name, value, "bool");
  loaded = value.ptr() == Py_True;
}

void LoadValue(const std::string& name, py::handle value, WallTime& loaded) {
  auto seconds = py::reinterpret_borrow<py::object>(value);
  if (py::hasattr(value, "timestamp")) {
    if (py::getattr(value, "tzinfo", py::none()).is_none())
      throw py::value_error(name +
                            " is a datetime without a time zone; give one with, for example "
                            "datetime.now(timezone.utc), or seconds since the epoch");
    seconds = value.attr("timestamp")();
  }
  const double number = Number(name, seconds, "a datetime or seconds since the epoch");
  if (!(number >= 0 && number <= kMaxSeconds))
    throw py::value_error(name +
                          " must be 1970 to 2262, that is 0 to 9223372036 seconds since the "
                          "epoch, not " +
                          std::string(py::repr(value)));
  loaded = WallTime(
      std::chrono::duration_cast<WallTime::duration>(std::chrono::duration<double>(number)));
}

void LoadValue(const std::string& name, py::handle value, ETag& loaded) {
  LoadValue(name, value, loaded.value);
  if (loaded.value.size() >= 2 && loaded.value.starts_with('"') && loaded.value.ends_with('"'))
    loaded.value = loaded.value.substr(1, loaded.value.size() - 2);
}

void LoadValue(const std::string& name, py::handle value, CustomerKey& loaded) {
  if (PyObject_CheckBuffer(value.ptr()) == 0) argument::Refuse(name, value, "bytes");
  const BufferView view(value, BufferView::Access::kRead, name.c_str());
  auto key = CustomerKey::Create(view.bytes());
  if (!key.ok()) Invalid(name + ": " + key.error().message);
  loaded = std::move(key).value();
}

void LoadValue(const std::string& name, py::handle value, NameValueList& loaded) {
  const std::string wanted = "a mapping of str to str, or pairs of str";
  const py::object pairs = py::hasattr(value, "items") ? py::object(value.attr("items")())
                                                       : py::reinterpret_borrow<py::object>(value);
  ForEach(name, pairs, wanted, [&](const std::string& element, py::handle pair) {
    const py::tuple both = Elements(element, pair, 2, "a pair of str");
    auto& [key, text] = loaded.emplace_back();
    LoadValue("a name in " + name, both[0], key);
    LoadValue(name + "[" + std::string(py::repr(both[0])) + "]", both[1], text);
  });
}

void LoadValue(const std::string& name, py::handle value, std::vector<Tag>& loaded) {
  NameValueList pairs;
  LoadValue(name, value, pairs);
  for (auto& [key, text] : pairs) loaded.push_back({std::move(key), std::move(text)});
}

void LoadValue(const std::string& name, py::handle value, RangeRequest& loaded) {
  const py::tuple both = Elements(name, value, 2, "a pair (begin, end)");
  const auto begin = Offset(name + "[0]", both[0]);
  const auto end = Offset(name + "[1]", both[1]);
  if (begin && *begin < 0) {
    if (end || *begin == INT64_MIN) RefuseRange(name, value);
    loaded.suffix = static_cast<std::uint64_t>(-*begin);
    return;
  }
  if (end && *end <= begin.value_or(0)) RefuseRange(name, value);
  if (begin) loaded.begin = static_cast<std::uint64_t>(*begin);
  if (end) loaded.end = static_cast<std::uint64_t>(*end);
}

void LoadValue(const std::string& name, py::handle value, ByteRange& loaded) {
  RangeRequest range;
  LoadValue(name, value, range);
  if (!range.end) Invalid(name + " must have an end, not " + std::string(py::repr(value)));
  loaded = {range.begin.value_or(0), *range.end};
}

void LoadValue(const std::string& name, py::handle value, CopyDirective& loaded) {
  loaded = OneOf<CopyDirective, 2>(
      name, value, {{{"COPY", CopyDirective::kCopy}, {"REPLACE", CopyDirective::kReplace}}});
}

void LoadValue(const std::string& name, py::handle value, LockMode& loaded) {
  loaded = OneOf<LockMode, 2>(
      name, value,
      {{{"GOVERNANCE", LockMode::kGovernance}, {"COMPLIANCE", LockMode::kCompliance}}});
}

void LoadValue(const std::string& name, py::handle value, BucketVersioning& loaded) {
  loaded = OneOf<BucketVersioning, 2>(
      name, value,
      {{{"Enabled", BucketVersioning::kEnabled}, {"Suspended", BucketVersioning::kSuspended}}});
}

void LoadValue(const std::string& name, py::handle value, BucketConfigurationKind& loaded) {
  using enum BucketConfigurationKind;
  loaded = OneOf<BucketConfigurationKind, 22>(name, value,
                                              {{{"accelerate", kAccelerate},
                                                {"acl", kAcl},
                                                {"analytics", kAnalytics},
                                                {"cors", kCors},
                                                {"encryption", kEncryption},
                                                {"intelligent_tiering", kIntelligentTiering},
                                                {"inventory", kInventory},
                                                {"lifecycle", kLifecycle},
                                                {"location", kLocation},
                                                {"logging", kLogging},
                                                {"metrics", kMetrics},
                                                {"notification", kNotification},
                                                {"object_lock", kObjectLock},
                                                {"ownership_controls", kOwnershipControls},
                                                {"policy", kPolicy},
                                                {"policy_status", kPolicyStatus},
                                                {"public_access_block", kPublicAccessBlock},
                                                {"replication", kReplication},
                                                {"request_payment", kRequestPayment},
                                                {"tagging", kTagging},
                                                {"versioning", kVersioning},
                                                {"website", kWebsite}}});
}

void LoadValue(const std::string& name, py::handle value, ObjectConfigurationKind& loaded) {
  using enum ObjectConfigurationKind;
  loaded = OneOf<ObjectConfigurationKind, 3>(
      name, value, {{{"acl", kAcl}, {"legal_hold", kLegalHold}, {"retention", kRetention}}});
}

void LoadValue(const std::string& name, py::handle value, std::vector<ObjectToDelete>& loaded) {
  ForEach(name, value, "an iterable of str or ObjectToDelete",
          [&](const std::string& element, py::handle one) {
            ObjectToDelete& object = loaded.emplace_back();
            if (PyUnicode_Check(one.ptr())) return LoadValue(element, one, object.key);
            if (!py::hasattr(one, "if_match_size"))
              argument::Refuse(element, one, "str or ObjectToDelete");
            LoadValue(element + ".key", one.attr("key"), object.key);
            LoadAttribute(element, one, "version_id", object.version_id);
            LoadAttribute(element, one, "if_match", object.if_match);
            LoadAttribute(element, one, "if_match_last_modified", object.if_match_last_modified);
            LoadAttribute(element, one, "if_match_size", object.if_match_size);
          });
}

Arguments::Arguments(std::string operation, const py::dict& values)
    : operation_(std::move(operation)) {
  values_.reserve(values.size());
  for (const auto& [name, value] : values) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    values_.push_back({py::reinterpret_borrow<py::object>(name),
                       {text, static_cast<std::size_t>(size)},
                       py::reinterpret_borrow<py::object>(value)});
  }
}

py::object Arguments::Take(const char* name) {
  const auto found = std::ranges::find(values_, std::string_view(name), &Value::text);
  if (found == values_.end()) return {};
  py::object value = std::move(found->value);
  values_.erase(found);
  return value.is_none() ? py::object() : value;
}

void Arguments::CheckAllTaken() const {
  if (values_.empty()) return;
  throw py::type_error(operation_ + "() has no argument " +
                       std::string(py::repr(values_.front().name)));
}

void LoadOptions(Arguments& arguments, CallOptions& options) {
  if (const py::object value = arguments.Take("timeout")) {
    const double seconds = Number("timeout", value, "a number of seconds");
    if (!(seconds > 0 && seconds < 1e9)) {
      Invalid("timeout must be more than 0 and less than 1e9 seconds, not " +
              std::string(py::repr(value)));
    }
    options.deadline =
        Deadline::After(SystemClock(), std::chrono::duration_cast<std::chrono::nanoseconds>(
                                           std::chrono::duration<double>(seconds)));
  }
  if (const py::object source = arguments.Take("cancel"))
    options.cancel = source.cast<const CancelSource&>().stop.get_token();
  arguments.Load("expected_bucket_owner", options.expected_bucket_owner);
  arguments.Load("requester_pays", options.requester_pays);
  arguments.Load("extra_headers", options.extra_headers);
  arguments.Load("extra_query", options.extra_query);
}

void LoadDocument(Arguments& arguments, std::string& document) {
  const py::object value = arguments.Take("document");
  if (!value) return;
  if (PyUnicode_Check(value.ptr())) return LoadValue("document", value, document);
  if (PyObject_CheckBuffer(value.ptr()) == 0) argument::Refuse("document", value, "str or bytes");
  const BufferView view(value, BufferView::Access::kRead, "document");
  document.assign(reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size());
}

void LoadGrants(Arguments& arguments, std::vector<Grant>& grants) {
  constexpr std::pair<const char*, GrantPermission> kNames[] = {
      {"grant_full_control", GrantPermission::kFullControl},
      {"grant_read", GrantPermission::kRead},
      {"grant_read_acp", GrantPermission::kReadAcp},
      {"grant_write", GrantPermission::kWrite},
      {"grant_write_acp", GrantPermission::kWriteAcp}};
  for (const auto& [name, granted] : kNames) {
    const GrantPermission permission = granted;  // clang 14 captures no structured bindings
    const py::object value = arguments.Take(name);
    if (!value) continue;
    const auto add = [&grants, permission](const std::string& element, py::handle one) {
      LoadValue(element, one, grants.emplace_back(Grant{permission, ""}).grantee);
    };
    if (PyUnicode_Check(value.ptr())) {
      add(name, value);
    } else {
      ForEach(name, value, "str or a list of str", add);
    }
  }
}

void LoadAttributes(Arguments& arguments, ObjectAttributes& attributes) {
  arguments.Load("content_type", attributes.content_type);
  arguments.Load("storage_class", attributes.storage_class);
  arguments.Load("metadata", attributes.user_metadata);
  arguments.Load("cache_control", attributes.cache_control);
  arguments.Load("content_encoding", attributes.content_encoding);
  arguments.Load("content_disposition", attributes.content_disposition);
  arguments.Load("content_language", attributes.content_language);
  arguments.Load("expires", attributes.expires);
  arguments.Load("website_redirect_location", attributes.website_redirect);
  arguments.Load("tagging", attributes.tags);
  arguments.Load("acl", attributes.acl);
  LoadGrants(arguments, attributes.grants);
  attributes.encryption = LoadEncryption(arguments);
  LoadLock(arguments, attributes.lock);
}

void LoadOverrides(Arguments& arguments, Sparse<ResponseOverrides>& overrides) {
  constexpr std::pair<const char*, std::string ResponseOverrides::*> kNames[] = {
      {"response_content_type", &ResponseOverrides::content_type},
      {"response_content_language", &ResponseOverrides::content_language},
      {"response_expires", &ResponseOverrides::expires},
      {"response_cache_control", &ResponseOverrides::cache_control},
      {"response_content_disposition", &ResponseOverrides::content_disposition},
      {"response_content_encoding", &ResponseOverrides::content_encoding}};
  for (const auto& [name, member] : kNames) {
    if (const py::object value = arguments.Take(name))
      LoadValue(name, value, overrides.Edit().*member);
  }
}

void LoadParts(Arguments& arguments, std::vector<CompletedPart>& parts,
               std::uint64_t& object_size) {
  std::optional<std::uint64_t> size;
  arguments.Load("object_size", size);
  std::string unsized;
  const py::object list = arguments.Take("parts");
  if (!list) throw py::type_error("parts must be an iterable of CompletedPart, not None");
  ForEach("parts", list, "an iterable of CompletedPart",
          [&](const std::string& element, py::handle one) {
            if (!py::hasattr(one, "part_number") || !py::hasattr(one, "checksum_value"))
              argument::Refuse(element, one, "CompletedPart");
            CompletedPart& part = parts.emplace_back();
            std::optional<std::uint64_t> part_size;
            LoadValue(element + ".part_number", one.attr("part_number"), part.part_number);
            LoadValue(element + ".etag", one.attr("etag"), part.etag);
            LoadAttribute(element, one, "checksum_algorithm", part.checksum_algorithm);
            LoadAttribute(element, one, "checksum_value", part.checksum_value);
            LoadAttribute(element, one, "size", part_size);
            if (part.checksum_algorithm == "crc64nvme") {
              part.checksum_crc64nvme = std::exchange(part.checksum_value, {});
              part.checksum_algorithm.clear();
            }
            if (!part_size) unsized = element;
            object_size += part_size.value_or(0);
          });
  if (size) {
    object_size = *size;
  } else if (!unsized.empty()) {
    Invalid(unsized +
            " has no size, as it was copied without src_range; give object_size, the "
            "size of the whole object in bytes");
  }
}

}  // namespace penstock::python
