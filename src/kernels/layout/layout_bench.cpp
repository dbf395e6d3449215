// SPDX-License-Identifier: Apache-2.0
// Speed of the border conversions of YOLOv5s, one thread: a picture of 640x640 pixels in, 255 channels of 80x80 out. The
// rate that is printed counts elements of the caller's side.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/layout/quantize.h"

namespace rk::kernels {
namespace {

constexpr ActivationShape kPicture = {1, 3, {640, 640}};
constexpr ActivationShape kDetections = {1, 255, {80, 80}};

template <typename Args, typename In, typename Out>
void run(benchmark::State& state, Args args, const ActivationShape& shape,
         void (*kernel)(const Args&, IndexRange), const std::vector<In>& input,
         std::vector<Out>& output) {
  args.shape = shape;
  args.input = input.data();
  args.output = output.data();
  for (auto _ : state) {
    kernel(args, {0, layout_units(shape)});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * shape.channels * shape.pixels());
}

size_t plain_elements(const ActivationShape& shape) {
  return static_cast<size_t>(shape.channels * shape.pixels());
}
size_t blocked_size(const ActivationShape& shape) {
  return static_cast<size_t>(blocked_elements(shape));
}

void picture_to_i8(benchmark::State& state) {
  const std::vector<uint8_t> input(plain_elements(kPicture), 3);
  std::vector<int8_t> output(blocked_size(kPicture)), tables(3 * 256, 1);
  if (state.range(0) != 0) tables[300] = 7;  // not the same for all channels
  TableQuantizeArgs args;
  args.tables = tables.data();
  run(state, args, kPicture, quantize_by_table, input, output);
}
BENCHMARK(picture_to_i8)->Arg(0)->Arg(1);

void floats_to_i8(benchmark::State& state) {
  const std::vector<float> input(plain_elements(kPicture), 3.5f);
  std::vector<int8_t> output(blocked_size(kPicture));
  const BorderAffine affine[] = {{1, 2}, {3, 4}, {5, 6}};
  QuantizeF32Args args;
  args.params = {affine, 0.5f, 3};
  args.interleaved = state.range(0) != 0;
  run(state, args, kPicture, quantize_f32_to_i8, input, output);
}
BENCHMARK(floats_to_i8)->Arg(0)->Arg(1);

void floats_to_f16(benchmark::State& state) {
  const std::vector<float> input(plain_elements(kPicture), 3.5f);
  std::vector<uint16_t> output(blocked_size(kPicture));
  run(state, HalfF32Args{}, kPicture, f32_to_blocked_f16, input, output);
}
BENCHMARK(floats_to_f16);

void picture_to_f16(benchmark::State& state) {
  const std::vector<uint8_t> input(plain_elements(kPicture), 3);
  const std::vector<uint16_t> tables(3 * 256, 1);
  std::vector<uint16_t> output(blocked_size(kPicture));
  TableHalfArgs args;
  args.tables = tables.data();
  run(state, args, kPicture, half_by_table, input, output);
}
BENCHMARK(picture_to_f16);

void halves_to_f16(benchmark::State& state) {
  const std::vector<uint16_t> input(plain_elements(kPicture), 3);
  std::vector<uint16_t> output(blocked_size(kPicture));
  PlainArgs args;
  args.element_bytes = 2;
  args.layout = PlainLayout::kNhwc;
  run(state, args, kPicture, plain_to_blocked, input, output);
}
BENCHMARK(halves_to_f16);

void i8_to_floats(benchmark::State& state) {
  const std::vector<int8_t> input(blocked_size(kDetections), 3);
  std::vector<float> output(plain_elements(kDetections));
  DequantizeArgs args;
  args.layout = PlainLayout::kNchw;
  run(state, args, kDetections, dequantize_i8_to_f32, input, output);
}
BENCHMARK(i8_to_floats);

void f16_to_floats(benchmark::State& state) {
  const std::vector<uint16_t> input(blocked_size(kDetections), 0x3c00);
  std::vector<float> output(plain_elements(kDetections));
  BorderArgs<uint16_t, float> args;
  args.layout = PlainLayout::kNchw;
  run(state, args, kDetections, blocked_f16_to_f32, input, output);
}
BENCHMARK(f16_to_floats);

}  // namespace
}  // namespace rk::kernels
