// SPDX-License-Identifier: Apache-2.0
// Which float values of a graph an int8 build holds as int8. A value between two operators that the chip computes in
// float (on its CPU, or on the NPU in float16 only) would be rounded to 8 bits for nothing, so it stays float16.
#pragma once

#include <set>
#include <string>
#include <unordered_set>

#include "ir/graph.h"
#include "target/target.h"

namespace rk::quant {

// An activation: a float value that is computed or fed, not a constant.
bool is_activation(const Value& value);

// Names of values: the nodes that compute them run in float16 because the user says so, and inputs among them are float16.
using FloatLayers = std::set<std::string, std::less<>>;

// One of the node's outputs is listed.
bool is_named(const Node& node, const FloatLayers& names);

// The chip's NPU computes the node on int8 values. Without a target every operator with an int8 rule counts.
bool computes_in_i8(const Node& node, const target::Target* target,
                    const FloatLayers& float_layers = {});

//   - what an int8 accumulator (Conv, Gemm, MatMul) reads or writes is int8;
//   - otherwise what a float operator reads or writes is float16, and so is what a light operator (Add, Relu, Reshape,
//     ...) makes of a float16 value, and what is read by operators that run in float16 only;
//   - everything else is int8.
// Inputs and outputs of the model are int8 whatever surrounds them, because applications expect that, unless `float_layers`
// names the input, or a float-only operator or a layer of `float_layers` computes the output.
std::unordered_set<const Value*> i8_values(const Graph& graph, const target::Target* target,
                                           const FloatLayers& float_layers = {});

}  // namespace rk::quant
