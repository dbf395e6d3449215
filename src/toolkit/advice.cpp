// SPDX-License-Identifier: Apache-2.0
#include "toolkit/advice.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "program/cost.h"

namespace rk::toolkit {
namespace {

using program::Processor;
using program::Step;
using program::StepCost;
using target::ConvGeometry;

// Weights of one output channel beyond this many bytes multiply less efficiently (guide, section 8.5.2).
constexpr int64_t kLargeKernelBytes = 6 * 1024;
constexpr int64_t kFewPixels = 16;
// Gains below this share of a frame are not worth a line.
constexpr double kLeastShare = 0.001;

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

class Adviser {
 public:
  Adviser(const target::Target& target, const program::Variant& variant)
      : target_(target), variant_(variant), cost_(program::cost_of(target, variant, {})) {}

  AdviceReport report() {
    for (size_t i = 0; i < variant_.steps.size(); ++i) {
      const Step& step = variant_.steps[i];
      const StepCost& cost = cost_.steps[i];
      if (step.processor != Processor::kNpu) {
        advise_on_fall_back(step, cost);
      } else if (const auto geometry = program::conv_geometry(variant_, step)) {
        advise_on_conv(step, cost, *geometry);
      } else {
        advise_on_mover(step, cost);
      }
    }
    advise_on_cores();
    std::ranges::stable_sort(
        report_.items, [](const Advice& a, const Advice& b) { return a.gain_us > b.gain_us; });
    report_.chip = std::string(target_.name);
    report_.us = cost_.us;
    return std::move(report_);
  }

 private:
  void add(const Step& step, std::string found, std::string change, double gain_us) {
    if (gain_us < kLeastShare * cost_.us) return;
    const auto index = static_cast<int32_t>(&step - variant_.steps.data());
    report_.items.push_back({index, step.name, std::move(found), std::move(change), gain_us});
  }

  double conv_us(const ConvGeometry& geometry) const {
    return target::counted_us(target_, target::conv_cost(target_, geometry));
  }

  void advise_on_fall_back(const Step& step, const StepCost& cost) {
    const double read = static_cast<double>(cost.counted.read_bytes) / 1048576;
    const double on_npu = target_.time.us_per_step + 1000 * target_.time.move_ms_per_mb * read;
    add(step, str(step.type, " runs on the CPU"),
        "use an operator, type or size that the NPU takes (docs/operators.md), or end the model "
        "before it",
        cost.us - on_npu);
  }

  void advise_on_mover(const Step& step, const StepCost& cost) {
    if (is_one_of(step.type, {"Transpose", "Reshape", "Split", "Concat", "Resize", "Tile", "Pad",
                              "Slice", "MaxPool", "AveragePool"})) {
      add(step, str(step.type, " only moves data"), "do without it, or do it once instead of often",
          cost.us);
    } else if (is_one_of(step.type, {"Sigmoid", "Tanh", "Softplus", "HardSwish", "HardSigmoid",
                                     "Elu", "exSwish", "exGelu", "exMish"})) {
      add(step, str(step.type, " is looked up in a table"), "use Relu", cost.us);
    }
  }

  void advise_on_conv(const Step& step, const StepCost& cost, const ConvGeometry& g) {
    const bool i8 = g.dtype == DType::kI8;
    const bool depthwise = g.group > 1 && g.group == g.in_channels;
    const double now = conv_us(g);
    if (!depthwise && g.group == 1) {
      const target::CostModel& model = target_.cost;
      advise_on_channels(step, g, now, i8 ? model.output_lanes_i8 : model.output_lanes_f16,
                         i8 ? model.input_lanes_i8 : model.input_lanes_f16);
    }
    const int64_t taps = g.kernel_h * g.kernel_w;
    const int64_t bytes = taps * g.in_channels / std::max<int64_t>(1, g.group) * (i8 ? 1 : 2);
    if (taps > 9 && (bytes > kLargeKernelBytes || depthwise)) {
      ConvGeometry small = g;
      small.kernel_h = small.kernel_w = 3;
      const auto layers = static_cast<double>((std::max(g.kernel_h, g.kernel_w) - 1) / 2);
      add(step,
          str("kernel ", g.kernel_h, "x", g.kernel_w, ", ", bytes, " bytes per output channel"),
          str("use ", layers, " layers of 3x3 in its place"), now - layers * conv_us(small));
    }
    if (g.out_h > 2 * g.out_w && cost.counted.memory_bound()) {
      // Rows of few pixels are read in bursts that are not full; what a wide shape saves at most is the wait for memory.
      const auto waits = static_cast<double>(cost.counted.ddr_cycles);
      add(step, str("tall: ", g.out_h, " rows of ", g.out_w, " pixels, waits for memory"),
          "exchange height and width; the gain is at most this",
          target_.time.ddr_factor * waits / std::max(target_.time.npu_mhz, 1));
    }
    if (g.out_h * g.out_w < kFewPixels && g.out_h * g.out_w > 1) {
      ConvGeometry full = g;
      full.out_h = 1;
      full.out_w = kFewPixels;
      const double part = static_cast<double>(g.out_h * g.out_w) / kFewPixels;
      add(step,
          str("only ", g.out_h * g.out_w, " output pixels, ", kFewPixels,
              " are multiplied at a time"),
          "keep the picture larger and the channels fewer here", now - part * conv_us(full));
    }
    // What the step takes beyond its multiplications and memory is the table's.
    add(step, str(step.type, " looks its activation up in a table"), "use Relu", cost.us - now);
  }

  void advise_on_channels(const Step& step, const ConvGeometry& g, double now, int64_t out_lanes,
                          int64_t in_lanes) {
    const int64_t out_rest = out_lanes == 0 ? 0 : g.out_channels % out_lanes;
    if (out_rest != 0 && g.out_channels > out_lanes) {
      ConvGeometry fewer = g;
      fewer.out_channels -= out_rest;
      add(step, str(g.out_channels, " output channels, ", out_lanes, " are computed at a time"),
          str("use ", fewer.out_channels, ", or ", fewer.out_channels + out_lanes, " at no cost"),
          now - conv_us(fewer));
    }
    const int64_t in_rest = in_lanes == 0 ? 0 : g.in_channels % in_lanes;
    if (in_rest != 0 && g.in_channels > in_lanes) {
      ConvGeometry fewer = g;
      fewer.in_channels -= in_rest;
      add(step, str(g.in_channels, " input channels, ", in_lanes, " are multiplied at a time"),
          str("use ", fewer.in_channels, ", or ", fewer.in_channels + in_lanes, " at no cost"),
          now - conv_us(fewer));
    }
  }

  void advise_on_cores() {
    for (int cores = 2; cores <= target_.npu_cores; ++cores) {
      const double us = program::cost_of(target_, variant_, {.cores = cores}).us;
      const bool gains = us < cost_.us;
      report_.items.push_back(
          {program::kNone, "model",
           str("one core takes ", std::llround(cost_.us), " us, ", cores, " cores ",
               std::llround(us), " us"),
           gains ? str("set a core mask of ", cores, " cores where latency matters")
                 : str("stay on one core: switching costs more than ", cores, " cores gain"),
           cost_.us - us});
    }
  }

  const target::Target& target_;
  const program::Variant& variant_;
  program::ProgramCost cost_;
  AdviceReport report_;
};

}  // namespace

AdviceReport advise(const target::Target& target, const program::Variant& variant) {
  return Adviser(target, variant).report();
}

std::vector<std::string> by_step(const AdviceReport& report, size_t steps) {
  std::vector<std::string> lines(steps);
  for (const Advice& item : report.items) {
    if (item.step == program::kNone || static_cast<size_t>(item.step) >= steps) continue;
    std::string& line = lines[static_cast<size_t>(item.step)];
    if (line.empty())
      line = str(item.found, "; ", item.change, " (-", std::llround(item.gain_us), " us)");
  }
  return lines;
}

std::string to_text(const AdviceReport& report, size_t most) {
  std::ostringstream out;
  out << report.chip << ": " << std::llround(report.us) << " us a frame on one core\n";
  const size_t shown = std::min(most, report.items.size());
  for (size_t i = 0; i < shown; ++i) {
    const Advice& item = report.items[i];
    const double share = report.us > 0 ? 100 * item.gain_us / report.us : 0;
    out << std::setw(8) << std::llround(item.gain_us) << " us " << std::setw(5) << std::fixed
        << std::setprecision(1) << share << " %  " << item.layer << ": " << item.found << "; "
        << item.change << "\n";
  }
  if (shown < report.items.size())
    out << report.items.size() - shown << " further items gain less (--all lists them)\n";
  if (report.items.empty()) out << "nothing found\n";
  return out.str();
}

}  // namespace rk::toolkit
