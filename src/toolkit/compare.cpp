// SPDX-License-Identifier: Apache-2.0
// The built model against the float model over many samples, and the float model against outputs that the original
// framework gave.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>

#include "analysis/simulate.h"
#include "evaluator/evaluate.h"
#include "toolkit/board.h"
#include "toolkit/config_check.h"
#include "toolkit/state.h"

namespace rk::toolkit {
namespace {

// One class number per sample.
Result<std::vector<int64_t>> read_labels(const std::string& path) {
  if (path.ends_with(".npy")) {
    RK_ASSIGN(const Tensor labels, quant::load_npy_tensor(path));
    return labels.to_i64();
  }
  std::ifstream file(path);
  if (!file) return io_error(str("'", path, "': cannot open the labels"));
  std::vector<int64_t> out;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    int64_t label = 0;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (!(words >> label)) {
      return invalid_argument(
          str("'", path, "', line ", out.size() + 1, ": '", line, "' is not a class number"));
    }
    out.push_back(label);
  }
  return out;
}

int64_t best_class(std::span<const float> values) {
  return std::ranges::max_element(values) - values.begin();
}

// A Program that stays loaded for many inputs, here or on a device.
class BuiltModel {
 public:
  static Result<BuiltModel> here(program::Program program, const OpRegistry& operators) {
    BuiltModel out;
    RK_ASSIGN(out.model_, runtime::LoadedModel::from_program(
                              std::move(program), {.device = {}, .operators = &operators}));
    return out;
  }
  static Result<BuiltModel> on_device(program::Program program, const std::string& id) {
    BuiltModel out;
    RK_ASSIGN(const remote::Device device, remote::find_device(id));
    RK_ASSIGN(DeviceProgram there,
              DeviceProgram::open(std::move(program), DeviceProgram::Outputs::kOwn, device));
    out.device_.emplace(std::move(there));
    return out;
  }
  Result<std::map<std::string, Tensor>> run(const std::vector<Tensor>& raw) {
    std::map<std::string, Tensor> out;
    const auto keep = [&](const std::string& name, const Tensor& tensor) {
      if (device_ || is_output(name)) out[name] = tensor;
      return ok_status();
    };
    RK_TRY(device_ ? device_->run(raw, keep) : analysis::simulate(model_, raw, keep));
    return out;
  }

 private:
  BuiltModel() = default;
  bool is_output(const std::string& name) const {
    const program::Variant& variant = model_->variant();
    return std::ranges::any_of(variant.outputs, [&](int32_t i) {
      return variant.tensors[static_cast<size_t>(i)].name == name;
    });
  }
  std::shared_ptr<const runtime::LoadedModel> model_;
  std::optional<DeviceProgram> device_;
};

// ||found - wanted|| / ||wanted||.
double relative_error(std::span<const float> wanted, std::span<const float> found) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    error += (double{wanted[i]} - found[i]) * (double{wanted[i]} - found[i]);
    norm += double{wanted[i]} * wanted[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

// The same elements as if the bytes had been [N,H,W,C] where [N,C,H,W] is meant.
Tensor nhwc_taken_as_nchw(const Tensor& x) {
  const Shape& s = x.shape();
  Tensor out = Tensor::make(x.type());
  const int64_t channels = s[1], pixels = s[2] * s[3];
  for (int64_t n = 0; n < s[0]; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < pixels; ++i) {
        const int64_t base = n * channels * pixels;
        out.mutable_data<float>()[base + i * channels + c] = x.data<float>()[base + c * pixels + i];
      }
    }
  }
  return out;
}

Tensor red_blue_swapped(const Tensor& x) {
  const Shape& s = x.shape();
  Tensor out = x.clone();
  const int64_t plane = s[2] * s[3];
  for (int64_t n = 0; n < s[0]; ++n) {
    float* picture = out.mutable_data<float>() + n * s[1] * plane;
    std::swap_ranges(picture, picture + plane, picture + 2 * plane);
  }
  return out;
}

Tensor divided(const Tensor& x, float by) {
  Tensor out = x.clone();
  for (int64_t i = 0; i < out.elements(); ++i) out.mutable_data<float>()[i] /= by;
  return out;
}

// Ways in which the original framework may have been fed differently.
struct Slip {
  std::string text;
  std::function<Tensor(const Tensor& raw, const quant::InputFeed& feed)> input;
};

Tensor normalized(const Tensor& raw, const quant::InputFeed& feed, int times) {
  Tensor out = raw.clone();
  for (int i = 0; i < times; ++i) quant::normalize(out, feed);
  return out;
}

std::vector<Slip> slips(bool three_channels, bool is_picture_shaped) {
  using Feed = quant::InputFeed;
  std::vector<Slip> out = {
      {"", [](const Tensor& x, const Feed& f) { return normalized(x, f, 1); }},
      {"mean and std were not applied there",
       [](const Tensor& x, const Feed& f) { return normalized(x, f, 0); }},
      {"mean and std were applied twice there",
       [](const Tensor& x, const Feed& f) { return normalized(x, f, 2); }},
      {"values were divided by 255 before mean and std",
       [](const Tensor& x, const Feed& f) { return normalized(divided(x, 255), f, 1); }},
  };
  if (three_channels) {
    const size_t count = out.size();
    for (size_t i = 0; i < count; ++i) {
      const Slip plain = out[i];
      out.push_back(
          {str("red and blue are swapped", plain.text.empty() ? "" : ", and ", plain.text),
           [plain](const Tensor& x, const Feed& f) {
             return plain.input(red_blue_swapped(x), f);
           }});
    }
  }
  if (is_picture_shaped) {
    out.push_back({"NHWC data was taken as NCHW there", [](const Tensor& x, const Feed& f) {
                     return nhwc_taken_as_nchw(normalized(x, f, 1));
                   }});
  }
  return out;
}

// The saved output in the shape of ours; the note says what had to be done for it.
struct Fitted {
  Tensor tensor;
  std::string note;
};

Result<Fitted> fit_output(const Tensor& saved, const Value& output, const std::string& path) {
  const Shape &have = saved.shape(), &want = output.shape();
  const Tensor values = saved.cast(DType::kF32);
  if (have == want) return Fitted{values, ""};
  if (have.elements() != want.elements()) {
    return invalid_argument(str("'", path, "' has shape ", to_string(have), ", output '",
                                output.name(), "' has ", to_string(want),
                                "; give the saved outputs in the model's order"));
  }
  const bool nhwc = have.rank() == 4 && want.rank() == 4 && have[1] == want[2] &&
                    have[2] == want[3] && have[3] == want[1];
  if (nhwc) {
    Tensor turned = Tensor::make({DType::kF32, want});
    const int64_t channels = want[1], pixels = want[2] * want[3];
    for (int64_t i = 0; i < values.elements(); ++i) {
      const int64_t n = i / (channels * pixels), pixel = i / channels % pixels, c = i % channels;
      turned.mutable_data<float>()[(n * channels + c) * pixels + pixel] = values.data<float>()[i];
    }
    return Fitted{turned, str("'", path, "' is NHWC, the model's output is NCHW")};
  }
  const bool no_batch = have.rank() + 1 == want.rank() && want[0] == 1;
  return Fitted{values.reshaped(want), no_batch ? str("'", path, "' has no batch axis")
                                                : str("'", path, "' has shape ", to_string(have),
                                                      " instead of ", to_string(want))};
}

// A saved input may lack the batch axis.
Result<Tensor> load_raw(const std::string& path, const Value& input, const quant::InputFeed& feed,
                        std::vector<std::string>& notes) {
  quant::InputFeed raw = feed;
  raw.mean = raw.std = {};
  if (!path.ends_with(".npy")) return quant::load_input_file(path, input.name(), input.type(), raw);
  RK_ASSIGN(const Tensor saved, quant::load_npy_tensor(path));
  const Shape& want = input.shape();
  const Shape& have = saved.shape();
  if (have.rank() + 1 != want.rank() || want[0] != 1 || have.elements() != want.elements())
    return quant::load_input_file(path, input.name(), input.type(), raw);
  notes.push_back(
      str("'", path, "' has no batch axis; ", to_string(have), " was taken as ", to_string(want)));
  const bool nhwc =
      want.rank() == 4 && have[2] == want[1] && have[0] == want[2] && !(have[0] == want[1]);
  const Tensor values = saved.cast(DType::kF32);
  if (!nhwc) return values.reshaped(want);
  notes.push_back(str("'", path, "' is HWC, the model takes CHW"));
  Tensor out = Tensor::make({DType::kF32, want});
  const int64_t channels = want[1], pixels = want[2] * want[3];
  for (int64_t i = 0; i < values.elements(); ++i)
    out.mutable_data<float>()[i % channels * pixels + i / channels] = values.data<float>()[i];
  return out;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

Result<CompareReport> Toolkit::compare(const CompareOptions& options) const {
  if (!state_->built) return invalid_argument("compare: build the model first");
  const Config& config = *state_->config;
  const Graph& graph = state_->imported->graph;
  const size_t inputs = graph.inputs().size();
  RK_ASSIGN(const auto raw,
            quant::DatasetSamples::open(options.dataset, graph, raw_feeds(config, inputs)));
  std::vector<int64_t> labels;
  if (!options.labels.empty()) {
    RK_ASSIGN(labels, read_labels(options.labels));
  }
  const size_t count = std::min(raw.count(), options.limit);
  if (!labels.empty() && labels.size() < count) {
    return invalid_argument(
        str("'", options.labels, "' has ", labels.size(), " labels for ", count, " samples"));
  }
  program::Program program = state_->built->program;
  program.batch = 1;  // batches only repeat
  RK_ASSIGN(BuiltModel built, options.device.empty()
                                  ? BuiltModel::here(std::move(program), state_->registry())
                                  : BuiltModel::on_device(std::move(program), options.device));
  CompareReport out;
  out.samples = count;
  out.has_labels = !labels.empty();
  for (size_t i = 0; i < count; ++i) {
    RK_ASSIGN(const std::vector<Tensor> fed, raw.load(i));
    RK_ASSIGN(const std::vector<Tensor> wanted, golden(fed));
    RK_ASSIGN(const auto found, built.run(fed));
    for (size_t o = 0; o < graph.outputs().size(); ++o) {
      const auto it = found.find(graph.outputs()[o]->name());
      if (it == found.end() || wanted[o].dtype() != DType::kF32) continue;
      const auto w = wanted[o].span<float>(), f = it->second.span<float>();
      const double cosine = analysis::compare(w, f).cosine;
      OutputAgreement& agreement = out.outputs[it->first];
      if (agreement.cosines.empty() || cosine < agreement.cosines[agreement.worst_sample])
        agreement.worst_sample = i;
      agreement.cosines.push_back(cosine);
      if (o > 0 || labels.empty()) continue;
      out.right_float += best_class(w) == labels[i] ? 1 : 0;
      out.right_built += best_class(f) == labels[i] ? 1 : 0;
      out.same_class += best_class(w) == best_class(f) ? 1 : 0;
    }
    if (options.progress && !options.progress(i + 1, count))
      return Status(Code::kCancelled, "compare was cancelled");
  }
  return out;
}

std::string to_text(const CompareReport& report) {
  std::string out = str(report.samples, " samples, cosine against the float model\n");
  char line[256];
  std::snprintf(line, sizeof line, "%-40s %9s %9s %9s %9s  %s\n", "output", "worst", "5 %",
                "median", "mean", "worst sample");
  out += line;
  for (const auto& [name, agreement] : report.outputs) {
    const auto& all = agreement.cosines;
    const double mean =
        std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    std::snprintf(line, sizeof line, "%-40s %9.5f %9.5f %9.5f %9.5f  %zu\n", name.c_str(),
                  quantile(all, 0), quantile(all, 0.05), quantile(all, 0.5), mean,
                  agreement.worst_sample);
    out += line;
  }
  if (!report.has_labels) return out;
  const auto percent = [&](size_t number) {
    return 100 * static_cast<double>(number) / static_cast<double>(report.samples);
  };
  std::snprintf(line, sizeof line,
                "top-1: float %.2f %%, built %.2f %%, lost %.2f points; same class on %.2f %%\n",
                percent(report.right_float), percent(report.right_built),
                percent(report.right_float) - percent(report.right_built),
                percent(report.same_class));
  return out + line;
}

Result<SlipReport> Toolkit::find_slip(const std::vector<std::string>& inputs,
                                      const std::vector<std::string>& goldens) const {
  if (!state_->imported) return invalid_argument("compare: load a model first");
  const Graph& graph = state_->imported->graph;
  if (inputs.size() != graph.inputs().size() || goldens.size() > graph.outputs().size()) {
    return invalid_argument(str("compare: ", inputs.size(), " input file(s) for ",
                                graph.inputs().size(), " input(s), ", goldens.size(),
                                " saved output(s) for ", graph.outputs().size()));
  }
  SlipReport out;
  const auto feeds = input_feeds(*state_->config, inputs.size());
  std::vector<Tensor> raw, saved;
  for (size_t i = 0; i < inputs.size(); ++i) {
    RK_ASSIGN(Tensor tensor, load_raw(inputs[i], *graph.inputs()[i], feeds[i], out.notes));
    raw.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < goldens.size(); ++i) {
    RK_ASSIGN(const Tensor tensor, quant::load_npy_tensor(goldens[i]));
    RK_ASSIGN(Fitted fitted, fit_output(tensor, *graph.outputs()[i], goldens[i]));
    if (!fitted.note.empty()) out.notes.push_back(fitted.note);
    saved.push_back(std::move(fitted.tensor));
  }
  const Shape& shape = graph.inputs()[0]->shape();
  const bool picture = shape.rank() == 4 && graph.inputs()[0]->dtype() == DType::kF32;
  for (const Slip& slip : slips(picture && shape[1] == 3, picture && shape[1] > 1)) {
    std::vector<Tensor> fed;
    for (size_t i = 0; i < raw.size(); ++i)
      fed.push_back(raw[i].dtype() == DType::kF32 ? slip.input(raw[i], feeds[i]) : raw[i]);
    RK_ASSIGN(const auto found, evaluator::evaluate(graph, fed, {state_->pool.get(), {}}));
    double worst = 0;
    for (size_t i = 0; i < saved.size(); ++i) {
      worst = std::max(
          worst, relative_error(saved[i].span<float>(), found[i].cast(DType::kF32).span<float>()));
    }
    out.tried.push_back({slip.text, worst});
  }
  return out;
}

const SlipReport::Trial& SlipReport::best() const {
  // The first of equals, which is the plain one.
  return *std::ranges::min_element(tried, {}, &Trial::error);
}

std::string to_text(const SlipReport& report) {
  constexpr double kFits = 0.02;
  std::string out;
  for (const std::string& note : report.notes) out += note + "\n";
  char line[64];
  for (const SlipReport::Trial& trial : report.tried) {
    std::snprintf(line, sizeof line, "  relative error %10.3g  ", trial.error);
    out += line + (trial.slip.empty() ? std::string("as configured") : trial.slip) + "\n";
  }
  const SlipReport::Trial& best = report.best();
  if (best.error > kFits) {
    return out +
           "none of the usual slips explains the difference: check the weights, the resize "
           "and the order of the outputs\n";
  }
  if (best.slip.empty()) return out + "the saved outputs agree with this model as configured\n";
  return out + "this fits: " + best.slip + "\n";
}

}  // namespace rk::toolkit
