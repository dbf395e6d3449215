// SPDX-License-Identifier: Apache-2.0
// Constants of int8 convolutions as our compiler makes them from the source model's float weights, beside those of the
// vendor's file:
//
//   constant_compare FOLDER ...      rk3588/int8/NAME/model.rknn with its source.onnx beside it
//
// Scales and zero points of features come from the vendor's file; everything else is computed: packed weights, the bias
// block with offsets and multipliers, and the scale of the output; behind it the table, the index and the slopes of an
// activation.
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "compiler/conv_step.h"
#include "format/reader.h"
#include "format/vendor/tasks.h"
#include "format/vendor_model.h"
#include "frontends/frontend.h"
#include "ops/nn/conv.h"
#include "ops/registry.h"
#include "program/lookup_table.h"
#include "program/native_layout.h"
#include "quant/quantize.h"
#include "target/chips.h"
#include "target/registers.h"
#include "tests/interop/on_folders.h"

namespace rk::interop {
namespace {

namespace fs = std::filesystem;
using format::FileGraph;
using format::FileModel;
using format::FileNode;
using format::FileTensor;

struct Tally {
  size_t files = 0, layers = 0, unknown = 0;
  size_t weights = 0, biases = 0, scales = 0, equal = 0;
  size_t stages = 0, equal_stages = 0, tables = 0;  // activations by table or slope
  std::vector<std::string> different;
};

compiler::Affine affine_of(const FileTensor& tensor) {
  return {tensor.scale.empty() ? 0.0F : tensor.scale[0],
          tensor.zero_point.empty() ? 0 : tensor.zero_point[0]};
}

// What was rounded to the tensor's scale.
double range_scale(const FileTensor& tensor) {
  if (tensor.range_min.empty() || tensor.range_max.empty()) return 0;
  return (double{tensor.range_max[0]} - double{tensor.range_min[0]}) / 255;
}

// Ours has a least scale of narrow channels (docs/fidelity.md, "Requantization"), the vendor's compiler has none. A channel
// of zeros has the least scale there is.
void set_weight_scales(const QuantParams& quant, compiler::ConvSpec& spec) {
  spec.least_scale_share = 0;
  for (size_t c = 0; c < quant.scale.size(); ++c) {
    const auto own = static_cast<float>(spec.exact_weight_scale[c]);
    spec.weight_scale.push_back(own > 0 ? own : quant.scale[c]);
    spec.weight_zero_point.push_back(
        own > 0 ? static_cast<int32_t>(round_even(-128 - quant.min[c] / spec.exact_weight_scale[c]))
                : quant.zero_point[c]);
  }
}

// The ONNX convolution that a weight of the file comes from, by the weight's name.
std::map<std::string, const Node*> convolutions_by_weight(const Graph& graph) {
  std::map<std::string, const Node*> out;
  for (const Node* node : graph.nodes()) {
    if (node->op() != "Conv" || !node->input(1).is_constant()) continue;
    if (node->has_input(2) && !node->input(2).is_constant()) continue;
    out[node->input(1).name()] = node;
  }
  return out;
}

std::vector<uint8_t> pack(const compiler::QuantizedConv& conv, const Shape& shape, bool depthwise,
                          bool picture, const target::WeightLayout& layout) {
  const auto use = depthwise ? program::WeightUse::kDepthwise
                   : picture ? program::WeightUse::kPicture
                             : program::WeightUse::kDense;
  const std::vector<int32_t> native = program::native_weight_shape(layout, shape, use);
  return program::pack_weights(conv.weights, shape, conv.channels.offset, native);
}

std::vector<uint8_t> pack_bias(const compiler::QuantizedConv& conv, bool alone, bool depthwise,
                               const target::WeightLayout& layout) {
  const int align = depthwise ? std::max(layout.depthwise_c2, layout.bias_channel_align)
                              : layout.bias_channel_align;
  if (!alone) return program::pack_bias(conv.channels, layout.bias_group, align);
  std::vector<int32_t> biases = conv.channels.bias;
  biases.resize((biases.size() + static_cast<size_t>(align) - 1) / static_cast<size_t>(align) *
                static_cast<size_t>(align));
  const auto* from = reinterpret_cast<const uint8_t*>(biases.data());
  return {from, from + biases.size() * sizeof(int32_t)};
}

bool equal_bytes(const std::vector<uint8_t>& ours, ByteSpan theirs) {
  return ours.size() == theirs.size() && std::equal(ours.begin(), ours.end(), theirs.begin());
}

// The slope beyond the table of x * sigmoid(1.702 * x).
constexpr ScaleShift kQuickGelu = {16384, 13};

class FileCompare {
 public:
  FileCompare(std::string name, const FileModel& model, const program::Program& program,
              const Graph& source, Tally& tally)
      : name_(std::move(name)),
        model_(model),
        program_(program),
        graph_(model.graphs.front()),
        sources_(convolutions_by_weight(source)),
        tally_(tally) {}

  Status run() {
    RK_ASSIGN(const format::TaskLists lists, format::TaskLists::read(model_, graph_));
    if (lists.empty()) return unsupported("it has no register lists");
    ++tally_.files;
    format::NodeTasks tasks(lists);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      tasks.seek(i);
      const FileNode& node = graph_.nodes[i];
      // The result of ConvMul is in the unit of a product; no list of ours has it.
      if (!node.type.starts_with("Conv") || node.inputs.size() < 3 ||
          node.type == "ConvTranspose" || node.type == "ConvMul" ||
          tasks.next_with(format::kUnitCna | format::kUnitCore) == nullptr)
        continue;
      const auto source = sources_.find(tensor(node.inputs[1]).name);
      if (source == sources_.end()) {
        ++tally_.unknown;
        continue;
      }
      RK_TRY(compare(node, *source->second, tasks.registers()));
    }
    return ok_status();
  }

 private:
  // The constants of a table or a slope behind the sums.
  void compare_stage(const FileNode& node, const Node& source, compiler::ConvSpec spec,
                     const compiler::QuantizedConv& conv) {
    const program::ConvParams* const theirs = lifted(node.outputs[0]);
    if (theirs == nullptr || (!theirs->lookup && !theirs->slope)) return;
    // A second function of the same name has the first one's table (docs/facts/lookup-tables.md, section 4).
    if (node.type == "ConvExSwish" && theirs->lookup->above == kQuickGelu &&
        theirs->lookup->high.back() == 32767)
      return;
    if (node.type.ends_with("Add")) {
      spec.addend = 1;
      spec.added = affine_of(tensor(node.inputs.back()));
    }
    if (theirs->slope) {
      spec.slope = theirs->slope->factor;
    } else {
      spec.lookup = lookup_of(node, source, *theirs->lookup);
    }
    const target::ConvRegisters* const chip = target::conv_registers(program_.target);
    const Status status =
        compiler::fill_integer_params(spec, conv, chip != nullptr && chip->lookup.addend_first);
    const program::ConvParams& ours = spec.params;
    bool equal = status.ok() && ours.slope == theirs->slope && ours.output == theirs->output &&
                 ours.multiplier_shift == theirs->multiplier_shift;
    if (equal && theirs->lookup) {
      const program::LookupStage &a = *ours.lookup, &b = *theirs->lookup;
      equal = a.low == b.low && a.high == b.high && a.start == b.start && a.end == b.end &&
              a.entry_shift == b.entry_shift && a.below == b.below && a.above == b.above &&
              a.shift == b.shift && a.multiplier == b.multiplier && a.addend == b.addend;
    }
    if (equal && theirs->slope && node.type.ends_with("Add")) {
      equal = ours.addend.offset == theirs->addend.offset &&
              ours.addend.scale.shift == theirs->addend.scale.shift &&
              std::abs(ours.addend.scale.scale - theirs->addend.scale.scale) <= 1;
    }
    ++tally_.stages;
    tally_.tables += theirs->lookup.has_value();
    tally_.equal_stages += equal;
    if (!equal) tally_.different.push_back(str(name_, " ", node.type, " '", node.name, "': stage"));
  }

  // Alpha and beta are in the source; of x * sigmoid(beta * x) the file says whether beta is 1.
  program::LookupSpec lookup_of(const FileNode& node, const Node& source,
                                const program::LookupStage& theirs) const {
    program::LookupSpec spec{.function = program::lookup_function_of(node.type)};
    const Node& reader = *source.output().uses().front().node;
    if (reader.op() == "HardSigmoid") {
      spec.alpha = reader.f32("alpha");
      spec.beta = reader.f32("beta");
    }
    if (node.type == "ConvExSwish" && theirs.above == kQuickGelu) spec.beta = 1.702F;
    return spec;
  }

  const program::ConvParams* lifted(int32_t output) const {
    for (const program::Step& step : program_.main_variant().steps) {
      const auto index = static_cast<size_t>(step.outputs.front());
      if (program_.main_variant().tensors[index].name == tensor(output).name)
        return std::get_if<program::ConvParams>(&step.params);
    }
    return nullptr;
  }

  const FileTensor& tensor(int32_t i) const { return graph_.tensors[static_cast<size_t>(i)]; }
  ByteSpan bytes(int32_t i) const { return model_.buffers[tensor(i).buffer].data; }

  Status compare(const FileNode& node, const Node& source, const target::RegisterFile& registers) {
    const ops::ConvAttrs attrs = ops::conv_attrs(source);
    if (affine_of(tensor(node.inputs[0])).scale == 0 ||
        affine_of(tensor(node.outputs[0])).scale == 0)
      return ok_status();  // in float16
    const bool depthwise =
        attrs.group > 1 && attrs.group == attrs.in_channels && attrs.group == attrs.out_channels;
    if (attrs.group > 1 && !depthwise) {
      ++tally_.unknown;  // the file holds it as a dense one
      return ok_status();
    }
    ++tally_.layers;
    compiler::ConvSpec spec;
    spec.weight_shape = source.input(1).shape();
    spec.weights = source.input(1).constant().to_f32();
    if (source.has_input(2)) spec.bias = source.input(2).constant().to_f32();
    spec.params.group = static_cast<int32_t>(attrs.group);
    spec.in_channels = attrs.in_channels;
    spec.out_channels = attrs.out_channels;
    spec.in = affine_of(tensor(node.inputs[0]));
    spec.out = affine_of(tensor(node.outputs[0]));
    const QuantParams quant = quant::weight_params(source.input(1).constant(), 0);
    spec.exact_weight_scale = compiler::exact_scales(quant);
    set_weight_scales(quant, spec);
    spec.exact_in_scale = range_scale(tensor(node.inputs[0]));
    RK_ASSIGN(const compiler::QuantizedConv conv, compiler::quantize_conv(spec));
    RK_ASSIGN(const ScaleShift scale, compiler::output_scale(spec, conv.accumulator_scale));
    compare_stage(node, source, spec, conv);

    const target::WeightLayout& layout = target::rk3588().weights_i8;
    Shape shape = spec.weight_shape;
    if (depthwise) shape = {1, spec.out_channels, shape[2], shape[3]};
    const bool picture = tensor(node.inputs[0]).width_align != 0;
    const bool alone = attrs.out_channels == 1;
    const bool weights =
        equal_bytes(pack(conv, shape, depthwise, picture, layout), bytes(node.inputs[1]));
    const bool biases =
        equal_bytes(pack_bias(conv, alone, depthwise, layout), bytes(node.inputs[2]));
    namespace reg = target::reg;
    // A table gives its values in a unit of its own.
    const bool table = registers.get(reg::DPU_EW_CFG__EW_LUT_BYPASS) == 0;
    // Sums may leave the bias stage by another shift than 14, and a slope's stage by one more.
    const auto field = [&](const target::RegisterField& f) {
      return static_cast<int32_t>(registers.get(f));
    };
    const bool slope =
        field(reg::DPU_BN_CFG__BN_BYPASS) == 0 && field(reg::DPU_BN_CFG__BN_MUL_BYPASS) == 0;
    const int32_t shift =
        field(reg::DPU_OUT_CVT_SHIFT__OUT_CVT_SHIFT) +
        (slope ? field(reg::DPU_BN_MUL_CFG__BN_MUL_SHIFT_VALUE) : 0) +
        (alone ? 0 : field(reg::DPU_BS_MUL_CFG__BS_MUL_SHIFT_VALUE) - conv.multiplier_shift);
    const bool scales = table || (field(reg::DPU_OUT_CVT_SCALE__OUT_CVT_SCALE) == scale.scale &&
                                  shift == scale.shift);
    tally_.weights += weights;
    tally_.biases += biases;
    tally_.scales += scales;
    tally_.equal += weights && biases && scales;
    if (!weights || !biases || !scales) {
      tally_.different.push_back(str(name_, " ", node.type, " '", node.name,
                                     "': ", weights ? "" : "weights ", biases ? "" : "bias ",
                                     scales ? "" : "scale ", to_string(spec.weight_shape)));
    }
    return ok_status();
  }

  std::string name_;
  const FileModel& model_;
  const program::Program& program_;
  const FileGraph& graph_;
  std::map<std::string, const Node*> sources_;
  Tally& tally_;
};

Status compare_file(const fs::path& folder, const OpRegistry& registry, Tally& tally) {
  RK_ASSIGN(const std::vector<uint8_t> bytes, read_file((folder / "model.rknn").string()));
  RK_ASSIGN(const FileModel model, format::read_model(ByteSpan(bytes)));
  RK_ASSIGN(const Graph source,
            frontends::import_onnx((folder / "source.onnx").string(), {}, registry));
  RK_ASSIGN(const program::Program program, format::read_rknn(bytes));
  return FileCompare(folder.filename().string(), model, program, source, tally).run();
}

std::string percent(size_t part, size_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

int run(const std::vector<std::string>& folders) {
  std::set<fs::path> models;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path model = entry.path().parent_path();
      if (entry.path().filename() == "model.rknn" &&
          model.string().find("rk3588/int8/") != std::string::npos &&
          fs::exists(model / "source.onnx"))
        models.insert(model);
    }
  }
  Tally tally;
  const OpRegistry& registry = ops::registry();
  for (const fs::path& model : models) {
    const Status status = compare_file(model, registry, tally);
    if (!status.ok())
      std::printf("not compared: %s: %s\n", model.filename().c_str(), status.message().c_str());
  }
  constexpr size_t kMostLines = 60;
  for (size_t i = 0; i < std::min(kMostLines, tally.different.size()); ++i)
    std::printf("different: %s\n", tally.different[i].c_str());
  std::printf(
      "weights equal %zu, bias blocks %zu, output scales %zu of %zu; %zu convolutions are not the "
      "model's own\n",
      tally.weights, tally.biases, tally.scales, tally.layers, tally.unknown);
  if (tally.stages != 0) {
    std::printf(
        "FIGURE constants: stages of tables and slopes behind convolutions that equal the "
        "vendor's, "
        "every number | %zu of %zu (%zu tables) | all | %s\n",
        tally.equal_stages, tally.stages, tally.tables,
        tally.equal_stages == tally.stages ? "ok" : "SHORT");
  }
  const bool good = tally.layers != 0 && tally.equal * 100 >= tally.layers * 98;
  std::printf(
      "FIGURE constants: convolutions of %zu files whose weights, bias block, multipliers and "
      "output scale equal the "
      "vendor's | %zu of %zu (%s) | >= 98 %% | %s\n",
      tally.files, tally.equal, tally.layers, percent(tally.equal, tally.layers).c_str(),
      good ? "ok" : "SHORT");
  return good && tally.equal_stages == tally.stages ? 0 : 1;
}

}  // namespace
}  // namespace rk::interop

int main(int argc, char** argv) {
  return rk::interop::run_on_folders(argc, argv, rk::interop::run);
}
