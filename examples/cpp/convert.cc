// Copies a checkpoint into another format, tensor by tensor.
//
//   convert --from dcp:s3://bucket/step-100 --to safetensors:s3://bucket/model.safetensors
//
// Formats: "torch" (a file of torch.save), "safetensors" (a file, or a prefix with a slash at its
// end) and "dcp" (the prefix of a distributed checkpoint). What a safetensors file cannot contain,
// and its "__metadata__", is not copied; a warning says so.
#include <cstdio>
#include <string>

#include "command_line.h"
#include "penstock/torch_checkpoint.h"

namespace {

using penstock::torch::StateDict;

struct FormatAndUri {
  std::string format;
  std::string uri;
};

FormatAndUri Split(const examples::CommandLine& line, const std::string& name) {
  const std::string text = line.Required(name);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) line.Fail("--" + name + " is FORMAT:s3://bucket/key");
  return {text.substr(0, colon), text.substr(colon + 1)};
}

penstock::Result<StateDict> Load(const std::shared_ptr<penstock::Client>& client,
                                 const FormatAndUri& from,
                                 const penstock::torch::LoadTensorsOptions& options) {
  if (from.format == "torch") return penstock::torch::LoadStateDict(client, from.uri, options);
  if (from.format == "dcp") {
    PENSTOCK_ASSIGN(const auto checkpoint,
                    penstock::torch::DistributedCheckpoint::Open(client, from.uri));
    return checkpoint.Load(options);
  }
  if (from.format != "safetensors") examples::Die("unknown format '" + from.format + "'");
  PENSTOCK_ASSIGN(auto tensors, penstock::torch::LoadSafetensors(client, from.uri, options));
  return StateDict{std::move(tensors), {}};
}

// Warns of what the copy will lack.
void Warn(const FormatAndUri& from, const FormatAndUri& to, const StateDict& state) {
  if (to.format != "safetensors") return;
  for (const auto& [name, value] : state.values)
    std::fprintf(stderr, "warning: '%s' is not a tensor and is not saved\n", name.c_str());
  if (from.format == "safetensors")
    std::fprintf(stderr, "warning: the __metadata__ of the file is not copied\n");
}

penstock::Result<void> Save(const std::shared_ptr<penstock::Client>& client, const FormatAndUri& to,
                            const StateDict& state) {
  if (to.format == "dcp") return penstock::torch::SaveDistributed(client, to.uri, state);
  if (to.format == "torch") {
    PENSTOCK_TRY(penstock::torch::SaveStateDict(client, to.uri, state));
  } else if (to.format == "safetensors") {
    PENSTOCK_TRY(
        penstock::torch::SaveSafetensors(client, to.uri, state.tensors, {{"format", "pt"}}));
  } else {
    examples::Die("unknown format '" + to.format + "'");
  }
  return penstock::Ok();
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv,
      "convert --from FORMAT:s3://bucket/key --to FORMAT:s3://bucket/key [--prefix NAME] "
      "[--endpoint URL] [--region NAME]",
      {"from", "to", "prefix"});
  const std::string prefix = line.Option("prefix");
  penstock::torch::LoadTensorsOptions options;
  if (!prefix.empty())
    options.filter = [&](std::string_view name) { return name.starts_with(prefix); };
  const auto client = line.MakeClient();
  const FormatAndUri from = Split(line, "from");
  const FormatAndUri to = Split(line, "to");
  const auto state = Load(client, from, options);
  if (!state.ok()) examples::Die(state.error().ToString());
  Warn(from, to, *state);
  const auto saved = Save(client, to, *state);
  if (!saved.ok()) examples::Die(saved.error().ToString());
  const std::size_t values = to.format == "safetensors" ? 0 : state->values.size();
  std::printf("%zu tensors, %zu values\n", state->tensors.size(), values);
}
