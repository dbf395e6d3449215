// SPDX-License-Identifier: Apache-2.0
// The names of a Program's enumerations, once: for dumps, reports, JSON, attributes of files and
// their parsing. The list is also what a reader of bytes accepts.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "program/program.h"

namespace rk::program {

template <typename E>
struct Name {
  E value;
  std::string_view text;
};

template <typename E>
inline constexpr auto kNames = nullptr;  // specialized below

template <>
inline constexpr auto kNames<Layout> = std::to_array<Name<Layout>>({
    {Layout::kPlain, "plain"},
    {Layout::kNchw, "NCHW"},
    {Layout::kNc1hwc2, "NC1HWC2"},
    {Layout::kWeight, "weight"},
});

template <>
inline constexpr auto kNames<TensorKind> = std::to_array<Name<TensorKind>>({
    {TensorKind::kDummy, "dummy"},
    {TensorKind::kInput, "input"},
    {TensorKind::kOutput, "output"},
    {TensorKind::kInternal, "internal"},
    {TensorKind::kNpuConstant, "constant"},
    {TensorKind::kCpuConstant, "CPU constant"},
    {TensorKind::kHelperConstant, "helper constant"},
});

template <>
inline constexpr auto kNames<Processor> = std::to_array<Name<Processor>>({
    {Processor::kCpu, "CPU"},
    {Processor::kGpu, "GPU"},
    {Processor::kNpu, "NPU"},
});

template <>
inline constexpr auto kNames<Activation> = std::to_array<Name<Activation>>({
    {Activation::kNone, "none"},
    {Activation::kRelu, "relu"},
    {Activation::kClip, "clip"},
});

template <>
inline constexpr auto kNames<PoolKind> = std::to_array<Name<PoolKind>>({
    {PoolKind::kMax, "max"},
    {PoolKind::kAverage, "average"},
});

// The three of Resize are ONNX's attribute values.
template <>
inline constexpr auto kNames<ResizeMode> = std::to_array<Name<ResizeMode>>({
    {ResizeMode::kNearest, "nearest"},
    {ResizeMode::kLinear, "linear"},
});

template <>
inline constexpr auto kNames<CoordinateMode> = std::to_array<Name<CoordinateMode>>({
    {CoordinateMode::kHalfPixel, "half_pixel"},
    {CoordinateMode::kPytorchHalfPixel, "pytorch_half_pixel"},
    {CoordinateMode::kAlignCorners, "align_corners"},
    {CoordinateMode::kAsymmetric, "asymmetric"},
});

template <>
inline constexpr auto kNames<NearestMode> = std::to_array<Name<NearestMode>>({
    {NearestMode::kRoundPreferFloor, "round_prefer_floor"},
    {NearestMode::kRoundPreferCeil, "round_prefer_ceil"},
    {NearestMode::kFloor, "floor"},
    {NearestMode::kCeil, "ceil"},
});

// Empty for a value that is none of the enumeration's, as a byte of a file may be.
template <typename E>
constexpr std::string_view name_of(E value) {
  for (const Name<E>& name : kNames<E>) {
    if (name.value == value) return name.text;
  }
  return {};
}

template <typename E>
constexpr std::optional<E> find_named(std::string_view text) {
  for (const Name<E>& name : kNames<E>) {
    if (name.text == text) return name.value;
  }
  return std::nullopt;
}

}  // namespace rk::program
