// The headers of a request and its response as texts for a journal entry, without secrets.
#ifndef PENSTOCK_EMULATOR_JOURNAL_HEADER_CAPTURE_H_
#define PENSTOCK_EMULATOR_JOURNAL_HEADER_CAPTURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/s3/core/exchange.h"

namespace penstock::emulator::journal {

// Lines "Name: value\n" in the order in which they were sent.
struct CapturedHeaders {
  std::string request;
  std::string response;
  std::uint32_t left_out = 0;  // headers of both that did not fit
};

// "***" replaces signatures, session tokens, customer keys, cookies and other secrets. Of an
// Authorization header, the access key id, the scope and the signed headers remain. A header that
// does not fit into `most_bytes` of both texts is left out; a quarter is kept for the response.
// `sent_head`: message::Exchange::sent_head.
CapturedHeaders CaptureHeaders(const std::vector<s3::HeaderView>& request,
                               std::string_view sent_head, std::size_t most_bytes);

}  // namespace penstock::emulator::journal

#endif  // PENSTOCK_EMULATOR_JOURNAL_HEADER_CAPTURE_H_
