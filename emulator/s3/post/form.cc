#include "emulator/s3/post/form.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ascii.h"
#include "emulator/s3/protocol/errors.h"
#include "emulator/s3/protocol/text.h"

namespace penstock::emulator::s3 {
namespace {

constexpr std::size_t kBufferBytes = 64u << 10;
constexpr std::size_t kMaxBoundaryBytes = 70;  // RFC 2046.
constexpr std::size_t kMaxLineBytes = 8u << 10;
constexpr std::size_t kMaxHeaderLines = 32;
constexpr std::string_view kLineEnd = "\r\n";

Error Malformed() { return MakeError("MalformedPOSTRequest"); }

Error PreludeTooLong() {
  return MakeError("MaxPostPreDataLengthExceeded",
                   {{"MaxPostPreDataLengthBytes", std::to_string(kMaxFormPreludeBytes)}});
}

Error WrongNumberOfFiles(std::size_t count) {
  return InvalidArgument("POST requires exactly one file upload per request.", "file",
                         std::to_string(count));
}

// Removes one "; name=value" from the start of `rest`. The value is a token or a quoted string.
// Only \" and \\ are escapes, because some browsers send Windows paths without escapes. Returns
// nullopt if there is no parameter.
std::optional<std::pair<std::string, std::string>> TakeParameter(std::string_view& rest) {
  rest = TrimBlanks(rest);
  if (!rest.starts_with(';')) return std::nullopt;
  rest = TrimBlanks(rest.substr(1));
  const auto equals = rest.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::pair<std::string, std::string> parameter{AsciiLower(TrimBlanks(rest.substr(0, equals))), {}};
  rest = TrimBlanks(rest.substr(equals + 1));
  if (!rest.starts_with('"')) {
    const auto end = std::min(rest.find(';'), rest.size());
    parameter.second = TrimBlanks(rest.substr(0, end));
    rest.remove_prefix(end);
    return parameter;
  }
  for (std::size_t at = 1; at < rest.size(); ++at) {
    const bool escape =
        rest[at] == '\\' && at + 1 < rest.size() && (rest[at + 1] == '"' || rest[at + 1] == '\\');
    if (escape) {
      parameter.second += rest[++at];
    } else if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return parameter;
    } else {
      parameter.second += rest[at];
    }
  }
  return std::nullopt;  // The quotation mark is not closed.
}

// Returns the value of a parameter after the type, or nullopt.
std::optional<std::string> ParameterOf(std::string_view header, std::string_view name) {
  std::string_view rest = header.substr(std::min(header.find(';'), header.size()));
  while (auto parameter = TakeParameter(rest)) {
    if (parameter->first == name) return std::move(parameter->second);
  }
  return std::nullopt;
}

bool HasType(std::string_view header, std::string_view type) {
  return EqualsIgnoreCase(TrimBlanks(header.substr(0, header.find(';'))), type);
}

std::string WithoutDirectories(std::string_view name) {
  const auto last = name.find_last_of("/\\");
  return std::string(last == std::string_view::npos ? name : name.substr(last + 1));
}

Result<std::string> BoundaryOf(const RequestHead& head) {
  const std::string_view type = head.Find("content-type").value_or("");
  if (!HasType(type, "multipart/form-data")) {
    return PreconditionFailed("Bucket POST must be of the enclosure-type multipart/form-data");
  }
  auto boundary = ParameterOf(type, "boundary");
  const bool usable = boundary && !boundary->empty() && boundary->size() <= kMaxBoundaryBytes &&
                      std::all_of(boundary->begin(), boundary->end(),
                                  [](char c) { return c >= ' ' && c <= '~'; }) &&
                      !boundary->ends_with(' ');
  if (!usable) return Malformed();
  return std::move(*boundary);
}

}  // namespace

bool FormReader::Part::is_file() const { return EqualsIgnoreCase(name, "file"); }

Result<std::unique_ptr<FormReader>> FormReader::Open(const RequestHead& head, BodyReader& body) {
  PENSTOCK_ASSIGN(const std::string boundary, BoundaryOf(head));
  std::unique_ptr<FormReader> reader(new FormReader(body, boundary));
  PENSTOCK_TRY(reader->ReadFields());
  if (reader->form_.Find("key").value_or("").empty()) {
    return InvalidArgument(
        "Bucket POST must contain a field named 'key'.  If it is specified, please check the order "
        "of the fields.",
        "key", "");
  }
  return reader;
}

// Starts with a line end in the buffer: the first delimiter has one only after a preamble, all
// others always do.
FormReader::FormReader(BodyReader& body, std::string_view boundary)
    : BodyWrapper(body),
      delimiter_(std::string(kLineEnd) + "--" + std::string(boundary)),
      buffer_(kBufferBytes, '\0'),
      end_(kLineEnd.copy(buffer_.data(), kLineEnd.size())),
      prelude_left_(kMaxFormPreludeBytes + kLineEnd.size()) {}

Result<std::size_t> FormReader::Read(MutableByteView buffer) {
  if (finished_ || buffer.empty()) return std::size_t{0};
  PENSTOCK_ASSIGN(const std::size_t content, ContentAhead());
  if (content == 0) {
    PENSTOCK_TRY(Finish());
    finished_ = true;
    return std::size_t{0};
  }
  const std::size_t count = std::min(content, buffer.size());
  std::memcpy(buffer.data(), buffered().data(), count);
  Consume(count);
  return count;
}

Result<void> FormReader::ReadFields() {
  PENSTOCK_TRY(SkipContent());  // A preamble.
  for (;;) {
    PENSTOCK_ASSIGN(std::optional<Part> part, NextPart());
    if (!part) return WrongNumberOfFiles(0);
    if (part->is_file()) {
      if (part->file_name) form_.file_name = WithoutDirectories(*part->file_name);
      prelude_left_.reset();
      return Ok();
    }
    PENSTOCK_ASSIGN(std::string value, ReadValue());
    if (!part->name.empty()) PENSTOCK_TRY(AddField(std::move(part->name), std::move(value)));
  }
}

Result<void> FormReader::AddField(std::string name, std::string value) {
  const auto same =
      std::find_if(form_.fields.begin(), form_.fields.end(),
                   [&](const FormField& field) { return EqualsIgnoreCase(field.name, name); });
  if (same == form_.fields.end()) {
    form_.fields.push_back({std::move(name), std::move(value)});
  } else {
    same->value.append(",").append(value);
  }
  return Ok();
}

Result<std::optional<FormReader::Part>> FormReader::NextPart() {
  SkipDelimiter();
  PENSTOCK_ASSIGN(const std::string rest, ReadLine());
  if (rest.starts_with("--")) return std::optional<Part>();
  if (!TrimBlanks(rest).empty()) return Malformed();
  Part part;
  for (std::size_t lines = 0; lines < kMaxHeaderLines; ++lines) {
    PENSTOCK_ASSIGN(const std::string line, ReadLine());
    if (line.empty()) return std::optional<Part>(std::move(part));
    const auto colon = line.find(':');
    if (colon == std::string::npos) return Malformed();
    const std::string_view value = TrimBlanks(std::string_view(line).substr(colon + 1));
    if (!EqualsIgnoreCase(TrimBlanks(std::string_view(line).substr(0, colon)),
                          "content-disposition"))
      continue;
    if (!HasType(value, "form-data")) continue;
    part.name = ParameterOf(value, "name").value_or("");
    part.file_name = ParameterOf(value, "filename");
  }
  return Malformed();
}

// Reads a line and consumes its CR LF. At the closing delimiter, the line may end with the body.
Result<std::string> FormReader::ReadLine() {
  for (;;) {
    const auto end = buffered().find(kLineEnd);
    if (end != std::string_view::npos) {
      PENSTOCK_TRY(CheckLine(end + kLineEnd.size()));
      std::string line(buffered().substr(0, end));
      if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
        return Malformed();
      Consume(end + kLineEnd.size());
      return line;
    }
    PENSTOCK_TRY(CheckLine(buffered().size()));
    PENSTOCK_ASSIGN(const bool more, Fill());
    if (more) continue;
    std::string line(buffered());
    if (!line.starts_with("--")) return Malformed();
    Consume(line.size());
    return line;
  }
}

// The limit that is reached first decides, so that the error does not depend on how the line is
// split into reads.
Result<void> FormReader::CheckLine(std::size_t bytes) const {
  if (prelude_left_ && *prelude_left_ <= kMaxLineBytes)
    return bytes > *prelude_left_ ? PreludeTooLong() : Result<void>(Ok());
  return bytes > kMaxLineBytes ? Malformed() : Result<void>(Ok());
}

Result<std::size_t> FormReader::ContentAhead() {
  while (known_content_ == 0) {
    const std::string_view bytes = buffered();
    const auto at = bytes.find(delimiter_);
    if (at == 0) return std::size_t{0};
    // Keeps bytes that may be the start of a delimiter.
    known_content_ = at != std::string_view::npos       ? at
                     : bytes.size() < delimiter_.size() ? 0
                                                        : bytes.size() - (delimiter_.size() - 1);
    if (known_content_ > 0) break;
    PENSTOCK_ASSIGN(const bool more, Fill());
    if (!more) return Malformed();
  }
  return known_content_;
}

void FormReader::SkipDelimiter() { Consume(delimiter_.size()); }

Result<std::string> FormReader::ReadValue() {
  std::string value;
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, ContentAhead());
    if (count == 0) return value;
    if (prelude_left_ && count > *prelude_left_) return PreludeTooLong();
    value.append(buffered().substr(0, count));
    Consume(count);
  }
}

Result<void> FormReader::SkipContent() {
  for (;;) {
    PENSTOCK_ASSIGN(const std::size_t count, ContentAhead());
    if (count == 0) return Ok();
    if (prelude_left_ && count > *prelude_left_) return PreludeTooLong();
    Consume(count);
  }
}

Result<void> FormReader::Finish() {
  for (;;) {
    PENSTOCK_ASSIGN(const std::optional<Part> part, NextPart());
    if (!part) break;
    if (part->is_file()) return WrongNumberOfFiles(2);
    PENSTOCK_TRY(SkipContent());
  }
  // Reads the epilogue to its end, so that checksums of the whole body are verified.
  for (;;) {
    Consume(buffered().size());
    PENSTOCK_ASSIGN(const bool more, Fill());
    if (!more) return Ok();
  }
}

Result<bool> FormReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  PENSTOCK_ASSIGN(
      const std::size_t count,
      inner().Read({reinterpret_cast<std::byte*>(buffer_.data()) + end_, buffer_.size() - end_}));
  end_ += count;
  return count > 0;
}

void FormReader::Consume(std::size_t count) {
  begin_ += count;
  known_content_ -= std::min(known_content_, count);
  if (prelude_left_) *prelude_left_ -= std::min(*prelude_left_, count);
}

}  // namespace penstock::emulator::s3
