// SPDX-License-Identifier: Apache-2.0
#include "runtime/advice/validate.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"

namespace rk::runtime {
namespace {

// Enough to judge a picture, quick for a large one.
constexpr size_t kSampleBytes = 64 * 1024;

uint64_t whole_bytes(const TensorAttr& attr, DType dtype) {
  return attr.size_with_stride_bytes / std::max<uint64_t>(1, byte_size(attr.dtype)) *
         byte_size(dtype);
}

}  // namespace

bool looks_shifted_by_128(std::span<const uint8_t> bytes) {
  bytes = bytes.first(std::min(bytes.size(), kSampleBytes));
  if (bytes.size() < 64) return false;
  size_t near = 0;
  for (const uint8_t byte : bytes) near += byte >= 0x7e && byte <= 0x82;
  return near * 10 > bytes.size() * 3;
}

ByteRange guess_byte_range(std::span<const uint8_t> bytes, uint32_t channels) {
  bytes = bytes.first(std::min(bytes.size(), kSampleBytes));
  if (channels == 0 || bytes.size() < 512 + channels) return ByteRange::kUnclear;
  constexpr int kSmooth = 8;
  size_t as_unsigned = 0, as_signed = 0;
  for (size_t i = 0; i + channels < bytes.size(); ++i) {
    const uint8_t a = bytes[i], b = bytes[i + channels];
    if (((a ^ b) & 0x80) == 0) continue;
    as_unsigned += std::abs(int{a} - int{b}) <= kSmooth;
    as_signed += std::abs(int{static_cast<int8_t>(a)} - int{static_cast<int8_t>(b)}) <= kSmooth;
  }
  const size_t enough = bytes.size() / 100;
  if (as_unsigned > enough && as_unsigned > 8 * as_signed) return ByteRange::kUnsigned;
  if (as_signed > enough && as_signed > 8 * as_unsigned) return ByteRange::kSigned;
  return ByteRange::kUnclear;
}

bool looks_planar(std::span<const uint8_t> pixels, uint32_t channels) {
  pixels = pixels.first(std::min(pixels.size(), kSampleBytes));
  if (channels < 2 || channels > 4 || pixels.size() < 512) return false;
  // Differences to the next byte by position within a pixel, and to the next pixel. In a grey interleaved picture the
  // former are 0 inside a pixel, so that they differ between positions.
  double next[4] = {0, 0, 0, 0}, pixel = 0;
  const size_t count = (pixels.size() - channels - 1) / channels;
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t c = 0; c < channels; ++c) {
      const size_t at = i * channels + c;
      next[c] += std::abs(int{pixels[at]} - int{pixels[at + 1]});
      pixel += std::abs(int{pixels[at]} - int{pixels[at + channels]});
    }
  }
  const auto [low, high] = std::minmax_element(next, next + channels);
  double sum = 0;
  for (uint32_t c = 0; c < channels; ++c) sum += next[c];
  return sum > static_cast<double>(count) / 8 && *high < 1.5 * *low && sum * 1.8 < pixel;
}

void Validator::tell(const std::string& key, std::string_view text) {
  if (!enabled_ || told_.size() > 256 || !told_.insert(key).second) return;
  log(LogLevel::kWarning, str("RKNN_VALIDATE: ", text));
}

void Validator::judge_bytes(const std::string& name, DType dtype, std::span<const uint8_t> bytes,
                            uint32_t channels) {
  const ByteRange range = guess_byte_range(bytes, channels);
  if (dtype == DType::kU8 && (looks_shifted_by_128(bytes) || range == ByteRange::kSigned)) {
    tell("shifted " + name,
         str("input '", name, "': ",
             range == ByteRange::kSigned
                 ? "the bytes pass smoothly from 255 to 0, as int8 data does around zero"
                 : "over 30 % of the bytes lie within 2 of 0x80, which is what int8 data around 0 "
                   "looks like after a shift",
             ". With type RKNN_TENSOR_UINT8 give pixels 0..255; for int8 data set type to "
             "RKNN_TENSOR_INT8"));
  }
  if (dtype == DType::kI8 && range == ByteRange::kUnsigned) {
    tell("unsigned " + name,
         str("input '", name,
             "': the bytes pass smoothly from 127 to 128, as pixels 0..255 do, and type is "
             "RKNN_TENSOR_INT8: everything above 127 would be taken as negative. Set type to "
             "RKNN_TENSOR_UINT8, or subtract 128 first"));
  }
}

void Validator::inputs_set(const GivenInput& given) {
  if (!enabled_) return;
  copying_ = true;
  const std::string& name = given.attr.name;
  if (zero_copy_) {
    tell("mixed",
         str("input '", name,
             "' is copied by rknn_inputs_set on a context that also has rknn_set_io_mem bindings. "
             "A board does not support both on one context: use one flow, or rknn_dup_context"));
  }
  if (!flushes_.inputs) {
    tell("flush inputs_set",
         "rknn_inputs_set on a context made with RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE: the NPU "
         "may read what the cache still holds back. Leave the flag out, or bind inputs with "
         "rknn_set_io_mem and call rknn_mem_sync");
  }
  if (given.format.pass_through) return;
  const uint64_t size = byte_size(given.format.dtype);
  if (size == 1 && given.size_bytes == 4 * given.needed_bytes) {
    tell("float " + name,
         str("input '", name, "': size ", given.size_bytes, " is four bytes per element, type is ",
             to_string(given.format.dtype),
             ". Float data would be read as bytes: set type to RKNN_TENSOR_FLOAT32, or size to ",
             given.needed_bytes));
  }
  const auto* const bytes = static_cast<const uint8_t*>(given.data);
  const std::span<const uint8_t> data(bytes, static_cast<size_t>(given.needed_bytes));
  const bool four = given.attr.dims.size() == 4 && given.format.format == TensorFormat::kNhwc;
  judge_bytes(name, given.format.dtype, data, four ? given.attr.dims[3] : 1);
  const bool picture = given.attr.dims.size() == 4 && given.format.dtype == DType::kU8;
  if (picture && given.format.format == TensorFormat::kNhwc &&
      looks_planar(data, given.attr.dims[3])) {
    tell("planar " + name,
         str("input '", name,
             "': the data looks like planes (NCHW), fmt says NHWC. The colors of each pixel would "
             "come from three neighbors: interleave the channels, or set fmt to "
             "RKNN_TENSOR_NCHW"));
  }
}

void Validator::bound(const GivenBinding& given) {
  if (!enabled_) return;
  zero_copy_ = true;
  const std::string what = str(given.input ? "input '" : "output '", given.attr.name, "'");
  if (copying_) {
    tell("mixed", str(what,
                      " is bound by rknn_set_io_mem on a context that also uses rknn_inputs_set. A "
                      "board does not support both on one context: use one flow, or "
                      "rknn_dup_context"));
  }
  const uint64_t size = byte_size(given.format.dtype);
  const uint64_t channels = given.attr.dims.size() == 4 ? given.attr.dims[3] : 1;
  if (given.attr.w_stride != 0 && given.w_stride != 0 && given.w_stride != given.attr.w_stride) {
    const uint64_t stride = given.attr.w_stride, width = given.attr.dims[2];
    const bool in_bytes = channels * size > 1 && (given.w_stride == stride * channels * size ||
                                                  given.w_stride == width * channels * size);
    tell("stride " + what, in_bytes
                               ? str(what, ": w_stride ", given.w_stride, " looks like bytes (",
                                     width, " pixels x ", channels, " channels x ", size,
                                     " bytes). It counts pixels and is read only; a board uses ",
                                     stride, " whatever you write. Pad rows to that many pixels")
                               : str(what, ": w_stride was changed from ", stride, " to ",
                                     given.w_stride, ". It is read only; a board uses ", stride,
                                     " pixels. Pad rows to that many pixels"));
  }
  if (given.attr.dims.size() == 4 && given.format.h_stride != 0 &&
      given.format.h_stride >= uint64_t{given.attr.dims[1]} * given.attr.dims[2]) {
    tell("rows " + what, str(what, ": h_stride ", given.format.h_stride,
                             " looks like pixels or bytes of a picture. It counts rows from one "
                             "picture of the batch to the next; 0 means the height"));
  }
  const uint64_t dense = given.attr.elements * size;
  if (size == 1 && given.memory_bytes >= 4 * whole_bytes(given.attr, given.format.dtype) &&
      given.memory_bytes < 8 * whole_bytes(given.attr, given.format.dtype)) {
    tell("float " + what,
         str(what, ": the memory holds four bytes per element, type is ",
             to_string(given.format.dtype),
             ". Floats would be taken as bytes: set attr.type to RKNN_TENSOR_FLOAT32, or allocate ",
             given.attr.size_with_stride_bytes, " bytes"));
  }
  if (size > byte_size(given.attr.dtype) && given.size_bytes != 0 && given.size_bytes < dense) {
    tell("size " + what,
         str(what, ": attr.type is ", to_string(given.format.dtype), " and attr.size still ",
             given.size_bytes, ". A board checks the memory by attr.size: set it to ", dense));
  }
  const uint64_t whole = whole_bytes(given.attr, given.format.dtype);
  if (given.input && given.memory_bytes < whole) {
    tell("small " + what,
         str(what, ": the memory has ", given.memory_bytes, " bytes, rows padded to ",
             given.attr.w_stride, " pixels need ", whole,
             ". Here the rows are taken as dense; a board reads past the end and fails with "
             "'failed to submit'. Allocate size_with_stride and copy row by row"));
  }
  std::vector<Bound>& list = given.input ? inputs_ : outputs_;
  const auto same = [&](const Bound& b) { return b.name == given.attr.name; };
  const size_t before = list.size();
  list.erase(std::remove_if(list.begin(), list.end(), same), list.end());
  if (runs_ != 0 && list.size() == before) {
    tell("late " + what,
         str(what,
             " was bound after the first rknn_run: a board has placed its own memory by then and "
             "keeps using it. Call rknn_set_io_mem once, before the first run"));
  }
  Bound bound{given.attr.name, given.memory, 0, given.format.dtype, 1, given.memory_bytes};
  if (given.attr.dims.size() == 4) bound.channels = given.attr.dims[3];
  list.push_back(std::move(bound));
}

void Validator::synced(const DeviceMemory& memory, int mode) {
  if (!enabled_) return;
  constexpr int kBoth = 3;
  if (mode == kBoth) {
    tell("sync both",
         "rknn_mem_sync(RKNN_MEMORY_SYNC_BIDIRECTIONAL) flushes and invalidates, which takes twice "
         "the time: RKNN_MEMORY_SYNC_TO_DEVICE is enough after the CPU wrote, "
         "RKNN_MEMORY_SYNC_FROM_DEVICE before the CPU reads");
  }
  if (!memory.cacheable()) {
    tell("sync uncached",
         "rknn_mem_sync on memory made with RKNN_FLAG_MEMORY_NON_CACHEABLE: there is no cache to "
         "flush. Leave the call out");
  }
  const auto bound_here = [&](const std::vector<Bound>& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Bound& b) { return b.memory.lock().get() == &memory; });
  };
  if ((flushes_.inputs && bound_here(inputs_)) || (flushes_.outputs && bound_here(outputs_))) {
    tell("sync bound",
         "rknn_mem_sync on memory that is bound by rknn_set_io_mem: rknn_run flushes it anyway. "
         "Leave the call out, or make the context with RKNN_FLAG_DISABLE_FLUSH_*");
  }
}

void Validator::run_started() {
  if (!enabled_) return;
  const bool first = runs_++ == 0;
  for (Bound& bound : inputs_) {
    const auto memory = bound.memory.lock();
    if (memory == nullptr || memory->released()) continue;
    if (first && byte_size(bound.dtype) == 1) {
      judge_bytes(bound.name, bound.dtype,
                  {memory->data(), static_cast<size_t>(memory->size_bytes())}, bound.channels);
    }
    if (flushes_.inputs) continue;
    const uint64_t syncs = memory->syncs_to_device();
    if (syncs == bound.seen_syncs) {
      tell("sync " + bound.name,
           str("rknn_run without rknn_mem_sync(RKNN_MEMORY_SYNC_TO_DEVICE) on the memory of input "
               "'",
               bound.name,
               "' since the last run, on a context made with "
               "RKNN_FLAG_DISABLE_FLUSH_INPUT_MEM_CACHE: the NPU reads what was in memory before. "
               "Sync after writing, or leave the flag out"));
    }
    bound.seen_syncs = syncs;
  }
  if (flushes_.outputs || first) return;
  for (Bound& bound : outputs_) {
    const auto memory = bound.memory.lock();
    if (memory == nullptr) continue;
    const uint64_t syncs = memory->syncs_from_device();
    if (syncs == bound.seen_syncs) {
      tell("sync " + bound.name,
           str("the memory of output '", bound.name,
               "' was not synced with RKNN_MEMORY_SYNC_FROM_DEVICE after the last run, on a "
               "context made with RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE: the CPU may read old "
               "cache lines. Sync before reading, or leave the flag out"));
    }
    bound.seen_syncs = syncs;
  }
}

void Validator::outputs_asked(bool has_run) {
  if (!enabled_) return;
  if (!has_run) {
    tell("early",
         "rknn_outputs_get before the first rknn_run: a board has nothing to hand out. "
         "The order is rknn_inputs_set, rknn_run, rknn_outputs_get");
  }
  if (!flushes_.outputs) {
    tell("flush outputs_get",
         "rknn_outputs_get on a context made with RKNN_FLAG_DISABLE_FLUSH_OUTPUT_MEM_CACHE: the "
         "CPU may read old cache lines. Leave the flag out, or bind outputs with rknn_set_io_mem "
         "and call rknn_mem_sync");
  }
  if (!outputs_.empty()) {
    tell("mixed outputs", str("rknn_outputs_get on a context whose output '", outputs_.front().name,
                              "' is bound by rknn_set_io_mem: read the bound memory instead"));
  }
}

void Validator::weight_or_internal_memory_set() {
  if (runs_ == 0) return;
  tell("late memory",
       "weight or internal memory was set after a run: a board took its own by then. Set it before "
       "the first rknn_run");
}

void Validator::contended() {
  tell("threads",
       "two threads call this context at once. Here they take turns; on a board results mix or the "
       "submit fails. Give each thread its own by rknn_dup_context, or lock");
}

void Validator::destroyed(size_t lent_outputs, size_t memories) {
  if (lent_outputs != 0) {
    tell("leaked outputs", str(lent_outputs,
                               " outputs were never given back when the context was destroyed: a "
                               "board leaks them. Call rknn_outputs_release after every "
                               "rknn_outputs_get"));
  }
  if (memories != 0) {
    tell("leaked memories",
         str(memories,
             " memories made for this context still existed when it was destroyed. Call "
             "rknn_destroy_mem for each before rknn_destroy"));
  }
}

}  // namespace rk::runtime
