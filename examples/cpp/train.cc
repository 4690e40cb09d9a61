// Trains a small byte-level model on all objects under a prefix and saves checkpoints to S3. A
// restarted program resumes from its newest checkpoint.
//
//   train --data s3://bucket/prefix --checkpoints s3://bucket/prefix --steps 200 --save-every 50
//
// A checkpoint is one object, published whole or not at all, so the newest one listed is complete.
#include <torch/torch.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "penstock/torch.h"

namespace {

constexpr std::int64_t kContext = 16;   // bytes the model sees before the one it predicts
constexpr std::int64_t kSamples = 128;  // windows per step

// Predicts the next byte from the kContext before it.
struct ByteModelImpl : torch::nn::Module {
  ByteModelImpl()
      : embedding(register_module("embedding", torch::nn::Embedding(256, 16))),
        hidden(register_module("hidden", torch::nn::Linear(kContext * 16, 128))),
        output(register_module("output", torch::nn::Linear(128, 256))) {}

  // `context`: [samples, kContext] int64. Returns logits, [samples, 256] float32.
  torch::Tensor forward(const torch::Tensor& context) {
    return output(torch::relu(hidden(embedding(context).flatten(1))));
  }

  torch::nn::Embedding embedding;
  torch::nn::Linear hidden;
  torch::nn::Linear output;
};
TORCH_MODULE(ByteModel);

struct Training {
  ByteModel model;
  torch::optim::Adam optimizer{model->parameters(), torch::optim::AdamOptions(2e-3)};
  std::int64_t step = 0;
  double loss = 0;  // running mean
};

// Random windows of one object: contexts [kSamples, kContext] and the bytes that follow,
// [kSamples]; both int64.
std::pair<torch::Tensor, torch::Tensor> Sample(const torch::Tensor& bytes) {
  // [size - kContext, kContext + 1]
  const torch::Tensor windows = bytes.to(torch::kLong).unfold(0, kContext + 1, 1);
  const torch::Tensor chosen =
      windows.index_select(0, torch::randint(windows.size(0), {kSamples}, torch::kLong));
  return {chosen.slice(1, 0, kContext), chosen.select(1, kContext)};
}

double Step(Training& training, const torch::Tensor& bytes) {
  const auto [context, next] = Sample(bytes);
  training.optimizer.zero_grad();
  const torch::Tensor loss =
      torch::nn::functional::cross_entropy(training.model->forward(context), next);
  loss.backward();
  training.optimizer.step();
  return loss.item<double>();
}

std::string CheckpointUri(const std::string& prefix, std::int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%010" PRId64 ".pt", step);  // so that keys sort by step
  return prefix + (prefix.ends_with('/') ? "" : "/") + name;
}

void Save(const std::shared_ptr<penstock::Client>& client, const std::string& uri,
          const Training& training, const penstock::torch::PrefixStreamDataset& data) {
  const auto saved =
      penstock::torch::SaveCheckpoint(client, uri, [&](torch::serialize::OutputArchive& archive) {
        torch::serialize::OutputArchive model, optimizer, position;
        training.model->save(model);
        training.optimizer.save(optimizer);
        data.save(position);
        archive.write("model", model);
        archive.write("optimizer", optimizer);
        archive.write("data", position);
        archive.write("step", torch::tensor(training.step));
        archive.write("loss", torch::tensor(training.loss, torch::kDouble));
      });
  if (!saved.ok()) examples::Die(saved.error().ToString());
  std::printf("saved %s (%llu bytes)\n", uri.c_str(),
              static_cast<unsigned long long>(saved->bytes));
}

// The newest checkpoint's URI; nullopt if there is none.
std::optional<std::string> Newest(const std::shared_ptr<penstock::Client>& client,
                                  const examples::Place& place) {
  penstock::ListObjectsRequest request;
  request.bucket = place.bucket;
  request.prefix =
      place.path + (place.path.empty() || place.path.ends_with('/') ? "step-" : "/step-");
  const auto lister = penstock::Lister::Create(client, request);
  std::optional<std::string> newest;
  for (;;) {
    const auto page = lister->Next();
    if (!page.ok()) examples::Die(page.error().ToString());
    if (!*page) return newest;
    for (const auto& object : (*page)->objects)
      newest = "s3://" + place.bucket.value + "/" + object.key.value;
  }
}

void Resume(penstock::Client& client, const std::string& uri, Training& training,
            penstock::torch::PrefixStreamDataset& data) {
  auto archive = penstock::torch::LoadCheckpoint(client, uri);
  if (!archive.ok()) examples::Die(archive.error().ToString());
  torch::serialize::InputArchive model, optimizer, position;
  archive->read("model", model);
  archive->read("optimizer", optimizer);
  archive->read("data", position);
  training.model->load(model);
  training.optimizer.load(optimizer);
  data.load(position);
  torch::Tensor step, loss;
  archive->read("step", step);
  archive->read("loss", loss);
  training.step = step.item<std::int64_t>();
  training.loss = loss.item<double>();
  std::printf("resumed %s at step %" PRId64 ", loss %.4f\n", uri.c_str(), training.step,
              training.loss);
}

// The next object that is long enough for a window. Starts the next epoch at the end; ends the
// program after an epoch without such an object.
torch::Tensor NextObject(penstock::torch::PrefixStreamDataset& data) {
  for (int epochs_begun = 0; epochs_begun < 2;) {
    const auto batch = data.get_batch(1);
    if (!batch) {
      data.reset();
      ++epochs_begun;
    } else if (batch->front().data.numel() > kContext) {
      return batch->front().data;
    }
  }
  examples::Die("no object under --data is longer than the model's context");
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv,
      "train --data s3://bucket/prefix --checkpoints s3://bucket/prefix [--steps N] "
      "[--save-every N] [--endpoint URL] [--region NAME]",
      {"data", "checkpoints", "steps", "save-every"});
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // line-buffered, also into a pipe
  const std::int64_t steps = std::atoll(line.Option("steps", "200").c_str());
  const std::int64_t save_every =
      std::max(1LL, std::atoll(line.Option("save-every", "50").c_str()));
  const std::string checkpoints = line.Required("checkpoints");
  const auto client = line.MakeClient();
  auto data = penstock::torch::PrefixStreamDataset::Create(client, line.Required("data"));
  if (!data.ok()) examples::Die(data.error().ToString());

  torch::manual_seed(1);
  Training training;
  try {
    if (const auto newest = Newest(client, line.ParsePlace(checkpoints)))
      Resume(*client, *newest, training, *data);
    while (training.step < steps) {
      const double loss = Step(training, NextObject(*data));
      training.loss = training.step == 0 ? loss : 0.95 * training.loss + 0.05 * loss;
      ++training.step;
      if (training.step % 10 == 0)
        std::printf("step %" PRId64 " loss %.4f\n", training.step, training.loss);
      if (training.step % save_every == 0 || training.step == steps) {
        Save(client, CheckpointUri(checkpoints, training.step), training, *data);
      }
    }
  } catch (const std::exception& failure) {
    examples::Die(failure.what());
  }
  std::printf("done at step %" PRId64 ", loss %.4f\n", training.step, training.loss);
}
