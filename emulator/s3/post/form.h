// Parses multipart/form-data as browsers post it (RFC 7578; RFC 2046, section 5.1): the fields
// before the file as values, the content of the file as a stream.
//
// Memory is bounded: S3 limits everything before the content to 20 KiB, and the content is not
// stored. Of S3's fields, the parser knows only `file` and `key`. See emulator/auth for signatures,
// post_policy.h for policies and post_object.cc for the operation.
#ifndef PENSTOCK_EMULATOR_S3_POST_FORM_H_
#define PENSTOCK_EMULATOR_S3_POST_FORM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/post_form.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::size_t kMaxFormPreludeBytes = 20'480;

// Reads the file's content. Read returns 0 after the rest of the form was read and found
// well-formed; fields after the file are ignored. Length is the declared length of the whole form.
class FormReader final : public BodyWrapper {
 public:
  // Reads the fields. `body` must outlive the reader. Errors:
  // - PreconditionFailed if the request is not multipart/form-data.
  // - MalformedPOSTRequest if the form is malformed.
  // - MaxPostPreDataLengthExceeded if the part before the file is too long.
  // - InvalidArgument without a file or a key.
  static Result<std::unique_ptr<FormReader>> Open(const RequestHead& head, BodyReader& body);

  const Form& form() const { return form_; }

  Result<std::size_t> Read(MutableByteView buffer) override;

 private:
  struct Part {
    std::string name;  // Empty: not a form-data part, or without a name.
    std::optional<std::string> file_name;
    bool is_file() const;
  };

  FormReader(BodyReader& body, std::string_view boundary);

  Result<void> ReadFields();
  Result<void> AddField(std::string name, std::string value);
  // After a delimiter: reads the next part's headers. Returns nullopt at the closing delimiter.
  Result<std::optional<Part>> NextPart();
  Result<std::string> ReadLine();
  // Checks the length of a line, as far as it is buffered, including its end.
  Result<void> CheckLine(std::size_t bytes) const;
  // Returns how many buffered bytes are certainly content; 0 at a delimiter.
  Result<std::size_t> ContentAhead();
  void SkipDelimiter();
  Result<std::string> ReadValue();
  Result<void> SkipContent();
  // Reads the part of the form after the content of the file.
  Result<void> Finish();

  // Reads more bytes into the buffer. Returns false at the end of the body.
  Result<bool> Fill();
  std::string_view buffered() const {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  void Consume(std::size_t count);

  const std::string delimiter_;  // CR LF "--" boundary.
  std::string buffer_;           // Of fixed size. [begin_, end_) is not consumed yet.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t known_content_ = 0;            // Buffered bytes that are known to be content.
  std::optional<std::size_t> prelude_left_;  // Set while the limit applies.
  bool finished_ = false;
  Form form_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_POST_FORM_H_
