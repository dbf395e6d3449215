// SPDX-License-Identifier: Apache-2.0
// Voice activity in 16 kHz mono sound (Silero VAD): 512 new samples a step behind 64 old ones, and the network's state fed
// back from step to step.
//
//   rknn_vad_demo MODEL.rknn SOUND.wav
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "utils/rknn_model.h"

namespace {

constexpr size_t kContext = 64, kStep = 512, kState = 2 * 128;

uint32_t number(const uint8_t* at, int bytes) {
  uint32_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | at[i];
  return value;
}

// PCM of 16 bits, one channel, 16 kHz.
bool read_wav(const char* path, std::vector<float>* samples) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  std::vector<uint8_t> all;
  uint8_t block[4096];
  for (size_t got; (got = std::fread(block, 1, sizeof block, file)) > 0;)
    all.insert(all.end(), block, block + got);
  std::fclose(file);
  if (all.size() < 12 || std::memcmp(all.data(), "RIFF", 4) != 0 ||
      std::memcmp(&all[8], "WAVE", 4) != 0)
    return false;
  bool form = false;
  for (size_t at = 12; at + 8 <= all.size();) {
    const size_t size = number(&all[at + 4], 4), body = at + 8;
    if (size > all.size() - body && std::memcmp(&all[at], "data", 4) != 0) return false;
    if (std::memcmp(&all[at], "fmt ", 4) == 0 && size >= 16) {
      form = number(&all[body], 2) == 1 && number(&all[body + 2], 2) == 1 &&
             number(&all[body + 4], 4) == 16000 && number(&all[body + 14], 2) == 16;
    } else if (std::memcmp(&all[at], "data", 4) == 0) {
      const size_t end = body + std::min(size, all.size() - body);
      for (size_t i = body; i + 2 <= end; i += 2)
        samples->push_back(static_cast<float>(static_cast<int16_t>(number(&all[i], 2))) / 32768.0f);
      return form;
    }
    at = body + size + size % 2;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.rknn SOUND.wav\n", argv[0]);
    return 2;
  }
  std::vector<float> samples;
  if (!read_wav(argv[2], &samples)) {
    std::fprintf(stderr, "cannot use '%s': PCM of 16 bits, one channel, 16 kHz is read\n", argv[2]);
    return 1;
  }
  examples::Model model;
  if (!model.init(argv[1])) return 1;
  if (model.inputs().size() != 2 || model.inputs()[0].n_elems != kContext + kStep ||
      model.inputs()[1].n_elems != kState) {
    std::fprintf(stderr,
                 "the model does not take 576 samples and a state of 2 x 1 x 128; convert.py makes "
                 "one that does\n");
    return 1;
  }
  std::vector<float> window(kContext + kStep), state(kState);
  for (size_t at = 0; at + kStep <= samples.size(); at += kStep) {
    std::copy(window.end() - kContext, window.end(), window.begin());
    std::copy_n(samples.begin() + static_cast<int64_t>(at), kStep, window.begin() + kContext);
    examples::Outputs outputs;
    if (!model.run_floats({window, state}, &outputs) || outputs.size() != 2) return 1;
    state = outputs[1];
    std::printf("%6.3f s  speech %.4f%s\n", static_cast<double>(at) / 16000, outputs[0][0],
                outputs[0][0] > 0.5f ? "  *" : "");
  }
  return 0;
}
