#include "client/checkpoint/pickle/state_pickle.h"

#include <gtest/gtest.h>

#include "client/checkpoint/pickle/pickle_writer.h"

namespace penstock::checkpoint {
namespace {

using namespace std::string_literals;

const PickledTensor kTensor{"float32", {2}, {1}, 0, "0", 8};

std::string Pickled(const std::string& body) { return "\x80\x02"s + body + "."; }
std::string Text(const std::string& text) {
  return "X"s + static_cast<char>(text.size()) + "\0\0\0"s + text;
}

TEST(StatePickleTest, WhatIsWrittenIsReadBack) {
  const SavedState state{
      {{"layer.weight", kTensor}, {"layer.bias", {"bfloat16", {}, {}, 3, "1", 8}}},
      {{"epoch", std::int64_t{3}},
       {"loss", 0.5},
       {"done", true},
       {"name", "größe"s},
       {"nothing", {}}}};
  const auto pickle = WriteStatePickle(state);
  ASSERT_TRUE(pickle.ok());
  const auto read = ReadStatePickle(*pickle);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, state);
}

TEST(StatePickleTest, NestedNamesAreJoined) {
  // {"model": {"w": [1, (2,)]}, 0: {"x": None}}
  const auto read = ReadStatePickle(Pickled("}(" + Text("model") + "}" + Text("w") +
                                            "](K\x01K\x02\x85"s + "esK\0}"s + Text("x") + "Nsu"s));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->values.size(), 3U);
  EXPECT_EQ(read->values[0].first, "model.w.0");
  EXPECT_EQ(read->values[1].first, "model.w.1.0");
  EXPECT_EQ(read->values[2].first, "0.x");
}

TEST(StatePickleTest, ATensorAloneHasThePrefixAsItsName) {
  const auto pickle = WriteTensorPickle(kTensor);
  EXPECT_EQ(ReadStatePickle(*pickle)->tensors[0].name, "");
  EXPECT_EQ(ReadStatePickle(*pickle, {}, "step")->tensors[0].name, "step");
}

TEST(StatePickleTest, AnythingElseIsRefusedWithItsName) {
  const std::string pickle =
      Pickled("}(" + Text("good") + "K\x01" + Text("args") + "cargparse\nNamespace\n)\x81u");
  const auto refused = ReadStatePickle(pickle);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().message.find("'args' is a argparse.Namespace"), std::string::npos)
      << refused.error().message;
  const auto filtered =
      ReadStatePickle(pickle, [](std::string_view name) { return name == "good"; });
  ASSERT_TRUE(filtered.ok());
  EXPECT_EQ(filtered->values.size(), 1U);
}

TEST(StatePickleTest, UnsupportedTensorsNameTheirFunction) {
  const std::string pickle = Pickled("}" + Text("q") + "ctorch._utils\n_rebuild_qtensor\n)Rs");
  EXPECT_NE(ReadStatePickle(pickle).error().message.find("torch._utils._rebuild_qtensor"),
            std::string::npos);
}

TEST(StatePickleTest, ParametersSizesDtypesDevicesAndBytesAreRead) {
  PickleWriter writer;
  writer.EmptyDict();
  writer.Mark();
  writer.Text("p");
  writer.Global("torch._utils", "_rebuild_parameter");
  writer.Mark();
  writer.Tensor(kTensor);
  writer.Bool(true);
  writer.OrderedDict();
  writer.Tuple();
  writer.Reduce();
  writer.Text("shape");
  writer.Size(std::vector<std::int64_t>{4});
  writer.Text("dtype");
  writer.Global("torch", "bfloat16");
  writer.Text("device");
  writer.Global("torch", "device");
  writer.Mark();
  writer.Text("cuda");
  writer.Int(1);
  writer.Tuple();
  writer.Reduce();
  writer.Text("bytes");
  writer.Global("_codecs", "encode");
  writer.Mark();
  writer.Text("a\xc3\xbf");
  writer.Text("latin1");
  writer.Tuple();
  writer.Reduce();
  writer.SetItems();
  const auto read = ReadStatePickle(std::move(writer).Finish());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->tensors[0].tensor, kTensor);
  using Values = std::vector<std::pair<std::string, SavedValue>>;
  EXPECT_EQ(read->values, (Values{{"shape.0", std::int64_t{4}},
                                  {"dtype", "torch.bfloat16"s},
                                  {"device", "cuda:1"s},
                                  {"bytes", "a\xff"s}}));
}

// As Python 3 writes {1}, b"", bytearray(b"a\xff") and a layout with protocol 2.
TEST(StatePickleTest, BuiltinsOfProtocol2AreRead) {
  const auto read = ReadStatePickle(Pickled(
      "}(" + Text("set") + "c__builtin__\nset\n](K\x01" + "e\x85R" + Text("empty") +
      "c__builtin__\nbytes\n)R" + Text("array") + "c__builtin__\nbytearray\n" + Text("a\xc3\xbf") +
      Text("latin-1") + "\x86R" + Text("layout") + "ctorch.serialization\n_get_layout\n" +
      Text("torch.strided") + "\x85R" + Text("dtype") + "ctorch\nquint8\n" + "u"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  using Values = std::vector<std::pair<std::string, SavedValue>>;
  EXPECT_EQ(read->values, (Values{{"set.0", std::int64_t{1}},
                                  {"empty", ""s},
                                  {"array", "a\xff"s},
                                  {"layout", "torch.strided"s},
                                  {"dtype", "torch.quint8"s}}));
}

// torch.load reads them: the message must not deny it.
TEST(StatePickleTest, ValuesWithoutATypeHereAreNamed) {
  const auto complex = ReadStatePickle(Pickled("}" + Text("z") + "c__builtin__\ncomplex\n" +
                                               std::string("G\x3f\xf0\0\0\0\0\0\0", 9) +
                                               std::string("G\0\0\0\0\0\0\0\0", 9) + "\x86Rs"));
  EXPECT_NE(complex.error().message.find("'z' is a builtins.complex"), std::string::npos)
      << complex.error().message;
  const auto large = ReadStatePickle(Pickled("}" + Text("n") + "\x8a\x09\0\0\0\0\0\0\0\0\1s"s));
  EXPECT_NE(large.error().message.find("an int of more than 64 bits"), std::string::npos)
      << large.error().message;
  for (const auto& read : {complex, large}) {
    EXPECT_EQ(read.error().kind, ErrorKind::kUnsupported);
    EXPECT_EQ(read.error().message.find("torch.load"), std::string::npos);
  }
}

// The arguments of _rebuild_tensor_v2 for kTensor.
std::string TensorArguments() {
  PickleWriter writer;
  writer.Tensor(kTensor);
  const std::string pickle = std::move(writer).Finish();
  const std::size_t begin = pickle.find("_rebuild_tensor_v2\n") + 19;
  const std::size_t mark = pickle.find('(', begin);
  return pickle.substr(mark, pickle.size() - 2 - mark);  // without R and the end
}

TEST(StatePickleTest, TensorsAndParametersWithAttributesAreRead) {
  const std::string attributes = "}" + Text("tag") + "cos\nsystem\ns";
  const std::string function = "ctorch._utils\n_rebuild_tensor_v2\n";
  const auto tensor = ReadStatePickle(
      Pickled("}" + Text("t") + "ctorch._tensor\n_rebuild_from_type_v2\n(" + function +
              "ctorch\nTensor\n" + TensorArguments() + attributes + "tRs"));
  ASSERT_TRUE(tensor.ok()) << tensor.error().message;
  EXPECT_EQ(tensor->tensors, (std::vector<SavedTensor>{{"t", kTensor}}));
  const auto subclass =
      ReadStatePickle(Pickled("}" + Text("t") + "ctorch._tensor\n_rebuild_from_type_v2\n(" +
                              function + "cmy\nTensor\n" + TensorArguments() + attributes + "tRs"));
  EXPECT_NE(subclass.error().message.find("_rebuild_from_type_v2"), std::string::npos);
  const auto parameter =
      ReadStatePickle(Pickled("}" + Text("p") + "ctorch._utils\n_rebuild_parameter_with_state\n(" +
                              function + TensorArguments() + "R\x88}" + attributes + "tRs"));
  ASSERT_TRUE(parameter.ok()) << parameter.error().message;
  EXPECT_EQ(parameter->tensors, (std::vector<SavedTensor>{{"p", kTensor}}));
}

TEST(StatePickleTest, CyclesDepthAndRepetitionAreLimited) {
  EXPECT_EQ(ReadStatePickle(Pickled("]q\0h\0a"s)).error().kind, ErrorKind::kUnsupported);
  EXPECT_FALSE(ReadStatePickle(Pickled("N" + std::string(101, '\x85'))).ok());
  EXPECT_TRUE(ReadStatePickle(Pickled("N" + std::string(99, '\x85'))).ok());
  std::string doubled = "N";  // 2^60 references to None
  for (int i = 0; i < 60; ++i) doubled += "2\x86";
  EXPECT_FALSE(ReadStatePickle(Pickled(doubled)).ok());
}

// A list of references to one value: [value] * count. `value` is the memo entry 0.
std::string Repeated(const std::string& value, std::size_t count) {
  std::string pickle = value + "q\0"s + "0](";
  for (std::size_t i = 0; i < count; ++i) pickle += "h\0"s;
  return Pickled(pickle + "e");
}

TEST(StatePickleTest, RepeatedValuesCannotExceedTheMemoryOfTheFile) {
  const std::string text = "X"s + "\0\0\x10\0"s + std::string(1 << 20, 'x');  // 1 MiB
  EXPECT_TRUE(ReadStatePickle(Repeated(text, 10)).ok());
  const auto texts = ReadStatePickle(Repeated(text, 500));  // 500 MiB
  ASSERT_FALSE(texts.ok());
  EXPECT_EQ(texts.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(texts.error().message.find("too often"), std::string::npos) << texts.error().message;
  PickleWriter writer;
  PickledTensor tensor = kTensor;
  tensor.storage_key = std::string(1 << 20, 'k');
  writer.Tensor(tensor);
  std::string pickle = std::move(writer).Finish();
  pickle = pickle.substr(2, pickle.size() - 3) + "r\0\1\0\0"s + "0](";
  for (int i = 0; i < 500; ++i) pickle += "j\0\1\0\0"s;
  EXPECT_FALSE(ReadStatePickle(Pickled(pickle + "e")).ok());
}

TEST(StatePickleTest, ManySmallValuesAreRead) {
  for (const char value : {'N', '\x88'}) {
    const auto read = ReadStatePickle(Pickled("](" + std::string(100'000, value) + "e"));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->values.size(), 100'000U);
  }
  const auto texts = ReadStatePickle(Repeated(Text("relu"), 100'000));
  ASSERT_TRUE(texts.ok()) << texts.error().message;
}

TEST(StatePickleTest, TensorsHaveAtMost64Dimensions) {
  PickledTensor tensor{
      "float32", std::vector<std::int64_t>(64, 1), std::vector<std::int64_t>(64, 1), 0, "0", 4};
  EXPECT_TRUE(ReadStatePickle(*WriteTensorPickle(tensor)).ok());
  tensor.sizes.push_back(1);
  tensor.strides.push_back(1);
  EXPECT_FALSE(ReadStatePickle(*WriteTensorPickle(tensor)).ok());
}

TEST(StatePickleTest, EqualNamesAreRefused) {
  const auto read = ReadStatePickle(
      Pickled("}(" + Text("a.b") + "K\x01" + Text("a") + "}" + Text("b") + "K\x02su"));
  EXPECT_NE(read.error().message.find("'a.b'"), std::string::npos);
  EXPECT_FALSE(WriteStatePickle({{}, {{"a", true}, {"a", false}}}).ok());
  EXPECT_FALSE(WriteStatePickle({{}, {{"\xff", true}}}).ok());
  EXPECT_FALSE(WriteStatePickle({{{"a", {"float33", {}, {}, 0, "0", 0}}}, {}}).ok());
}

}  // namespace
}  // namespace penstock::checkpoint
