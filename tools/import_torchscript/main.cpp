// SPDX-License-Identifier: Apache-2.0
// rknn-import-torchscript MODEL ANSWER: loads a TorchScript file with libtorch and writes down what it holds: the frozen
// and inlined graph of forward(), its constants and its packed quantized layers. It decides nothing: which operator
// becomes what is the business of src/frontends/torchscript, whose answer.h describes the form of the answer.
//
// The toolkit starts this program for load_pytorch(), so that what goes wrong in libtorch ends here. It is the only file
// that includes torch.
// Exit status: 0, or 1 with one message on stderr.
#include <ATen/native/quantized/PackedParams.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/remove_mutation.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/library.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>

// Operators that came after 1.13: files that use them load, and the importer knows what they compute.
TORCH_LIBRARY_FRAGMENT(aten, library) {
  library.def(
      torch::schema("aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
                    "Tensor? attn_mask=None, "
                    "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool "
                    "enable_gqa=False) -> Tensor",
                    c10::AliasAnalysisKind::FROM_SCHEMA));
}

namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

constexpr uint64_t kMostAnswerBytes = uint64_t{4} << 30;
constexpr int kDeepestValue = 32;

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  template <typename T>
  void number(T value) {
    raw(&value, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    raw(value.data(), value.size());
  }
  template <typename List>
  void numbers(const List& values) {
    number(static_cast<uint32_t>(values.size()));
    for (const auto value : values) number(value);
  }
  void raw(const void* from, uint64_t size) {
    written_ += size;
    TORCH_CHECK(written_ <= kMostAnswerBytes, "the model has more than 4 GiB of weights");
    out_.write(static_cast<const char*>(from), static_cast<std::streamsize>(size));
  }

 private:
  std::ostream& out_;
  uint64_t written_ = 0;
};

// Numbers as ONNX counts types; 0: not one that is written.
int dtype_number(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return 1;
    case at::kByte:
    case at::kQUInt8:
      return 2;
    case at::kChar:
    case at::kQInt8:
      return 3;
    case at::kShort:
      return 5;
    case at::kInt:
    case at::kQInt32:
      return 6;
    case at::kLong:
      return 7;
    case at::kBool:
      return 9;
    case at::kHalf:
      return 10;
    case at::kDouble:
      return 11;
    case at::kBFloat16:
      return 16;
    default:
      return 0;
  }
}

class Answer {
 public:
  explicit Answer(std::ostream& out) : out_(out) {}

  void module(const torch::jit::Module& module) {
    const auto method = module.get_method("forward");
    const auto graph = method.graph();
    const auto& schema = method.function().getSchema();
    out_.raw("RKTORCH1", 8);
    known_[graph->inputs()[0]] = module._ivalue();
    paths_[module._ivalue().get()] = "";
    out_.number(static_cast<uint32_t>(graph->inputs().size() - 1));
    for (size_t i = 1; i < graph->inputs().size(); ++i) {
      // The name in the source; values of the graph have a suffix that makes them unique.
      const bool has_name = i < schema.arguments().size();
      name(*graph->inputs()[i], has_name ? schema.arguments()[i].name() : "");
      const auto standard = i < schema.arguments().size() ? schema.arguments()[i].default_value()
                                                          : c10::optional<at::IValue>();
      out_.number(static_cast<uint8_t>(standard.has_value()));
      if (standard) value(*standard, 0);
    }
    body(*graph->block());
  }

 private:
  void name(const Value& value, const std::string& given = "") {
    out_.number(static_cast<uint32_t>(value.unique()));
    out_.text(given.empty() ? value.debugName() : given);
    out_.text(value.type()->str().substr(0, 200));
  }

  void block(const Block& block) {
    out_.number(static_cast<uint32_t>(block.inputs().size()));
    for (const Value* input : block.inputs()) name(*input);
    body(block);
  }

  void body(const Block& block) {
    std::vector<const Node*> nodes;
    for (const Node* node : block.nodes()) {
      if (!resolve(*node)) nodes.push_back(node);
    }
    out_.number(static_cast<uint32_t>(nodes.size()));
    for (const Node* node : nodes) write(*node);
    out_.number(static_cast<uint32_t>(block.outputs().size()));
    for (const Value* output : block.outputs()) {
      out_.number(static_cast<uint32_t>(output->unique()));
    }
  }

  // The object whose attribute a node reads or sets; null for other nodes, and where the object is not known.
  c10::ivalue::Object* holder_of(const Node& node) {
    if (node.kind() != torch::jit::prim::GetAttr && node.kind() != torch::jit::prim::SetAttr)
      return nullptr;
    const auto holder = known_.find(node.input(0));
    if (holder == known_.end() || !holder->second.isObject()) return nullptr;
    return holder->second.toObject().get();
  }

  std::string path_of(const Node& node, c10::ivalue::Object* holder) {
    const std::string& outer = paths_[holder];
    return (outer.empty() ? "" : outer + ".") + node.s(torch::jit::attr::name);
  }

  // Attributes of modules that freezing left: true where the result is a module itself, which no node needs.
  bool resolve(const Node& node) {
    c10::ivalue::Object* const holder = holder_of(node);
    if (holder == nullptr || node.kind() != torch::jit::prim::GetAttr) return false;
    const auto found = holder->getAttr(node.s(torch::jit::attr::name));
    known_[node.output()] = found;
    if (found.isObject()) paths_.emplace(found.toObject().get(), path_of(node, holder));
    return found.isModule();
  }

  void write(const Node& node) {
    c10::ivalue::Object* const holder = holder_of(node);
    const bool sets = node.kind() == torch::jit::prim::SetAttr;
    out_.text(holder == nullptr ? node.kind().toQualString() : sets ? "state::set" : "state::get");
    out_.text(source(node));
    std::vector<uint32_t> inputs;
    for (const Value* input : node.inputs())
      inputs.push_back(static_cast<uint32_t>(input->unique()));
    if (holder != nullptr) inputs.erase(inputs.begin());
    out_.numbers(inputs);
    out_.number(static_cast<uint32_t>(node.outputs().size()));
    for (const Value* output : node.outputs()) name(*output);
    if (holder != nullptr) {
      attribute(path_of(node, holder), sets ? nullptr : &known_[node.output()]);
    } else {
      constant(node);
    }
    out_.number(static_cast<uint32_t>(node.blocks().size()));
    for (const Block* inner : node.blocks()) block(*inner);
  }

  // Where it is; when it is read, also its value before the first call.
  void attribute(const std::string& path, const at::IValue* start) {
    out_.number(uint8_t{1});
    if (start == nullptr) return value(at::IValue(path), 0);
    out_.number(kTuple);
    out_.number(uint32_t{2});
    value(at::IValue(path), 0);
    value(*start, 0);
  }

  // A constant's value; the name of an attribute that is read or set; nothing for others.
  void constant(const Node& node) {
    if (node.kind() == torch::jit::prim::Constant) {
      out_.number(uint8_t{1});
      const auto found = torch::jit::toIValue(node.output());
      return value(found ? *found : at::IValue(), 0);
    }
    const bool has_name = node.hasAttribute(torch::jit::attr::name) &&
                          node.kindOf(torch::jit::attr::name) == torch::jit::AttributeKind::s;
    out_.number(static_cast<uint8_t>(has_name));
    if (has_name) value(at::IValue(node.s(torch::jit::attr::name)), 0);
  }

  static std::string source(const Node& node) {
    auto range = node.sourceRange();
    if (const auto original = range.findSourceRangeThatGenerated()) range = *original;
    const auto place = range.file_line_col();
    if (!place) return {};
    return std::get<0>(*place) + ":" + std::to_string(std::get<1>(*place));
  }

  enum Tag : uint8_t {
    kNone,
    kBool,
    kInt,
    kDouble,
    kText,
    kTensor,
    kList,
    kTuple,
    kConv,
    kLinear,
    kOther,
    kDict
  };

  void value(const at::IValue& from, int depth) {
    TORCH_CHECK(depth < kDeepestValue, "a constant is nested too deeply");
    if (from.isNone()) return out_.number(kNone);
    if (from.isBool()) return tagged(kBool, static_cast<uint8_t>(from.toBool()));
    if (from.isInt()) return tagged(kInt, from.toInt());
    if (from.isDouble()) return tagged(kDouble, from.toDouble());
    if (from.isTensor()) return tensor(from.toTensor());
    if (from.isString()) {
      out_.number(kText);
      return out_.text(from.toStringRef());
    }
    if (from.isDevice()) {
      out_.number(kText);
      return out_.text(from.toDevice().str());
    }
    if (from.isList() || from.isTuple()) {
      out_.number(from.isList() ? kList : kTuple);
      const auto items =
          from.isList() ? from.toListRef().vec() : from.toTupleRef().elements().vec();
      out_.number(static_cast<uint32_t>(items.size()));
      for (const at::IValue& item : items) value(item, depth + 1);
      return;
    }
    if (from.isGenericDict()) {
      const auto dict = from.toGenericDict();
      out_.number(kDict);
      out_.number(static_cast<uint32_t>(2 * dict.size()));
      for (const auto& entry : dict) {
        value(entry.key(), depth + 1);
        value(entry.value(), depth + 1);
      }
      return;
    }
    if (from.isObject() && packed(from)) return;
    other(from.tagKind() + " " + from.type()->str().substr(0, 200));
  }
  template <typename T>
  void tagged(Tag tag, T number) {
    out_.number(tag);
    out_.number(number);
  }
  void other(const std::string& what) {
    out_.number(kOther);
    out_.text(what);
  }

  bool packed(const at::IValue& from) {
    const std::string type = from.type()->str();
    if (type.find("quantized.Conv2dPackedParamsBase") != type.npos) {
      conv(*from.toCustomClass<ConvPackedParamsBase<2>>());
    } else if (type.find("quantized.Conv3dPackedParamsBase") != type.npos) {
      conv(*from.toCustomClass<ConvPackedParamsBase<3>>());
    } else if (type.find("quantized.LinearPackedParamsBase") != type.npos) {
      const auto [weight, bias] = from.toCustomClass<LinearPackedParamsBase>()->unpack();
      out_.number(kLinear);
      tensor(weight);
      value(bias ? at::IValue(*bias) : at::IValue(), 0);
    } else {
      return false;
    }
    return true;
  }

  template <typename Packed>
  void conv(Packed& packed) {
    const auto [weight, bias] = packed.unpack();
    out_.number(kConv);
    tensor(weight);
    value(bias ? at::IValue(*bias) : at::IValue(), 0);
    out_.numbers(packed.stride().vec());
    out_.numbers(packed.padding().vec());
    out_.numbers(packed.output_padding().vec());
    out_.numbers(packed.dilation().vec());
    out_.number(packed.groups());
    out_.number(static_cast<uint8_t>(packed.transpose()));
  }

  void tensor(const at::Tensor& from) {
    if (!from.defined()) return out_.number(kNone);
    const int dtype = dtype_number(from.scalar_type());
    if (dtype == 0 || from.layout() != at::kStrided) return other("tensor of " + from.toString());
    TORCH_CHECK(static_cast<uint64_t>(from.numel()) <= kMostAnswerBytes,
                "a tensor has more than 4 Gi elements");
    out_.number(kTensor);
    out_.number(static_cast<uint8_t>(dtype));
    out_.numbers(from.sizes().vec());
    std::vector<double> scales;
    std::vector<int64_t> points;
    int64_t axis = -1;
    if (from.is_quantized() && from.qscheme() == at::kPerTensorAffine) {
      scales = {from.q_scale()};
      points = {from.q_zero_point()};
    } else if (from.is_quantized()) {
      const auto scale = from.q_per_channel_scales().to(at::kDouble).contiguous();
      const auto point = from.q_per_channel_zero_points().to(at::kLong).contiguous();
      scales.assign(scale.data_ptr<double>(), scale.data_ptr<double>() + scale.numel());
      points.assign(point.data_ptr<int64_t>(), point.data_ptr<int64_t>() + point.numel());
      axis = from.q_per_channel_axis();
    }
    out_.numbers(scales);
    out_.numbers(points);
    out_.number(axis);
    const at::Tensor plain =
        (from.is_quantized() ? from.int_repr() : from).to(at::kCPU).contiguous();
    const uint64_t size = plain.nbytes();
    out_.number(size);
    out_.raw(plain.data_ptr(), size);
  }

  Writer out_;
  std::unordered_map<const Value*, at::IValue> known_;
  std::unordered_map<const c10::ivalue::Object*, std::string>
      paths_;  // of modules, from the outermost one
};

// A damaged file must not take the machine with it, and nobody waits for an answer once the toolkit is gone.
void limit_process() {
  const auto limit = [](auto resource, rlim_t bytes) {
    rlimit found{};
    getrlimit(resource, &found);
    found.rlim_cur = std::min(found.rlim_max, bytes);
    setrlimit(resource, &found);
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, rlim_t{16} << 30);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// libtorch appends where in its own sources a message came from; a user wants what stands before.
std::string first_part(std::string message) {
  const size_t trace = message.find("\nException raised from");
  return message.substr(0, trace);
}

int run(const char* model_path, const char* answer_path) {
  at::globalContext().setQEngine(at::QEngine::QNNPACK);
  torch::jit::Module module = torch::jit::load(model_path, at::kCPU);
  module.eval();
  if (!module.find_method("forward")) {
    std::cerr << "the module has no method forward()\n";
    return 1;
  }
  try {
    module = torch::jit::freeze_module(module, {}, false, false);
  } catch (const std::exception&) {
    // Attributes are looked up one by one then; what is set at run time is refused by the importer.
  }
  const auto graph = module.get_method("forward").graph();
  torch::jit::Inline(*graph);
  torch::jit::RemoveListMutation(graph);
  torch::jit::RemoveTensorMutation(graph);
  torch::jit::LowerSimpleTuples(graph);
  torch::jit::EliminateDeadCode(graph);
  std::ofstream out(answer_path, std::ios::binary);
  Answer(out).module(module);
  out.close();
  if (out) return 0;
  std::cerr << "cannot write the answer\n";
  return 1;
}

}  // namespace

// Also called by tests, in processes of their own.
int import_torchscript(const char* model_path, const char* answer_path) {
  limit_process();
  try {
    return run(model_path, answer_path);
  } catch (const c10::Error& error) {
    std::cerr << first_part(error.what_without_backtrace()) << "\n";
  } catch (const std::exception& error) {
    std::cerr << first_part(error.what()) << "\n";
  }
  return 1;
}

#ifndef RK_WITHOUT_MAIN
int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: rknn-import-torchscript MODEL.pt ANSWER\n";
    return 2;
  }
  return import_torchscript(argv[1], argv[2]);
}
#endif
