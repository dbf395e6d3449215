// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>

#include "base/log_environment.h"

namespace rk {
namespace {

constexpr int kUnset = -1;
constexpr int kDefaultLevel = 1;
std::atomic<int> g_level{kUnset};

// Leaked on purpose: threads may log while static destructors run.
std::mutex& sink_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
LogSink& sink() {
  static auto* sink = new LogSink;
  return *sink;
}

int level_from_environment() {
  const char* text = secure_getenv("RKNN_LOG_LEVEL");
  if (text == nullptr || *text == '\0') return kDefaultLevel;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0') return kDefaultLevel;
  return static_cast<int>(value < 0 ? 0 : value > 5 ? 5 : value);
}

std::string& log_file() {
  static auto* path = new std::string;
  return *path;
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return;  // a closed standard error is not our failure
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

void read_log_environment() {
  const char* const level = std::getenv("RKNN_LOG_LEVEL");
  if (level != nullptr && *level != '\0') set_log_level(level_from_environment());
  const char* const file = ::secure_getenv("RKNN_LOG_FILE");
  const std::lock_guard lock(sink_mutex());
  log_file() = file == nullptr ? "" : file;
}

int log_level() {
  int level = g_level.load(std::memory_order_relaxed);
  if (level == kUnset) {
    level = level_from_environment();
    g_level.store(level, std::memory_order_relaxed);
  }
  return level;
}

void set_log_level(int level) { g_level.store(level, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) { return static_cast<int>(level) <= log_level(); }

void log(LogLevel level, std::string_view text) {
  if (!log_enabled(level)) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  char head[64];
  std::snprintf(head, sizeof head, "%c RKNN: [%02d:%02d:%02d.%03d] ",
                "EWID"[static_cast<int>(level)], local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(now.tv_nsec / 1000000));
  const std::string line = std::string(head) + std::string(text) + "\n";
  const std::lock_guard lock(sink_mutex());
  if (sink()) {
    sink()(level, line);
  } else {
    write_all(STDERR_FILENO, line);
  }
  if (!log_file().empty()) {
    const int file = ::open(log_file().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return;
    write_all(file, line);
    ::close(file);
  }
}

void set_log_sink(LogSink replacement) {
  const std::lock_guard lock(sink_mutex());
  sink() = std::move(replacement);
}

}  // namespace rk
