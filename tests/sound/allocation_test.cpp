// SPDX-License-Identifier: Apache-2.0
// Memory that runs out: every allocation of init, inputs_set, run, outputs_get, dup, an asynchronous run and destroy
// fails once, and from some point on. Each case is a process of its own: it must answer with -4 (or succeed where it did
// not need the block), never abort, and give back what it took. The same for converting a network, which must end with
// a Status. `make test` tries one allocation in several; LONG=1 every one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "rknn_api.h"
#include "tests/sound/failing_malloc.h"
#include "toolkit/rknn_toolkit.h"

namespace rk::sound {
namespace {

bool is_long() {
  const char* const text = std::getenv("LONG");
  return text != nullptr && *text != '\0' && std::string(text) != "0";
}

constexpr int kDied = -1000;
constexpr int kLeaked = -1001;

struct Answer {
  int code = kDied;
  long allocations = 0;
};

// Runs `work` in a child with the allocation number `fail_at` failing.
template <typename Work>
Answer in_child(const Work& work) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    alarm(60);
    Answer answer;
    try {
      answer = work();
    } catch (...) {
      _exit(3);  // else the child would go on with the parent's tests
    }
    const ssize_t written = write(ends[1], &answer, sizeof answer);
    _exit(written == sizeof answer ? 0 : 1);
  }
  close(ends[1]);
  Answer answer;
  const bool told = read(ends[0], &answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return told && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? answer : Answer{};
}

struct Tally {
  size_t cases = 0, died = 0, leaked = 0, odd = 0;
  std::map<int, size_t> codes;
};

template <typename Case>
void fail_each(const char* what, long step, Tally& total, const Case& run) {
  for (const bool onwards : {false, true}) {
    for (long n = 1;; n += step) {
      Answer answer = in_child([&] { return run(n, onwards); });
      // A worker that gives its pool back late makes the next run fill another, which stays: seldom, and not twice.
      if (answer.code == kLeaked) answer = in_child([&] { return run(n, onwards); });
      ++total.cases;
      ++total.codes[answer.code];
      if (answer.code == kDied && ++total.died <= 5)
        ADD_FAILURE() << what << " ended the process at allocation " << n
                      << (onwards ? " and all after it" : "");
      if (answer.code == kLeaked && ++total.leaked <= 5)
        ADD_FAILURE() << what << " kept memory after allocation " << n << " failed";
      if (answer.code == kDied ? n > 100000 : answer.allocations < n) break;
    }
  }
}

std::vector<uint8_t> model_bytes() {
  toolkit::Toolkit toolkit;
  toolkit::Config config;
  config.target_platform = "rk3588";
  EXPECT_TRUE(toolkit.config(config).ok());
  EXPECT_TRUE(toolkit.load_onnx(RK_SOURCE_DIR "/examples/digits/digits.onnx").ok());
  EXPECT_TRUE(toolkit
                  .build({.do_quantization = true,
                          .dataset = RK_SOURCE_DIR "/examples/digits/calib.txt",
                          .progress = {}})
                  .ok());
  return toolkit.rknn_bytes().value();
}

class Client {
 public:
  explicit Client(std::vector<uint8_t>& model) : model_(model) {}
  int init() {
    return rknn_init(&context_, model_.data(), static_cast<uint32_t>(model_.size()), 0, nullptr);
  }
  int set() {
    rknn_input input{};
    input.buf = pixels_.data();
    input.size = static_cast<uint32_t>(pixels_.size());
    input.type = RKNN_TENSOR_UINT8;
    input.fmt = RKNN_TENSOR_NHWC;
    return rknn_inputs_set(context_, 1, &input);
  }
  int run() { return rknn_run(context_, nullptr); }
  int run_async() {
    rknn_run_extend extend{};
    extend.non_block = 1;
    const int code = rknn_run(context_, &extend);
    return code == 0 ? rknn_wait(context_, nullptr) : code;
  }
  int get() {
    rknn_output output{};
    output.want_float = 1;
    const int code = rknn_outputs_get(context_, 1, &output, nullptr);
    if (code == 0) rknn_outputs_release(context_, 1, &output);
    return code;
  }
  int dup() {
    rknn_context other = 0;
    const int code = rknn_dup_context(&context_, &other);
    if (code == 0) rknn_destroy(other);
    return code;
  }
  int all() {
    for (const int code : {init(), set(), run(), run_async(), get(), dup(), destroy()}) {
      if (code != 0) return code;
    }
    return 0;
  }
  int destroy() {
    const int code = context_ == 0 ? 0 : rknn_destroy(context_);
    context_ = 0;
    return code;
  }

 private:
  std::vector<uint8_t>& model_;
  std::vector<uint8_t> pixels_ = std::vector<uint8_t>(28 * 28, 100);
  rknn_context context_ = 0;
};

TEST(Allocation, AnyThatFailsIsAnAnswerAndNothingIsLost) {
  set_log_level(0);
  std::vector<uint8_t> model = model_bytes();
  ASSERT_EQ(Client(model).all(), 0);
  using Phase = int (Client::*)();
  struct Step {
    const char* name;
    std::vector<Phase> before;
    Phase tried;
  };
  const Step steps[] = {
      {"rknn_init", {}, &Client::init},
      {"rknn_inputs_set", {&Client::init}, &Client::set},
      {"rknn_run", {&Client::init, &Client::set}, &Client::run},
      {"an asynchronous rknn_run", {&Client::init, &Client::set}, &Client::run_async},
      {"rknn_outputs_get", {&Client::init, &Client::set, &Client::run}, &Client::get},
      {"rknn_dup_context", {&Client::init}, &Client::dup},
      {"rknn_destroy", {&Client::init, &Client::set, &Client::run}, &Client::destroy},
  };
  Tally total;
  for (const Step& step : steps) {
    const auto whole = [&](long fail_at, bool onwards) -> Answer {
      // Threads do not come along into a child: its pool is filled first, and lives as long as the process.
      if (Client(model).all() != 0) return {};
      usleep(5000);  // the worker of the asynchronous run gives its pool back after the answer
      // The first line of the log reads the time zone and keeps it, as it keeps its own line.
      Client first(model);
      arm(1, false);
      const int refused = first.init();
      disarm();
      if (refused != RKNN_ERR_MALLOC_FAIL) return {};
      Client client(model);
      const long before = alive();
      for (const Phase phase : step.before) (client.*phase)();
      arm(fail_at, onwards);
      Answer answer;
      answer.code = (client.*step.tried)();
      answer.allocations = disarm();
      client.destroy();
      // A success may keep what lives as long as the process, such as a thread that the pool did not have.
      if (answer.code != 0 && alive() > before) answer.code = kLeaked;
      return answer;
    };
    const bool init = step.tried == &Client::init;
    fail_each(step.name, is_long() || !init ? 1 : 7, total, whole);
  }
  for (const auto& [code, count] : total.codes) {
    if (code == 0 || code == RKNN_ERR_MALLOC_FAIL || code == kDied || code == kLeaked) continue;
    total.odd += count;
    std::printf("answer %d: %zu times\n", code, count);
  }
  std::printf(
      "FIGURE C interface with failing allocations: aborts, leaks | %zu, %zu of %zu; "
      "other answers than 0 and -4: %zu | 0 | %s\n",
      total.died, total.leaked, total.cases, total.odd,
      total.died + total.leaked == 0 ? "ok" : "SHORT");
  EXPECT_GT(total.codes[RKNN_ERR_MALLOC_FAIL], 0u);
}

// Converting makes tens of thousands of allocations: without LONG one in many fails, once or from then on.
TEST(Allocation, ConvertingEndsWithAReasonNotAnAbort) {
  set_log_level(0);
  const auto convert = [](long fail_at, bool onwards) -> Answer {
    Answer answer;
    arm(fail_at, onwards);
    try {
      toolkit::Toolkit toolkit;
      toolkit::Config config;
      config.target_platform = "rk3588";
      Status status = toolkit.config(config);
      if (status.ok()) status = toolkit.load_onnx(RK_SOURCE_DIR "/examples/digits/digits.onnx");
      if (status.ok()) {
        status = toolkit.build({.do_quantization = true,
                                .dataset = RK_SOURCE_DIR "/examples/digits/calib.txt",
                                .progress = {}});
      }
      if (status.ok()) status = toolkit.rknn_bytes().status();
      answer.code = status.ok() ? 0 : RKNN_ERR_MALLOC_FAIL;
    } catch (const std::bad_alloc&) {
      answer.code = RKNN_ERR_MALLOC_FAIL;  // the C functions turn it into an answer
    }
    answer.allocations = disarm();
    return answer;
  };
  const Answer all = in_child([&] { return convert(1L << 60, false); });
  ASSERT_EQ(all.code, 0);
  Tally total;
  fail_each("converting", is_long() ? 1 : std::max(1L, all.allocations / 60), total, convert);
  std::printf(
      "FIGURE converting digits with failing allocations: aborts | %zu of %zu (of %ld "
      "allocations) | 0 | %s\n",
      total.died, total.cases, all.allocations, total.died == 0 ? "ok" : "SHORT");
}

}  // namespace
}  // namespace rk::sound
