#include "client/checkpoint/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "client/checkpoint/dtypes.h"

namespace penstock::checkpoint {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

Error Invalid(std::string what) {
  return Error::Make(ErrorKind::kDataLoss, "invalid safetensors header: " + std::move(what));
}

// Receives the events of nlohmann's parser, which keeps no document and does not recurse. Events
// that a subclass does not expect end the parse with an error.
class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Unexpected(); }
  bool boolean(bool) override { return Unexpected(); }
  bool number_integer(number_integer_t) override { return Unexpected(); }
  bool number_unsigned(number_unsigned_t) override { return Unexpected(); }
  bool number_float(number_float_t, const string_t&) override { return Unexpected(); }
  bool string(string_t&) override { return Unexpected(); }
  bool binary(binary_t&) override { return Unexpected(); }
  bool start_object(std::size_t) override { return Unexpected(); }
  bool end_object() override { return Unexpected(); }
  bool start_array(std::size_t) override { return Unexpected(); }
  bool end_array() override { return Unexpected(); }
  bool key(string_t&) override { return Unexpected(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    return Fail("it is not valid JSON at byte " + std::to_string(position));
  }

  Result<void> Parse(std::string_view json) {
    if (nlohmann::json::sax_parse(json.begin(), json.end(), this) && !error_) return Ok();
    if (!error_) Fail("it is not valid JSON");
    return std::move(*error_);
  }

 protected:
  virtual bool Unexpected() { return Fail("it has an unexpected value or member"); }
  bool Fail(std::string what) {
    if (!error_) error_ = Invalid(std::move(what));
    return false;
  }

 private:
  std::optional<Error> error_;
};

class HeaderEvents : public Events {
 public:
  SafetensorsHeader header;

 private:
  enum class Place { kOutside, kTop, kMetadataMap, kTensor, kNumbers, kEnd };

  bool null() override { return IsIgnored() || IsNullMetadata() || Unexpected(); }
  bool boolean(bool) override { return IsIgnored() || Unexpected(); }
  bool number_integer(number_integer_t) override { return IsIgnored() || Unexpected(); }
  bool number_float(number_float_t, const string_t&) override {
    return IsIgnored() || Unexpected();
  }
  bool start_object(std::size_t) override {
    if (IsIgnored()) return ++ignored_depth_ > 0;
    if (place_ == Place::kOutside) return Enter(Place::kTop);
    if (place_ != Place::kTop) return Unexpected();
    if (name_ == kMetadata) return Enter(Place::kMetadataMap);
    header.tensors.push_back({name_});
    members_.clear();
    unknown_ = false;
    return Enter(Place::kTensor);
  }
  bool end_object() override {
    if (ignored_depth_ > 0) return --ignored_depth_ >= 0;
    if (place_ == Place::kTop) return Enter(Place::kEnd);
    if (place_ == Place::kMetadataMap) return Enter(Place::kTop);
    if (place_ != Place::kTensor) return Unexpected();
    if (members_.size() != 3) return Fail("'" + name_ + "' lacks dtype, shape or data_offsets");
    return Enter(Place::kTop);
  }
  bool key(string_t& key) override {
    if (ignored_depth_ > 0) return true;
    if (place_ == Place::kTop) {
      name_ = key;
      return names_.insert(key).second || Fail("the name '" + key + "' occurs twice");
    }
    member_ = key;
    if (place_ == Place::kMetadataMap)
      return !header.metadata.contains(key) || Fail("the metadata has '" + key + "' twice");
    unknown_ = key != "dtype" && key != "shape" && key != "data_offsets";
    return unknown_ || members_.insert(key).second ||
           Fail("'" + name_ + "' has the member '" + key + "' twice");
  }
  bool string(string_t& text) override {
    if (IsIgnored()) return true;
    if (place_ == Place::kMetadataMap) {
      header.metadata[member_] = text;
      return true;
    }
    if (place_ != Place::kTensor || member_ != "dtype") return Unexpected();
    header.tensors.back().dtype = text;
    return true;
  }
  bool start_array(std::size_t) override {
    if (IsIgnored()) return ++ignored_depth_ > 0;
    if (place_ != Place::kTensor || member_ == "dtype") return Unexpected();
    numbers_.clear();
    return Enter(Place::kNumbers);
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (IsIgnored()) return true;
    if (place_ != Place::kNumbers || number >= std::uint64_t{1} << 62) return Unexpected();
    numbers_.push_back(static_cast<std::int64_t>(number));
    return true;
  }
  bool end_array() override {
    if (ignored_depth_ > 0) return --ignored_depth_ >= 0;
    SafetensorsTensor& tensor = header.tensors.back();
    if (member_ == "shape") {
      tensor.sizes = numbers_;
    } else {
      if (numbers_.size() != 2 || numbers_[0] > numbers_[1])
        return Fail("the data_offsets of '" + name_ + "' are not two ascending numbers");
      tensor.begin = static_cast<std::uint64_t>(numbers_[0]);
      tensor.bytes = static_cast<std::uint64_t>(numbers_[1] - numbers_[0]);
    }
    return Enter(Place::kTensor);
  }
  // Ignores members of a tensor that the format does not define, as safetensors does.
  bool IsIgnored() const { return ignored_depth_ > 0 || (place_ == Place::kTensor && unknown_); }
  bool IsNullMetadata() const { return place_ == Place::kTop && name_ == kMetadata; }
  bool Unexpected() override {
    return Fail(name_.empty() ? "it is not an object of objects"
                              : "'" + name_ + "' has an unexpected value");
  }
  bool Enter(Place place) {
    place_ = place;
    return true;
  }

  Place place_ = Place::kOutside;
  bool unknown_ = false;   // whether the format does not define member_
  int ignored_depth_ = 0;  // arrays and objects in an unknown member
  std::string name_;
  std::string member_;
  std::set<std::string> names_;
  std::set<std::string> members_;
  std::vector<std::int64_t> numbers_;
};

// Replaces the format's dtype by torch's, and compares the sizes.
Result<void> ResolveDtype(SafetensorsTensor& tensor) {
  const DtypeInfo* const dtype = FindDtypeOfSafetensors(tensor.dtype);
  if (dtype == nullptr) {  // an error only if the tensor is loaded
    tensor.dtype.insert(0, "safetensors:");
    return Ok();
  }
  tensor.dtype = dtype->name;
  const auto bytes = DenseBytes(tensor.sizes, dtype->item_bytes);
  if (bytes == tensor.bytes) return Ok();
  return Invalid("'" + tensor.name + "' has " + std::to_string(tensor.bytes) +
                 " bytes; its dtype and shape require " +
                 (bytes ? std::to_string(*bytes) : "more than 2^62"));
}

// Receives {"weight_map": {name: file}} and ignores other members.
class IndexEvents : public Events {
 public:
  std::vector<std::pair<std::string, std::string>> files;
  bool found = false;

 private:
  bool null() override { return Ignored(); }
  bool boolean(bool) override { return Ignored(); }
  bool number_integer(number_integer_t) override { return Ignored(); }
  bool number_unsigned(number_unsigned_t) override { return Ignored(); }
  bool number_float(number_float_t, const string_t&) override { return Ignored(); }
  bool start_array(std::size_t) override { return ++depth_ > 1 && Ignored(); }
  bool end_array() override { return Leave(); }
  bool start_object(std::size_t) override {
    if (depth_ == 1 && key_ == "weight_map") {
      if (std::exchange(found, true)) return Fail("the index has two weight maps");
      in_map_ = true;
    }
    ++depth_;
    return depth_ <= 2 || Ignored();
  }
  bool end_object() override {
    if (depth_ == 2) in_map_ = false;
    return Leave();
  }
  bool key(string_t& key) override {
    key_ = key;
    return true;
  }
  bool string(string_t& text) override {
    if (!in_map_) return Ignored();
    if (text.empty()) return Fail("the index has no file for '" + key_ + "'");
    if (!names_.insert(key_).second) return Fail("the index has the name '" + key_ + "' twice");
    files.emplace_back(key_, text);
    return true;
  }
  // Accepts a value outside of the map. In the map, only strings are allowed.
  bool Ignored() { return (depth_ > 0 && !in_map_) || Unexpected(); }
  bool Leave() {
    --depth_;
    return true;
  }

  std::uint64_t depth_ = 0;
  bool in_map_ = false;
  std::string key_;
  std::set<std::string> names_;
};

Result<void> CheckNames(const SafetensorsHeader& header) {
  std::set<std::string_view> names{kMetadata};
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (!IsValidUtf8(tensor.name) || !names.insert(tensor.name).second) {
      return Error::Make(
          ErrorKind::kInvalidArgument,
          "the name '" + tensor.name +
              "' cannot be saved in a safetensors file: names are UTF-8, occur once, "
              "and are not \"__metadata__\"");
    }
  }
  for (const auto& [name, text] : header.metadata) {
    if (!IsValidUtf8(name) || !IsValidUtf8(text))
      return Error::Make(ErrorKind::kInvalidArgument, "the metadata is not UTF-8");
  }
  return Ok();
}

void AppendNumbers(std::string& out, std::span<const std::int64_t> numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
  out += ']';
}

}  // namespace

Result<std::uint64_t> SafetensorsHeaderBytes(std::string_view first, std::uint64_t file_bytes) {
  if (first.size() < kSafetensorsLengthBytes)
    return Invalid("the file has only " + std::to_string(first.size()) + " bytes");
  std::uint64_t length = 0;
  for (std::size_t i = kSafetensorsLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(first[i]);
  if (length > kMaxSafetensorsHeaderBytes) {
    return Invalid("its length is " + std::to_string(length) + " bytes, the limit is " +
                   std::to_string(kMaxSafetensorsHeaderBytes));
  }
  if (length > file_bytes - std::min(file_bytes, kSafetensorsLengthBytes)) {
    return Invalid("its length is " + std::to_string(length) + " bytes, but the file has only " +
                   std::to_string(file_bytes));
  }
  return length;
}

Result<SafetensorsHeader> ReadSafetensorsHeader(std::string_view json, std::uint64_t data_bytes) {
  HeaderEvents events;
  PENSTOCK_TRY(events.Parse(json));
  SafetensorsHeader& header = events.header;
  for (SafetensorsTensor& tensor : header.tensors) PENSTOCK_TRY(ResolveDtype(tensor));
  std::stable_sort(header.tensors.begin(), header.tensors.end(),
                   [](const SafetensorsTensor& one, const SafetensorsTensor& other) {
                     return std::pair(one.begin, one.bytes) < std::pair(other.begin, other.bytes);
                   });
  std::uint64_t reached = 0;
  for (const SafetensorsTensor& tensor : header.tensors) {
    if (tensor.begin != reached) {
      return Invalid("'" + tensor.name + "' begins at byte " + std::to_string(tensor.begin) +
                     ", but the tensors before it end at " + std::to_string(reached));
    }
    reached += tensor.bytes;
  }
  if (reached == data_bytes) return std::move(header);
  return Invalid("its tensors have " + std::to_string(reached) + " bytes, but " +
                 std::to_string(data_bytes) + " bytes follow the header");
}

Result<std::string> WriteSafetensorsHeader(SafetensorsHeader& header) {
  PENSTOCK_TRY(CheckNames(header));
  for (SafetensorsTensor& tensor : header.tensors) {
    const DtypeInfo* const dtype = FindDtype(tensor.dtype);
    const auto bytes = dtype ? DenseBytes(tensor.sizes, dtype->item_bytes) : std::nullopt;
    if (!bytes || dtype->safetensors.empty()) {
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the tensor '" + tensor.name + "' of dtype " + tensor.dtype +
                             " cannot be saved in a safetensors file; use SaveStateDict");
    }
    tensor.bytes = *bytes;
  }
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const SafetensorsTensor& one, const SafetensorsTensor& other) {
              const std::uint64_t size = FindDtype(one.dtype)->item_bytes;
              const std::uint64_t other_size = FindDtype(other.dtype)->item_bytes;
              return size != other_size ? size > other_size : one.name < other.name;
            });
  std::string json = "{";
  if (!header.metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [name, text] : header.metadata) {
      if (json.back() != '{') json += ',';
      internal::AppendJsonString(json, name);
      json += ':';
      internal::AppendJsonString(json, text);
    }
    json += '}';
  }
  std::uint64_t at = 0;
  for (SafetensorsTensor& tensor : header.tensors) {
    if (json.size() > 1) json += ',';
    internal::AppendJsonString(json, tensor.name);
    json += ":{\"dtype\":\"" + std::string(FindDtype(tensor.dtype)->safetensors) + "\",\"shape\":";
    AppendNumbers(json, tensor.sizes);
    tensor.begin = at;
    at += tensor.bytes;
    json += ",\"data_offsets\":[" + std::to_string(tensor.begin) + "," + std::to_string(at) + "]}";
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > kMaxSafetensorsHeaderBytes)
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the header of the safetensors file has " + std::to_string(json.size()) +
                           " bytes, the limit is " + std::to_string(kMaxSafetensorsHeaderBytes));
  std::string out;
  for (std::uint64_t i = 0; i < kSafetensorsLengthBytes; ++i)
    out += static_cast<char>(json.size() >> 8 * i);
  return out += json;
}

Result<std::vector<std::pair<std::string, std::string>>> ReadSafetensorsIndex(
    std::string_view json) {
  IndexEvents events;
  PENSTOCK_TRY(events.Parse(json));
  if (!events.found) return Invalid("the index has no weight_map");
  return std::move(events.files);
}

}  // namespace penstock::checkpoint
