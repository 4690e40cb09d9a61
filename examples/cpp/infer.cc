// Loads the weights of a model from a distributed checkpoint that a Python program saved, and runs
// the model.
//
//   infer --checkpoint s3://bucket/step-100 --input 1,2,3,4
//
// The model is that of Python's
//
//   torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
//
// saved by any number of ranks as dcp.save({"model": model.state_dict(), ...}).
#include <torch/nn/module.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.h"
#include "penstock/torch_checkpoint.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv,
      "infer --checkpoint s3://bucket/prefix --input NUMBERS [--endpoint URL] [--region NAME]",
      {"checkpoint", "input"});
  const auto checkpoint =
      penstock::torch::DistributedCheckpoint::Open(line.MakeClient(), line.Required("checkpoint"));
  if (!checkpoint.ok()) examples::Die(checkpoint.error().ToString());

  torch::nn::Sequential model(torch::nn::Linear(4, 8), torch::nn::ReLU(), torch::nn::Linear(8, 2));
  // The parameters are the targets: their memory is filled in place.
  std::vector<penstock::torch::TensorTarget> targets;
  for (const auto& parameter : model->named_parameters())
    targets.push_back({"model." + parameter.key(), {}, parameter.value()});
  const auto loaded = checkpoint->LoadInto(targets);
  if (!loaded.ok()) examples::Die(loaded.error().ToString());

  std::vector<float> numbers;
  std::istringstream text(line.Required("input"));
  for (std::string number; std::getline(text, number, ',');) numbers.push_back(std::stof(number));
  if (numbers.size() != 4) line.Fail("--input is four numbers, separated by commas");
  const torch::NoGradGuard no_grad;
  const torch::Tensor output = model->forward(torch::tensor(numbers).unsqueeze(0));
  for (int i = 0; i < 2; ++i) std::printf("%.6f\n", output[0][i].item<double>());
}
