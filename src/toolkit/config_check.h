// SPDX-License-Identifier: Apache-2.0
// What config() accepts, with messages that list the accepted values.
#pragma once

#include "ir/graph.h"
#include "quant/samples.h"
#include "target/target.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::toolkit {

// Also resolves the alias asymmetric_quantized-8 in place.
Result<const target::Target*> check_config(Config& config);

// The chip has the type a build asks for.
Status check_types(const Config& config, const target::Target& target, bool quantize);
// quantized_dtype concerns weights only: activations are float16.
bool computes_in_float(const Config& config);

// Hybrid quantization mixes int8 with other types: other quantized_dtypes have nothing to mix.
Status check_hybrid_type(const Config& config);

// rknn_batch_size; -1, the default of older versions, becomes 1.
Status check_batch(int& batch);
Status check_batch_at_shapes(int batch, const Config& config);

// Lengths of the per-input lists against the loaded model.
Status check_inputs(const Config& config, const Graph& graph);

// One per model input.
std::vector<quant::InputFeed> input_feeds(const Config& config, size_t inputs);

// RKNN_SKIP_PASSES, comma-separated, for bisecting a conversion.
std::vector<std::string> skipped_passes();

}  // namespace rk::toolkit
