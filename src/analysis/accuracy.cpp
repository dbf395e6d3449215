// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/simulate.h"
#include "analysis/tensor_folder.h"
#include "base/file.h"
#include "base/half.h"
#include "compiler/conv_tail.h"
#include "evaluator/evaluate.h"

namespace rk::analysis {
namespace {

constexpr float kMaxF16 = 65504;
constexpr size_t kBins = 64;
constexpr int64_t kMostChannels = 2048;  // whose ranges a page still shows
constexpr uint64_t kNpyHeader = 128;
constexpr uint64_t kTextShare = 4;  // a number as text takes so many times its four bytes at most

using Tensors = std::map<std::string, Tensor, std::less<>>;

// In even bins from the least to the largest golden value; what lies outside counts at the ends.
std::vector<uint64_t> histogram_of(std::span<const float> values, const Layer& layer) {
  std::vector<uint64_t> out(kBins);
  const double bin = (double{layer.seen_max} - layer.seen_min) / kBins;
  for (const float x : values) {
    const double place = bin > 0 ? (double{x} - layer.seen_min) / bin : 0;
    if (!std::isfinite(place)) continue;
    ++out[static_cast<size_t>(std::clamp<double>(place, 0, kBins - 1))];
  }
  return out;
}

void describe_values(const Value& value, const Tensor& golden, Layer& layer) {
  layer.is_float = !value.quantized();
  layer.low = -kMaxF16;
  layer.high = kMaxF16;
  if (value.quantized()) {
    const float scale = value.quant.scale[0];
    const int32_t zero = value.quant.zero_point.empty() ? 0 : value.quant.zero_point[0];
    const size_t bits = 8 * byte_size(value.quant.dtype);
    const double levels = std::exp2(static_cast<double>(bits));
    const double least = value.quant.dtype == DType::kU8 ? 0 : -levels / 2;
    layer.low = static_cast<float>(scale * (least - zero));
    layer.high = static_cast<float>(scale * (least + levels - 1 - zero));
  }
  const auto values = golden.span<float>();
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  layer.seen_min = *low;
  layer.seen_max = *high;
  layer.histogram = histogram_of(values, layer);
  const double half_step = layer.is_float ? 0 : (double{layer.high} - layer.low) / 510;
  const auto outside = std::ranges::count_if(
      values, [&](float x) { return x < layer.low - half_step || x > layer.high + half_step; });
  layer.saturated = static_cast<double>(outside) / static_cast<double>(values.size());
  const Shape& shape = golden.shape();
  if (shape.rank() != 4 || shape[0] != 1 || shape[1] > kMostChannels) return;
  const auto plane = static_cast<size_t>(shape[2] * shape[3]);
  for (size_t c = 0; c < static_cast<size_t>(shape[1]); ++c) {
    const auto [least, most] = std::ranges::minmax(values.subspan(c * plane, plane));
    layer.channel_ranges.emplace_back(least, most);
  }
}

// The folders of one analysis. Without output_dir only the simulator's tensors are kept, for as long as it takes.
struct Folders {
  std::optional<TensorFolder> golden;
  std::optional<TensorFolder> single;
  TensorFolder simulator;
  std::optional<TensorFolder> board;
};

// One file per layer and folder.
uint64_t bytes_to_write(const Graph& graph, uint64_t folders) {
  uint64_t bytes = 0;
  for (const Value* value : graph.values()) {
    if (value->is_constant() || value->dtype() != DType::kF32) continue;
    bytes += static_cast<uint64_t>(value->shape().elements()) * sizeof(float) + kNpyHeader;
  }
  return bytes * folders;
}

Result<Folders> make_folders(const Graph& graph, const AccuracyOptions& options) {
  const bool has_board = options.has_board();
  if (options.output_dir.empty()) {
    RK_ASSIGN(TensorFolder simulator, TensorFolder::temporary());
    Folders out{{}, {}, std::move(simulator), {}};
    if (has_board) {
      RK_ASSIGN(TensorFolder board, TensorFolder::temporary());
      out.board.emplace(std::move(board));
    }
    return out;
  }
  const std::filesystem::path folder = options.output_dir;
  RK_ASSIGN(TensorFolder golden, TensorFolder::make(folder / "golden"));
  RK_TRY(check_space(folder, bytes_to_write(graph, kTextShare + (has_board ? 4 : 3))));
  RK_ASSIGN(TensorFolder simulator, TensorFolder::make(folder / "simulator"));
  RK_ASSIGN(TensorFolder single, TensorFolder::make(folder / "simulator_single"));
  Folders out{std::move(golden), std::move(single), std::move(simulator), {}};
  if (has_board) {
    RK_ASSIGN(TensorFolder board, TensorFolder::make(folder / "runtime"));
    out.board.emplace(std::move(board));
  }
  return out;
}

class Analysis {
 public:
  Analysis(const Subject& subject, const target::Target& target, const AccuracyOptions& options,
           Folders folders)
      : subject_(subject),
        options_(options),
        tails_(subject.quantized, target, subject.compile),
        folders_(std::move(folders)) {
    report_.has_board = folders_.board.has_value();
    const program::Variant& variant = subject.program.main_variant();
    for (const program::Step& step : variant.steps) {
      for (const int32_t tensor : step.outputs) {
        if (tensor >= 0) type_of_[variant.tensors[static_cast<size_t>(tensor)].name] = step.type;
      }
    }
  }

  // What the Program stores, whole: from here on in files.
  Status run_programs(const std::vector<Tensor>& raw_inputs) {
    const auto keep_in = [this](TensorFolder& folder) {
      return [this, &folder](const std::string& name, const Tensor& tensor) -> Status {
        const Value* value = subject_.golden.find(name);
        if (value == nullptr || value->is_constant()) return ok_status();
        return folder.put(file_of(*value), tensor);
      };
    };
    RK_TRY(simulate(subject_.program, subject_.golden.registry(), raw_inputs,
                    keep_in(folders_.simulator)));
    if (!folders_.board) return ok_status();
    if (options_.run_board)
      return options_.run_board(subject_.program, raw_inputs, keep_in(*folders_.board));
    RK_ASSIGN(auto model,
              runtime::LoadedModel::from_bytes(
                  options_.board, {.device = {}, .operators = &subject_.golden.registry()}));
    return simulate(std::move(model), raw_inputs, keep_in(*folders_.board));
  }

  // Called in execution order, as the evaluator computes the values.
  Status see(const Value& value, const Tensor& tensor) {
    live_[value.name()] = tensor;
    const Node* node = value.producer();
    if (node == nullptr) return add_input(value, tensor);
    if (&value != node->outputs().back()) return ok_status();
    RK_TRY(add_node(*node));
    release(*node);
    ++done_;
    if (options_.progress && !options_.progress(done_, subject_.golden.node_count()))
      return Status(Code::kCancelled, "accuracy_analysis was cancelled");
    return ok_status();
  }

  Result<AccuracyReport> finish() {
    for (const Layer& layer : report_.layers) {
      const Value* value = subject_.golden.find(layer.name);
      if (value != nullptr && subject_.golden.is_output(*value) && layer.entire)
        report_.outputs.push_back(*layer.entire);
      if (layer.is_float && layer.saturated > 0) {
        report_.findings.push_back(str("'", layer.name, "' exceeds the range of float16: it holds ",
                                       layer.seen_min, " .. ", layer.seen_max, ", float16 ends at ",
                                       kMaxF16,
                                       ". Scale the model down before it, or quantize this layer"));
      }
    }
    if (folders_.golden) {
      const std::string text = names_.map_text();
      RK_TRY(
          write_file((std::filesystem::path(options_.output_dir) / "map_name_to_file.txt").string(),
                     std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size())));
    }
    return std::move(report_);
  }

 private:
  // An input's own file holds it as given; what the chip makes of it has a file of its own.
  std::string file_of(const Value& value) {
    return names_.of(value.producer() == nullptr ? stored_name(value) : value.name());
  }
  std::string stored_name(const Value& value) const {
    const Value* quantized = subject_.quantized.find(value.name());
    return quantized != nullptr && quantized->quantized()
               ? str(value.name(), "_", quantized->quant.dtype == DType::kI16 ? "int16" : "int8")
               : value.name();
  }

  // Scripts written for the vendor's snapshot folder read the golden values as text.
  Status put_golden(const std::string& file, const Tensor& tensor) {
    RK_TRY(folders_.golden->put(file, tensor));
    return folders_.golden->put_text(file, tensor);
  }

  Status add_input(const Value& value, const Tensor& tensor) {
    if (tensor.dtype() != DType::kF32) return ok_status();
    const std::string stored = stored_name(value);
    if (stored != value.name()) {
      Layer as_given;
      as_given.type = "Input";
      as_given.name = value.name();
      as_given.entire = as_given.single = compare(tensor.span<float>(), tensor.span<float>());
      if (report_.has_board) as_given.board_entire = as_given.board_single = as_given.entire;
      as_given.is_float = true;
      const std::string& file = names_.of(value.name());
      if (folders_.golden) {
        RK_TRY(put_golden(file, tensor));
        RK_TRY(folders_.simulator.put(file, tensor));
        RK_TRY(folders_.single->put(file, tensor));
      }
      report_.layers.push_back(std::move(as_given));
    }
    // The conversion is the input's only error, so what accumulated and its own are the same.
    RK_ASSIGN(const auto got, folders_.simulator.get(file_of(value)));
    Tensors single;
    if (got) single[value.name()] = *got;
    return add_layer(value, stored == value.name() ? "Input" : "exDataConvert", stored, single);
  }

  // The node of the graph that was compiled; null: it has none.
  const Node* compiled(const Node& node) const {
    const Value* counterpart = subject_.quantized.find(node.output().name());
    return counterpart == nullptr ? nullptr : counterpart->producer();
  }
  // What the chip computes in the step of a later node stores nothing.
  bool joins_later(const Node& node) const {
    const Node* const own = compiled(node);
    return own != nullptr && tails_.joins_later(*own);
  }

  Status add_node(const Node& node) {
    const Node* const own = compiled(node);
    Tensors single;
    if (own != nullptr && !tails_.joins_later(*own)) {
      RK_TRY(simulate_alone(
                 subject_.quantized, tails_.parts_of(*own), subject_.compile,
                 [this](const Value& value) -> const Tensor& { return live_.at(value.name()); },
                 [&](const std::string& name, const Tensor& tensor) {
                   single[name] = tensor;
                   return ok_status();
                 })
                 .with_context(node.label()));
    }
    for (const Value* output : node.outputs()) {
      const auto type = type_of_.find(output->name());
      RK_TRY(add_layer(*output, type == type_of_.end() ? std::string(node.op()) : type->second,
                       output->name(), single));
      find_vanished_operand(node, *output);
    }
    return ok_status();
  }

  // What makes a logarithm or a quotient infinite: float16 has rounded an epsilon to 0.
  void find_vanished_operand(const Node& node, const Value& output) {
    if (report_.layers.empty() || report_.layers.back().name != output.name()) return;
    const Layer& layer = report_.layers.back();
    const bool golden_is_finite = std::isfinite(layer.seen_min) && std::isfinite(layer.seen_max);
    if (!layer.is_float || layer.saturated > 0 || !golden_is_finite || !layer.single ||
        std::isfinite(layer.single->euclidean)) {
      return;
    }
    for (const Value* input : node.inputs()) {
      if (input == nullptr || input->is_constant()) continue;
      const Tensor& values = live_.at(input->name());
      if (values.dtype() != DType::kF32) continue;
      const auto vanished = std::ranges::find_if(values.span<float>(), [](float x) {
        return x != 0 && half_to_float(float_to_half(x)) == 0;
      });
      if (vanished == values.span<float>().end()) continue;
      report_.findings.push_back(
          str("'", layer.name, "' becomes infinite or NaN: its operand '", input->name(),
              "' holds ", *vanished,
              ", which float16 rounds to 0 (its smallest number is 6e-08). Use a larger "
              "epsilon in the model, or end the model before this layer"));
      return;
    }
  }

  Status add_layer(const Value& value, std::string type, const std::string& name,
                   const Tensors& single) {
    const Tensor& want = live_.at(value.name());
    if (want.dtype() != DType::kF32) return ok_status();
    const Value* counterpart = subject_.quantized.find(value.name());
    Layer layer;
    layer.type = std::move(type);
    layer.name = name;
    if (value.producer() != nullptr && subject_.golden.is_output(value)) {
      const std::string stored = stored_name(value);
      if (stored != name) layer.stored_name = stored;
    }
    describe_values(counterpart != nullptr ? *counterpart : value, want, layer);
    const std::string file = file_of(value);
    RK_ASSIGN(const auto got, folders_.simulator.get(file));
    if (got) layer.entire = compare(want.span<float>(), got->span<float>());
    if (got && !layer.histogram.empty())
      layer.stored_histogram = histogram_of(got->span<float>(), layer);
    const auto alone = single.find(value.name());
    if (alone != single.end())
      layer.single = compare(want.span<float>(), alone->second.span<float>());
    if (folders_.board) {
      RK_ASSIGN(const auto board, folders_.board->get(file));
      if (board) layer.board_entire = compare(want.span<float>(), board->span<float>());
      if (board && got) layer.board_single = compare(got->span<float>(), board->span<float>());
    }
    if (folders_.golden) {
      RK_TRY(put_golden(file, want));
      if (layer.single) RK_TRY(folders_.single->put(file, alone->second));
    }
    report_.layers.push_back(std::move(layer));
    return ok_status();
  }

  // What a joined node reads is needed until its step was simulated.
  void release(const Node& node) {
    if (joins_later(node)) return;
    const Node* const own = compiled(node);
    if (own == nullptr) return release_inputs(node);
    for (const Node* const part : tails_.parts_of(*own)) {
      const Value* const golden = subject_.golden.find(part->output().name());
      if (golden != nullptr && golden->producer() != nullptr) release_inputs(*golden->producer());
    }
  }

  // Tensors share their bytes with the evaluator's, so holding one costs something only if it outlives that.
  void release_inputs(const Node& node) {
    for (const Value* input : node.inputs()) {
      if (input == nullptr || input->is_constant()) continue;
      if (++uses_[input] == input->uses().size()) live_.erase(input->name());
    }
    for (const Value* output : node.outputs()) {
      if (output->uses().empty()) live_.erase(output->name());
    }
  }

  const Subject& subject_;
  const AccuracyOptions& options_;
  const compiler::ConvTails tails_;
  Folders folders_;
  FileNames names_;
  std::map<std::string, std::string, std::less<>> type_of_;
  Tensors live_;
  std::map<const Value*, size_t> uses_;
  size_t done_ = 0;
  AccuracyReport report_;
};

}  // namespace

double worst_cosine(const std::vector<Errors>& outputs) {
  double worst = 1;
  for (const Errors& output : outputs) worst = std::min(worst, output.cosine);
  return worst;
}

double AccuracyReport::worst_output_cosine() const { return worst_cosine(outputs); }

Result<AccuracyReport> analyze(const Subject& subject, const TrialInput& input,
                               const AccuracyOptions& options, ThreadPool* pool) {
  RK_ASSIGN(Folders folders, make_folders(subject.golden, options));
  RK_ASSIGN(const target::Target* const target, target::find_target(subject.compile.target));
  Analysis analysis(subject, *target, options, std::move(folders));
  RK_TRY(analysis.run_programs(input.raw));
  RK_TRY(
      evaluator::evaluate(subject.golden, input.normalized,
                          {pool, [&](const Value& value, const Tensor& tensor,
                                     const FiniteRange&) { return analysis.see(value, tensor); }})
          .status());
  return analysis.finish();
}

Result<std::vector<Errors>> output_errors(const std::vector<Tensor>& golden,
                                          const program::Program& program,
                                          const OpRegistry& operators,
                                          const std::vector<Tensor>& raw_inputs) {
  const program::Variant& variant = program.main_variant();
  Tensors found;
  RK_TRY(
      simulate(program, operators, raw_inputs, [&](const std::string& name, const Tensor& tensor) {
        const bool is_output = std::ranges::any_of(variant.outputs, [&](int32_t output) {
          return variant.tensors[static_cast<size_t>(output)].name == name;
        });
        if (is_output) found[name] = tensor;
        return ok_status();
      }));
  std::vector<Errors> out;
  for (size_t i = 0; i < std::min(golden.size(), variant.outputs.size()); ++i) {
    const auto it = found.find(variant.tensors[static_cast<size_t>(variant.outputs[i])].name);
    if (it == found.end() || golden[i].dtype() != DType::kF32) continue;
    out.push_back(compare(golden[i].span<float>(), it->second.span<float>()));
  }
  return out;
}

}  // namespace rk::analysis
