// multipart/form-data as browsers post it (RFC 7578, RFC 2046 §5.1): the fields before the file as
// values, the file's content as a stream.
//
// Bounded: what comes before the file's content has S3's limit of 20 KiB, and nothing of the
// content is kept. Knows nothing of S3's fields but `file` and `key`; who may post and what is done
// with it: emulator/auth, post_policy.h, post_object.cc.
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
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::size_t kMaxFormPreludeBytes = 20'480;

struct FormField {
  std::string name;  // as sent first
  // raw bytes; several fields of one name (in any case) joined by commas, as S3 does
  std::string value;
};

struct Form {
  std::vector<FormField> fields;  // those before the file, by first arrival
  // of the file, without directories; nullopt: its part names none
  std::optional<std::string> file_name;

  // The value of the field of that name, in any case of letters.
  std::optional<std::string_view> Find(std::string_view name) const;
};

// Once open, a BodyReader of the file's content: it ends where the file does, after the rest of the
// form was read and found well-formed, whose fields are ignored. Its Length is what the request
// declares for the whole form.
class FormReader final : public BodyReader {
 public:
  // Reads the fields. PreconditionFailed unless the request is multipart/form-data;
  // MalformedPOSTRequest; MaxPostPreDataLengthExceeded; InvalidArgument without a file or a key.
  // `body` outlives the reader.
  static Result<std::unique_ptr<FormReader>> Open(const RequestHead& head, BodyReader& body);

  const Form& form() const { return form_; }

  Result<std::size_t> Read(MutableByteView buffer) override;
  std::optional<std::uint64_t> Length() const override { return body_.Length(); }
  const std::vector<std::pair<std::string, std::string>>& Trailers() const override {
    return body_.Trailers();
  }

 private:
  struct Part {
    std::string name;  // empty: no form-data part, or one without a name
    std::optional<std::string> file_name;
    bool is_file() const;
  };

  FormReader(BodyReader& body, std::string_view boundary);

  Result<void> ReadFields();
  Result<void> AddField(std::string name, std::string value);
  // Behind a delimiter: the next part's header, or nullopt at the closing delimiter.
  Result<std::optional<Part>> NextPart();
  Result<std::string> ReadLine();
  // of a line, its end included, as far as it is here
  Result<void> CheckLine(std::size_t bytes) const;
  // How many bytes at the front of the buffer are content for certain; 0 at a delimiter.
  Result<std::size_t> ContentAhead();
  void SkipDelimiter();
  Result<std::string> ReadValue();
  Result<void> SkipContent();
  // What follows the file's content.
  Result<void> Finish();

  // More bytes into the buffer; false at the body's end.
  Result<bool> Fill();
  std::string_view ahead() const { return std::string_view(buffer_).substr(begin_, end_ - begin_); }
  void Consume(std::size_t count);

  BodyReader& body_;
  const std::string delimiter_;  // CR LF "--" boundary
  std::string buffer_;           // of fixed size; [begin_, end_) is not consumed yet
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t known_content_ = 0;            // bytes ahead that ContentAhead has looked at
  std::optional<std::size_t> prelude_left_;  // set while the limit holds
  bool finished_ = false;
  Form form_;
};

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_POST_FORM_H_
