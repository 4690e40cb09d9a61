// Properties of the readers of state dicts, safetensors headers and distributed checkpoints, for
// any input: what was read can be written, and is then read as the same.
#ifndef PENSTOCK_CLIENT_FUZZ_CHECKPOINT_PROPERTIES_H_
#define PENSTOCK_CLIENT_FUZZ_CHECKPOINT_PROPERTIES_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>

#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/pickle/dcp_metadata.h"
#include "client/checkpoint/pickle/pickle.h"
#include "client/checkpoint/pickle/state_pickle.h"
#include "client/checkpoint/safetensors.h"
#include "penstock/base/check.h"

namespace penstock::checkpoint {

// Items refer to values of the document, and text is within the pickle.
inline void CheckDocument(std::string_view pickle) {
  const auto document = PickleDocument::Read(pickle);
  if (!document.ok()) return;
  PENSTOCK_CHECK(document->root() < document->size());
  for (PickleId id = 0; id < document->size(); ++id) {
    const PickleValue& value = document->at(id);
    for (const PickleId item : document->items(id)) PENSTOCK_CHECK(item < document->size());
    if (value.kind != PickleKind::kText && value.kind != PickleKind::kBytes) continue;
    PENSTOCK_CHECK(value.text.data() >= pickle.data() &&
                   value.text.data() + value.text.size() <= pickle.data() + pickle.size());
  }
}

inline void CheckStatePickle(std::string_view pickle) {
  CheckDocument(pickle);
  const auto state = ReadStatePickle(pickle);
  if (!state.ok()) return;
  for (const auto& [name, value] : state->values) {
    const auto* const real = std::get_if<double>(&value);
    if (real != nullptr && std::isnan(*real)) return;  // not equal to itself
  }
  const auto written = WriteStatePickle(*state);
  if (!written.ok()) return;  // names or texts that are not UTF-8, or an unknown dtype
  const auto again = ReadStatePickle(*written);
  PENSTOCK_CHECK(again.ok() && *again == *state);
}

// Input: two bytes with the size of the tensors' data, then the JSON text.
inline void CheckSafetensors(std::string_view input) {
  if (input.size() < 2) return;
  const auto data_bytes = static_cast<std::uint64_t>(static_cast<unsigned char>(input[0])) |
                          static_cast<std::uint64_t>(static_cast<unsigned char>(input[1])) << 8;
  input.remove_prefix(2);
  (void)ReadSafetensorsIndex(input).ok();
  auto header = ReadSafetensorsHeader(input, data_bytes);
  if (!header.ok()) return;
  for (const SafetensorsTensor& tensor : header->tensors) {
    PENSTOCK_CHECK(tensor.begin <= data_bytes && tensor.bytes <= data_bytes - tensor.begin);
  }
  for (const SafetensorsTensor& tensor : header->tensors) {
    if (FindDtype(tensor.dtype) == nullptr) return;  // not written
  }
  const auto written = WriteSafetensorsHeader(*header);
  PENSTOCK_CHECK(written.ok());
  const auto length = SafetensorsHeaderBytes(*written, written->size() + data_bytes);
  PENSTOCK_CHECK(length.ok() && *length + kSafetensorsLengthBytes == written->size());
  const auto again =
      ReadSafetensorsHeader(std::string_view(*written).substr(kSafetensorsLengthBytes), data_bytes);
  PENSTOCK_CHECK(again.ok() && again->metadata == header->metadata);
  PENSTOCK_CHECK(again->tensors.size() == header->tensors.size());
  // Tensors without bytes may change their order.
  for (const SafetensorsTensor& tensor : header->tensors) {
    PENSTOCK_CHECK(std::find(again->tensors.begin(), again->tensors.end(), tensor) !=
                   again->tensors.end());
  }
}

inline void CheckDcpMetadata(std::string_view pickle) {
  const auto metadata = ReadDcpMetadata(pickle);
  if (!metadata.ok()) return;
  for (const DcpTensor& tensor : metadata->tensors) {
    if (FindDtype(tensor.dtype) == nullptr) return;  // any text
    for (const DcpChunk& chunk : tensor.chunks) {
      PENSTOCK_CHECK(chunk.box.IsWithin(tensor.sizes));
      if (!chunk.place.transforms.empty()) return;  // not written
    }
  }
  for (const DcpBytes& bytes : metadata->bytes) {
    if (!bytes.place.transforms.empty()) return;
  }
  const auto again = ReadDcpMetadata(WriteDcpMetadata(*metadata));
  PENSTOCK_CHECK(again.ok() && *again == *metadata);
}

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_FUZZ_CHECKPOINT_PROPERTIES_H_
