// SPDX-License-Identifier: Apache-2.0
#include "passes/prune_channels.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <unordered_map>

namespace rk::passes {
namespace {

using Channels = std::vector<bool>;
using KeptChannels = std::map<const Value*, Channels>;  // of the values that lose some

bool is_plain_conv(const Node& node) {
  if (node.op() != "Conv" && node.op() != "FusedConv") return false;
  const Value& w = node.input(1);
  const bool constant = w.is_constant() && w.dtype() == DType::kF32 && !w.quantized() &&
                        (!node.has_input(2) || node.input(2).is_constant());
  return constant && w.shape().rank() == 4 && !node.has_input(3);
}

bool is_depthwise(const Node& conv) {
  const Shape& w = conv.input(1).shape();
  return conv.i64("group") > 1 && conv.i64("group") == w[0] && w[1] == 1;
}

// f(0) = 0.
bool keeps_zero(const Node& node) {
  if (node.op() == "FusedConv") {
    for (const std::string_view attr : {"activation", "post_activation"}) {
      const std::string& text = node.text(attr);
      const bool clips_at_zero =
          text == "Clip" && node.f32("clip_min") <= 0 && node.f32("clip_max") >= 0;
      if (!text.empty() && text != "Relu" && !clips_at_zero) return false;
    }
    return true;
  }
  constexpr std::string_view kOps[] = {"Conv",          "Relu",        "LeakyRelu",
                                       "MaxPool",       "AveragePool", "GlobalAveragePool",
                                       "GlobalMaxPool", "Tanh",        "HardSwish"};
  return std::ranges::find(kOps, node.op()) != std::end(kOps);
}

bool keeps_channels(const Node& node) {
  constexpr std::string_view kPools[] = {"MaxPool", "AveragePool", "GlobalAveragePool",
                                         "GlobalMaxPool"};
  return (node.def().elements == Elements::kUnary && node.input_count() == 1) ||
         std::ranges::find(kPools, node.op()) != std::end(kPools);
}

// Everything that counts the channels of one convolution's result.
struct Chain {
  std::vector<const Value*> values;
  std::vector<const Node*> depthwise;
  std::vector<const Node*> readers;
  bool zero_stays = true;
};

bool follow(const Graph& graph, const Value& value, Chain& chain) {
  if (graph.is_output(value) || value.uses().empty()) return false;
  chain.values.push_back(&value);
  for (const Use& use : value.uses()) {
    const Node& node = *use.node;
    if (use.index != 0) return false;
    if (is_plain_conv(node) && node.i64("group") == 1) {
      chain.readers.push_back(&node);
      continue;
    }
    const bool depthwise = is_plain_conv(node) && is_depthwise(node);
    if (node.output_count() != 1 || (!depthwise && !keeps_channels(node))) return false;
    if (depthwise) chain.depthwise.push_back(&node);
    chain.zero_stays = chain.zero_stays && keeps_zero(node);
    if (!follow(graph, node.output(), chain)) return false;
  }
  return true;
}

Channels zero_rows(const Node& conv) {
  const Tensor& w = conv.input(1).constant();
  const auto rows = static_cast<size_t>(w.shape()[0]);
  const size_t length = static_cast<size_t>(w.elements()) / rows;
  Channels out(rows, true);
  const auto values = w.span<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) out[i / length] = false;
  }
  return out;
}

Channels zero_columns(const Node& conv) {
  const Tensor& w = conv.input(1).constant();
  const auto columns = static_cast<size_t>(w.shape()[1]);
  const auto taps = static_cast<size_t>(w.shape()[2] * w.shape()[3]);
  Channels out(columns, true);
  const auto values = w.span<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) out[i / taps % columns] = false;
  }
  return out;
}

bool has_zero_bias(const Node& conv, size_t channel) {
  return !conv.has_input(2) || conv.input(2).constant().at_f64(static_cast<int64_t>(channel)) == 0;
}

// The channels to keep of a convolution's result; nothing where all stay.
std::optional<Channels> kept_channels(const Node& conv, const Chain& chain) {
  const Channels zero = zero_rows(conv);
  Channels keep(zero.size(), true);
  std::vector<Channels> unread;
  for (const Node* reader : chain.readers) unread.push_back(zero_columns(*reader));
  for (size_t c = 0; c < keep.size(); ++c) {
    const bool dead =
        zero[c] && has_zero_bias(conv, c) && chain.zero_stays && keeps_zero(conv) &&
        std::ranges::all_of(chain.depthwise, [&](const Node* n) { return has_zero_bias(*n, c); });
    const bool unused =
        std::ranges::all_of(unread, [&](const Channels& zeros) { return zeros[c]; });
    keep[c] = !dead && !unused;
  }
  if (std::ranges::all_of(keep, [](bool k) { return k; })) return std::nullopt;
  if (std::ranges::none_of(keep, [](bool k) { return k; })) keep[0] = true;
  if (std::ranges::all_of(keep, [](bool k) { return k; })) return std::nullopt;
  return keep;
}

int64_t count(const Channels& keep) { return std::ranges::count(keep, true); }

// The kept indices of one axis of a constant.
Tensor sliced(const Tensor& from, int axis, const Channels& keep) {
  Shape shape = from.shape();
  const auto extent = static_cast<size_t>(shape[axis]);
  size_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<size_t>(shape[i]);
  shape[axis] = count(keep);
  std::vector<float> values;
  const auto all = from.span<float>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (keep[i / inner % extent]) values.push_back(all[i]);
  }
  return Tensor::f32(shape, values);
}

class Rebuilder {
 public:
  Rebuilder(const Graph& from, const KeptChannels& kept)
      : from_(from), kept_(kept), to_(from.registry()) {}

  Result<Graph> run() {
    to_.name = from_.name;
    for (const Value* input : from_.inputs()) {
      RK_ASSIGN(Value* const made, to_.add_input(input->name(), input->type()));
      take_over(*input, *made);
    }
    for (const Node* node : from_.nodes()) RK_TRY(copy(*node));
    for (const Value* output : from_.outputs()) RK_TRY(to_.add_output(made_.at(output)));
    return std::move(to_);
  }

 private:
  void take_over(const Value& from, Value& to) {
    to.quant = from.quant;
    made_[&from] = &to;
  }
  const Channels* kept(const Value& value) const {
    const auto it = kept_.find(&value);
    return it == kept_.end() ? nullptr : &it->second;
  }

  Value* constant(const Node& node, size_t input) {
    const Value& value = node.input(input);
    Tensor tensor = value.constant();
    const bool conv = node.op() == "Conv" || node.op() == "FusedConv";
    const Channels* rows = conv && input <= 2 ? kept(node.output()) : nullptr;
    const Channels* columns =
        conv && input == 1 && !is_depthwise(node) ? kept(node.input(0)) : nullptr;
    if (rows == nullptr && columns == nullptr) {
      Value*& made = made_[&value];
      if (made == nullptr) {
        made = to_.add_constant(value.name(), std::move(tensor));
        made->quant = value.quant;
      }
      return made;
    }
    if (rows != nullptr) tensor = sliced(tensor, 0, *rows);
    if (columns != nullptr) tensor = sliced(tensor, 1, *columns);
    return to_.add_constant(value.name(), std::move(tensor));
  }

  Status copy(const Node& node) {
    NodeSpec spec{std::string(node.op()), node.name(), {}, {}, node.attrs()};
    for (size_t i = 0; i < node.input_count(); ++i) {
      Value* made = nullptr;
      if (node.has_input(i))
        made = node.input(i).is_constant() ? constant(node, i) : made_.at(&node.input(i));
      spec.inputs.push_back(made);
    }
    for (const Value* output : node.outputs()) spec.outputs.push_back(output->name());
    const bool conv = node.op() == "Conv" || node.op() == "FusedConv";
    if (conv && is_depthwise(node) && kept(node.output()) != nullptr)
      spec.attrs.insert_or_assign("group", count(*kept(node.output())));
    RK_ASSIGN(Node* const added, to_.add_node(std::move(spec)));
    for (size_t i = 0; i < node.output_count(); ++i) take_over(node.output(i), added->output(i));
    return ok_status();
  }

  const Graph& from_;
  const KeptChannels& kept_;
  Graph to_;
  std::unordered_map<const Value*, Value*> made_;
};

double weight_mb(const Graph& graph) {
  double bytes = 0;
  for (const Value* value : graph.values()) {
    if (value->is_constant() && value->dtype() == DType::kF32)
      bytes += 4.0 * static_cast<double>(value->shape().elements());
  }
  return bytes / 1e6;
}

double gflops(const Graph& graph) {
  double macs = 0;
  for (const Node* node : graph.nodes()) {
    if (node->def().cost != nullptr) macs += static_cast<double>(node->def().cost(*node).macs);
  }
  return 2 * macs / 1e9;
}

KeptChannels find_kept(const Graph& graph) {
  KeptChannels out;
  for (const Node* node : graph.nodes()) {
    Chain chain;
    if (!is_plain_conv(*node) || node->i64("group") != 1) continue;
    if (!follow(graph, node->output(), chain)) continue;
    const auto keep = kept_channels(*node, chain);
    if (!keep) continue;
    for (const Value* value : chain.values) out[value] = *keep;
  }
  return out;
}

}  // namespace

Result<PruneReport> prune_channels(Graph& graph) {
  PruneReport out;
  out.weight_mb_before = weight_mb(graph);
  out.gflops_before = gflops(graph);
  // A channel that goes may leave others unread.
  for (;;) {
    const KeptChannels kept = find_kept(graph);
    if (kept.empty()) break;
    for (const auto& [value, keep] : kept) {
      const Node* node = value->producer();
      const bool counted =
          (node->op() == "Conv" || node->op() == "FusedConv") && !is_depthwise(*node);
      if (counted) out.channels += keep.size() - static_cast<size_t>(count(keep));
    }
    RK_ASSIGN(Graph smaller, Rebuilder(graph, kept).run());
    graph = std::move(smaller);
  }
  RK_TRY(verify(graph));
  out.weight_mb_after = weight_mb(graph);
  out.gflops_after = gflops(graph);
  return out;
}

std::string to_text(const PruneReport& report) {
  if (report.channels == 0) return "";
  const auto share = [](double before, double after) {
    return before > 0 ? 100 * (after - before) / before : 0.0;
  };
  char text[256];
  std::snprintf(text, sizeof text,
                "model_pruning results:\n    Weight: %.5f MB (%.1f%%)\n    GFLOPs: %.5f (%.1f%%)",
                report.weight_mb_after - report.weight_mb_before,
                share(report.weight_mb_before, report.weight_mb_after),
                report.gflops_after - report.gflops_before,
                share(report.gflops_before, report.gflops_after));
  return text;
}

}  // namespace rk::passes
