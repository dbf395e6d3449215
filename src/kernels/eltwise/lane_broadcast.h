// SPDX-License-Identifier: Apache-2.0
// Broadcasts and per-channel scales, 16 elements at a time, over any float vector and its conversions of stored numbers
// (x86_avx512_lanes.h, x86_avx2.h, arm64_neon.h). Included in the frame of an instruction set, after everything else.
// Private to kernels/eltwise.
//
// Note: an operand that is repeated along a run is 16 lanes that do not change, whether it is a block or
// a scalar, because pieces of runs begin at multiples of 16.
#pragma once

RK_ISA_BEGIN

namespace rk::kernels {
namespace {

constexpr int64_t kGroup = 16;  // elements

template <typename Float>
struct Group {
  static constexpr int kVectors = kGroup / Float::kLanes;
  typename Float::Vector v[kVectors];
};

// fp16 to float32 and back.
template <typename Float, typename Half>
struct HalfCodec {
  using Stored = uint16_t;
  Group<Float> load(const Stored* from) const {
    float wide[kGroup];
    Half::widen(from, wide);
    return group_of(wide);
  }
  Group<Float> load_part(const Stored* from, int64_t count) const {
    float wide[kGroup];
    Half::widen_part(from, count, wide);
    return group_of(wide);
  }
  static Group<Float> group_of(const float* wide) {
    Group<Float> group;
    for (int i = 0; i < Group<Float>::kVectors; ++i)
      group.v[i] = Float::load(wide + i * Float::kLanes);
    return group;
  }
  void store(Stored* to, const Group<Float>& group) const {
    float wide[kGroup];
    for (int i = 0; i < Group<Float>::kVectors; ++i)
      Float::store(wide + i * Float::kLanes, group.v[i]);
    Half::narrow(wide, to);
  }
};

// int8 as the reals it stands for.
template <typename Float>
struct ByteReader {
  using Stored = int8_t;
  typename Float::Vector zero_point, scale;
  explicit ByteReader(QuantScale by)
      : zero_point(Float::all(static_cast<float>(by.zero_point))), scale(Float::all(by.scale)) {}
  typename Float::Vector real(typename Float::Vector number) const {
    return Float::mul(Float::sub(number, zero_point), scale);
  }
  Group<Float> load(const Stored* from) const {
    Group<Float> group;
    for (int i = 0; i < Group<Float>::kVectors; ++i)
      group.v[i] = real(Float::from(from + i * Float::kLanes));
    return group;
  }
  Group<Float> load_part(const Stored* from, int64_t count) const {
    if constexpr (Group<Float>::kVectors == 1) {
      return {{real(Float::from_part(from, count))}};
    } else {
      Stored lanes[kGroup] = {};
      for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
      return load(lanes);
    }
  }
};

// Constants as they are.
template <typename Float>
struct FloatReader {
  using Stored = float;
  Group<Float> load(const float* from) const {
    Group<Float> group;
    for (int i = 0; i < Group<Float>::kVectors; ++i)
      group.v[i] = Float::load(from + i * Float::kLanes);
    return group;
  }
  Group<Float> load_part(const float* from, int64_t count) const {
    Group<Float> group;
    for (int i = 0; i < Group<Float>::kVectors; ++i) {
      const int64_t left = count - i * Float::kLanes;
      group.v[i] = Float::load_part(from + i * Float::kLanes, left < 0 ? 0 : left, 0.0f);
    }
    return group;
  }
};

// Rounds to nearest even by adding 1.5 * 2^23: the sum's low bits are the number.
template <typename Float>
struct ByteWriter {
  typename Float::Vector scale;
  int32_t base;
  explicit ByteWriter(QuantScale by)
      : scale(Float::all(by.scale)), base(kFloatMagicBits - clamp_zero_point(by.zero_point)) {}
  void store(int8_t* to, const Group<Float>& group) const {
    typename Float::Vector bits[Group<Float>::kVectors];
    for (int i = 0; i < Group<Float>::kVectors; ++i) {
      const auto q = Float::zero_nan(Float::div(group.v[i], scale));
      bits[i] = Float::add(Float::at_most(Float::at_least(q, -1024.0f), 1024.0f),
                           Float::all(kFloatMagic));
    }
    Float::store_bits(bits, base, to);
  }
};

template <typename Float, BinaryOp kOp>
inline Group<Float> apply(const Group<Float>& a, const Group<Float>& b) {
  Group<Float> y;
  for (int i = 0; i < Group<Float>::kVectors; ++i) {
    if constexpr (kOp == BinaryOp::kAdd) y.v[i] = Float::add(a.v[i], b.v[i]);
    if constexpr (kOp == BinaryOp::kSub) y.v[i] = Float::sub(a.v[i], b.v[i]);
    if constexpr (kOp == BinaryOp::kMul) y.v[i] = Float::mul(a.v[i], b.v[i]);
    if constexpr (kOp == BinaryOp::kDiv) y.v[i] = Float::div(a.v[i], b.v[i]);
  }
  return y;
}

// What is repeated along a run.
template <typename Float, typename Reader>
inline Group<Float> fixed_lanes(const Reader& reader, const typename Reader::Stored* from,
                                RunOperand kind) {
  if (kind == RunOperand::kBlock) return reader.load(from);
  typename Reader::Stored lanes[kGroup];
  for (auto& lane : lanes) lane = from[0];
  return reader.load(lanes);
}

// One piece. What is not streamed keeps the lanes it has at the beginning.
template <typename Float, BinaryOp kOp, bool kStreamA, bool kStreamB, typename ReadA,
          typename ReadB, typename Writer, typename T>
inline void combine(const ReadA& read_a, const ReadB& read_b, const Writer& writer,
                    const typename ReadA::Stored* a, const typename ReadB::Stored* b, T* y,
                    int64_t count, RunOperand kind_a, RunOperand kind_b) {
  Group<Float> x, z;
  if constexpr (!kStreamA) x = fixed_lanes<Float>(read_a, a, kind_a);
  if constexpr (!kStreamB) z = fixed_lanes<Float>(read_b, b, kind_b);
  int64_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    if constexpr (kStreamA) x = read_a.load(a + i);
    if constexpr (kStreamB) z = read_b.load(b + i);
    writer.store(y + i, apply<Float, kOp>(x, z));
  }
  if (i == count) return;
  T part[kGroup];
  if constexpr (kStreamA) x = read_a.load_part(a + i, count - i);
  if constexpr (kStreamB) z = read_b.load_part(b + i, count - i);
  writer.store(part, apply<Float, kOp>(x, z));
  for (int64_t e = i; e < count; ++e) y[e] = part[e - i];
}

template <typename Float, BinaryOp kOp, typename ReadA, typename ReadB, typename Writer, typename T>
void combine_runs(const BinaryArgs<T>& args, IndexRange units, const ReadA& read_a,
                  const typename ReadA::Stored* all_a, const ReadB& read_b,
                  const typename ReadB::Stored* all_b, const Writer& writer) {
  const RunOperand kind_a = args.shape.a, kind_b = args.shape.b;
  const bool stream_a = kind_a == RunOperand::kStream, stream_b = kind_b == RunOperand::kStream;
  for (int64_t unit = units.begin; unit < units.end; ++unit) {
    const BroadcastPiece piece = broadcast_piece(args.shape, unit);
    const auto* const a = all_a + piece.a;
    const auto* const b = all_b + piece.b;
    T* const y = args.output + piece.output;
    if (stream_a && stream_b) {
      combine<Float, kOp, true, true>(read_a, read_b, writer, a, b, y, piece.count, kind_a, kind_b);
    } else if (stream_a) {
      combine<Float, kOp, true, false>(read_a, read_b, writer, a, b, y, piece.count, kind_a,
                                       kind_b);
    } else if (stream_b) {
      combine<Float, kOp, false, true>(read_a, read_b, writer, a, b, y, piece.count, kind_a,
                                       kind_b);
    } else {
      combine<Float, kOp, false, false>(read_a, read_b, writer, a, b, y, piece.count, kind_a,
                                        kind_b);
    }
  }
}

template <typename Float, typename ReadA, typename ReadB, typename Writer, typename T>
void binary_by_op(const BinaryArgs<T>& args, IndexRange units, const ReadA& read_a,
                  const typename ReadA::Stored* a, const ReadB& read_b,
                  const typename ReadB::Stored* b, const Writer& writer) {
  switch (args.op) {
    case BinaryOp::kAdd:
      return combine_runs<Float, BinaryOp::kAdd>(args, units, read_a, a, read_b, b, writer);
    case BinaryOp::kSub:
      return combine_runs<Float, BinaryOp::kSub>(args, units, read_a, a, read_b, b, writer);
    case BinaryOp::kMul:
      return combine_runs<Float, BinaryOp::kMul>(args, units, read_a, a, read_b, b, writer);
    case BinaryOp::kDiv:
      return combine_runs<Float, BinaryOp::kDiv>(args, units, read_a, a, read_b, b, writer);
  }
}

template <typename Float, typename Reader, typename Writer, typename T>
void binary_lanes(const BinaryArgs<T>& args, IndexRange units, const Reader& a, const Reader& b,
                  const Writer& writer) {
  const FloatReader<Float> values;
  if (args.b_values != nullptr) {
    binary_by_op<Float>(args, units, a, args.a, values, args.b_values, writer);
  } else if (args.a_values != nullptr) {
    binary_by_op<Float>(args, units, values, args.a_values, b, args.b, writer);
  } else {
    binary_by_op<Float>(args, units, a, args.a, b, args.b, writer);
  }
}

template <typename Float, typename Half>
void binary_f16_lanes(const BinaryArgs<uint16_t>& args, IndexRange units) {
  const HalfCodec<Float, Half> codec;
  binary_lanes<Float>(args, units, codec, codec, codec);
}

template <typename Float>
void binary_i8_lanes(const BinaryI8Args& args, IndexRange units) {
  const BinaryArgs<int8_t>& plain = args;
  binary_lanes<Float>(plain, units, ByteReader<Float>(args.a_scale),
                      ByteReader<Float>(args.b_scale), ByteWriter<Float>(args.output_scale));
}

// Calls work(first element, scale, shift) for each pixel of planes.
template <typename Float, typename T, typename Work>
inline void for_each_pixel(const AffineArgs<T>& args, IndexRange planes, const Work& work) {
  for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
    const int64_t channel = plane % args.shape.blocks * kHostBlock;
    Group<Float> scale, shift;
    for (int i = 0; i < Group<Float>::kVectors; ++i) {
      scale.v[i] = Float::load(args.scale + channel + i * Float::kLanes);
      shift.v[i] = Float::load(args.shift + channel + i * Float::kLanes);
    }
    int64_t at = plane * args.shape.pixels * kHostBlock;
    const int64_t end = at + args.shape.pixels * kHostBlock;
    for (; at < end; at += kHostBlock) work(at, scale, shift);
  }
}

template <typename Float, typename Half>
void affine_f16_lanes(const AffineArgs<uint16_t>& args, IndexRange planes) {
  const HalfCodec<Float, Half> codec;
  for_each_pixel<Float>(args, planes,
                        [&](int64_t at, const Group<Float>& scale, const Group<Float>& shift) {
                          Group<Float> y = codec.load(args.input + at);
                          for (int i = 0; i < Group<Float>::kVectors; ++i)
                            y.v[i] = Float::fused(y.v[i], scale.v[i], shift.v[i]);
                          codec.store(args.output + at, y);
                        });
}

template <typename Float>
void affine_i8_lanes(const AffineArgs<int8_t>& args, IndexRange planes) {
  for_each_pixel<Float>(
      args, planes, [&](int64_t at, const Group<Float>& scale, const Group<Float>& shift) {
        typename Float::Vector bits[Group<Float>::kVectors];
        for (int i = 0; i < Group<Float>::kVectors; ++i) {
          const auto x = Float::from(args.input + at + i * Float::kLanes);
          bits[i] = Float::add(Float::fused(x, scale.v[i], shift.v[i]), Float::all(kFloatMagic));
        }
        Float::store_bits(bits, kFloatMagicBits, args.output + at);
      });
}

}  // namespace
}  // namespace rk::kernels

RK_ISA_END
