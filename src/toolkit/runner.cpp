// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runner.h"

#include <cmath>
#include <iomanip>
#include <sstream>

#include "base/log.h"

namespace rk::toolkit {

using runtime::TensorAttr;
using runtime::TensorFormat;

Shape shape_of(const TensorAttr& attr) {
  Shape out;
  const std::vector<int64_t> dims(attr.dims.begin(), attr.dims.end());
  auto made = Shape::make(dims);
  return made.ok() ? *made : out;
}

Shape nchw_of(const Shape& nhwc) { return {nhwc[0], nhwc[3], nhwc[1], nhwc[2]}; }

namespace {

// An array [h,w,c] (or [c,h,w]) for an input [1,h,w,c].
bool is_batch_of_one_without_its_axis(const Shape& given, const Shape& wanted) {
  if (wanted.rank() != 4 || given.rank() != 3 || wanted[0] != 1) return false;
  return given[0] == wanted[1] && given[1] == wanted[2] && given[2] == wanted[3];
}

}  // namespace

Status check_options(const RuntimeOptions& options) {
  if (options.fallback_prior_device != "cpu" && options.fallback_prior_device != "gpu") {
    return invalid_argument(str("Invalid fallback_prior_device '", options.fallback_prior_device,
                                "', expect in ['cpu', 'gpu']!"));
  }
  if (options.async_mode)
    log(LogLevel::kWarning, "async_mode is not supported: inference waits for its result");
  return ok_status();
}

Status Runner::check_counts(size_t inputs, size_t outputs) const {
  if (inputs != input_count()) {
    return invalid_argument(
        str("The inputs have ", inputs, " array(s), the model has ", input_count(), " input(s)!"));
  }
  if (outputs != output_count()) {
    return invalid_argument(
        str(outputs, " array(s) for results, the model has ", output_count(), " output(s)"));
  }
  return ok_status();
}

Status Runner::check_shape(const TensorAttr& attr, const Feed& feed) {
  const bool turn = attr.format == TensorFormat::kNhwc && feed.nchw;
  const Shape wanted = turn ? nchw_of(shape_of(attr)) : shape_of(attr);
  if (feed.array.shape == wanted) return ok_status();
  if (is_batch_of_one_without_its_axis(feed.array.shape, wanted)) {
    if (!warned_of_batch_) {
      log(LogLevel::kWarning,
          str("The input(", attr.name, ") need ", wanted.rank(), "dims input, but ",
              feed.array.shape.rank(), "dims input buffer feed: a batch of 1 is ",
              "assumed; np.expand_dims(array, 0) says so"));
    }
    warned_of_batch_ = true;
    return ok_status();
  }
  const bool turned = attr.format == TensorFormat::kNhwc && feed.array.shape.rank() == 4 &&
                      feed.array.shape == (feed.nchw ? shape_of(attr) : nchw_of(wanted));
  const bool one_missing = feed.array.shape.rank() == wanted.rank() - 1;
  return invalid_argument(str(
      "The input(", attr.name, ") shape ", to_string(feed.array.shape), " is wrong, expect '",
      feed.nchw ? "nchw" : "nhwc", "' like ", to_string(wanted), "!",
      turned ? str(" Pass data_format=['", feed.nchw ? "nhwc" : "nchw", "'] for this array.") : "",
      one_missing ? " Add the batch dimension, e.g. with np.expand_dims(array, 0)." : ""));
}

Status Runner::check_output(size_t i, const ArrayRef& output) const {
  const TensorType type = output_type(i);
  if (output.dtype == type.dtype && output.shape == type.shape) return ok_status();
  return invalid_argument(str("the array for output ", i, " must be ", to_string(type)));
}

std::string performance_text(double total_us, double frames_per_second, std::string_view more) {
  const std::string rule(70, '=');
  std::ostringstream out;
  out << rule << "\n"
      << std::string(29, ' ') << "Performance\n"
      << rule << "\nTotal Time(us): " << std::llround(total_us) << "\nFPS: " << std::fixed
      << std::setprecision(2) << frames_per_second << "\n"
      << more << rule << "\n";
  return out.str();
}

}  // namespace rk::toolkit
