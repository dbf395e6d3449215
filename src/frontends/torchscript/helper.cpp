// SPDX-License-Identifier: Apache-2.0
#include "frontends/torchscript/helper.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "frontends/torchscript/answer.h"

extern char** environ;

namespace rk::frontends::torchscript {
namespace {

constexpr const char* kProgram = "rknn-import-torchscript";
constexpr uint64_t kMostAnswerBytes = uint64_t{5} << 30;
constexpr size_t kMostMessageBytes = 4000;
constexpr std::string_view kRecipe =
    "save the network itself: torch.jit.trace(model.eval(), torch.rand(1, 3, 224, "
    "224)).save('model.pt'), "
    "with an input of your model's shape";

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Status write_all(int fd, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return io_error("cannot hand the model to the helper program");
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return ok_status();
}

Result<std::vector<uint8_t>> read_all(int fd, uint64_t most) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return io_error("cannot read the helper program's answer");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > most) return out_of_memory(str("the helper program's answer has ", size, " bytes"));
  std::vector<uint8_t> out(static_cast<size_t>(size));
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return io_error("cannot read the helper program's answer");
    done += static_cast<size_t>(got);
  }
  return out;
}

// In the order they are tried. A name given by hand must be right; it is not replaced by another.
std::vector<std::string> candidates() {
  if (const char* given = std::getenv("RKNN_IMPORT_TORCHSCRIPT"); given != nullptr && *given != 0) {
    return {given};
  }
  std::vector<std::string> out;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&kProgram), &info) != 0 && info.dli_fname != nullptr) {
    const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
    // Beside the library, in bin/ of an installation, and where the build puts it for libraries, tests and tools.
    for (const char* place : {"", "../bin", "../../bin", "../../tools/import_torchscript",
                              "../tools/import_torchscript", "../import_torchscript"}) {
      out.push_back((folder / place / kProgram).string());
    }
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    if (folder.starts_with('/')) out.push_back(str(folder, "/", kProgram));
    rest.remove_prefix(colon == rest.npos ? rest.size() : colon + 1);
  }
  return out;
}

Result<std::string> find_program() {
  for (const std::string& path : candidates()) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  const char* given = std::getenv("RKNN_IMPORT_TORCHSCRIPT");
  return Status(
      Code::kUnavailable,
      str("TorchScript files are read by the program ", kProgram,
          given != nullptr && *given != 0
              ? str(", which is not at RKNN_IMPORT_TORCHSCRIPT='", given, "'")
              : ", which is neither beside this library nor in PATH",
          "; install the Debian package libtorch-dev and build OpenRKNN again (its build "
          "leaves the program out where libtorch is missing), or export the model to ONNX "
          "and use load_onnx"));
}

std::chrono::seconds patience() {
  const char* given = std::getenv("RKNN_IMPORT_TORCHSCRIPT_SECONDS");
  const long seconds = given == nullptr ? 0 : std::strtol(given, nullptr, 10);
  return std::chrono::seconds(seconds > 0 ? std::min(seconds, 86400L) : 600);
}

// The exit status as waitpid() gives it; the process is killed when it takes too long.
Result<int> wait_for(pid_t child) {
  const auto end = std::chrono::steady_clock::now() + patience();
  auto pause = std::chrono::milliseconds(2);
  int status = 0;
  while (true) {
    const pid_t found = waitpid(child, &status, WNOHANG);
    if (found == child) return status;
    if (found < 0 && errno != EINTR) {
      // Somebody else has waited for it (SIGCHLD ignored): whether it did its work shows in the answer.
      return 0;
    }
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return Status(Code::kTimeout, str(kProgram, " did not answer within ", patience().count(),
                                        " seconds and was ended; RKNN_IMPORT_TORCHSCRIPT_SECONDS "
                                        "sets how long to wait"));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
}

std::string message_of(int fd) {
  auto bytes = read_all(fd, uint64_t{64} << 20);
  if (!bytes.ok()) return {};
  std::string text(bytes->begin(), bytes->end());
  // Warnings of libtorch come before; the reason comes last.
  if (text.size() > kMostMessageBytes) text = "..." + text.substr(text.size() - kMostMessageBytes);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  }
  return text;
}

}  // namespace

bool is_answer(ByteSpan bytes) {
  return bytes.size() >= kAnswerMagic.size() &&
         std::equal(kAnswerMagic.begin(), kAnswerMagic.end(), bytes.begin());
}

namespace {

constexpr uint32_t kEndOfDirectory = 0x06054b50, kDirectoryEntry = 0x02014b50;
constexpr size_t kEndSize = 22, kEntrySize = 46, kLongestComment = 65535, kMostEntries = 100'000;

// Names of a zip archive's files, as far as its directory can be read.
std::vector<std::string_view> archive_names(ByteSpan bytes) {
  std::vector<std::string_view> out;
  if (bytes.size() < kEndSize) return out;
  const size_t last = bytes.size() - kEndSize;
  const size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (load<uint32_t>(bytes.data() + at) != kEndOfDirectory) continue;
    size_t entry = load<uint32_t>(bytes.data() + at + 16);
    while (out.size() < kMostEntries && entry < at && at - entry >= kEntrySize &&
           load<uint32_t>(bytes.data() + entry) == kDirectoryEntry) {
      const size_t name = load<uint16_t>(bytes.data() + entry + 28);
      const size_t more = size_t{load<uint16_t>(bytes.data() + entry + 30)} +
                          load<uint16_t>(bytes.data() + entry + 32);
      if (name > at - entry - kEntrySize) break;
      out.emplace_back(reinterpret_cast<const char*>(bytes.data()) + entry + kEntrySize, name);
      entry += kEntrySize + name + more;
    }
    break;
  }
  return out;
}

}  // namespace

Status check_archive(ByteSpan bytes) {
  constexpr std::string_view kZip = "PK\x03\x04";
  if (bytes.size() < kZip.size() || !std::equal(kZip.begin(), kZip.end(), bytes.begin())) {
    return invalid_model(
        str("this is not a TorchScript file, which is a zip archive; in Python, ", kRecipe));
  }
  bool has_code = false, has_data = false;
  for (const std::string_view name : archive_names(bytes)) {
    has_code = has_code || name.find("/code/") != name.npos || name.starts_with("code/");
    has_data = has_data || name.ends_with("data.pkl");
  }
  if (has_code || !has_data) return ok_status();  // or damaged in a way that libtorch will tell
  // The pickle lies uncompressed and begins with what it holds.
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min<size_t>(bytes.size(), 4096));
  const bool is_weights = text.find("ccollections\nOrderedDict") != text.npos ||
                          text.find("ctorch._utils") != text.npos;
  return invalid_model(str("this was written by torch.save: it holds ",
                           is_weights ? "weights (a state dict)" : "a pickled Python object",
                           ", but not the network. In Python, where the network's class is, ",
                           kRecipe));
}

Result<std::vector<uint8_t>> ask_helper(ByteSpan model) {
  RK_ASSIGN(const std::string program, find_program());
  const Fd in(memfd_create("torchscript-model", MFD_CLOEXEC));
  const Fd out(memfd_create("torchscript-answer", MFD_CLOEXEC));
  const Fd err(memfd_create("torchscript-messages", MFD_CLOEXEC));
  if (in.get() < 0 || out.get() < 0 || err.get() < 0) {
    return out_of_memory("cannot make files in memory for the helper program");
  }
  RK_TRY(write_all(in.get(), model));
  // Numbers from 10 on cannot be those that dup2 overwrites; a duplicate stays open in the child.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.get(), 2);
  const Fd in_high(fcntl(in.get(), F_DUPFD_CLOEXEC, 10)),
      out_high(fcntl(out.get(), F_DUPFD_CLOEXEC, 10));
  posix_spawn_file_actions_adddup2(&actions, in_high.get(), 3);
  posix_spawn_file_actions_adddup2(&actions, out_high.get(), 4);
  char model_path[] = "/proc/self/fd/3", answer_path[] = "/proc/self/fd/4";
  std::string name = program;
  char* const arguments[] = {name.data(), model_path, answer_path, nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return Status(Code::kUnavailable, str("cannot start '", program, "': ", std::strerror(failed)));
  }
  RK_ASSIGN(const int status, wait_for(child));
  const std::string message = message_of(err.get());
  if (WIFSIGNALED(status)) {
    return invalid_model(str("libtorch ended with signal ", WTERMSIG(status), " (",
                             strsignal(WTERMSIG(status)),
                             ") while reading the file; it is damaged, "
                             "or from a version of PyTorch that libtorch does not know",
                             message.empty() ? "" : ": ", message));
  }
  if (WEXITSTATUS(status) == 127) {
    return Status(
        Code::kUnavailable,
        str("'", program, "' does not start; is the Debian package libtorch1.13 installed?",
            message.empty() ? "" : " ", message));
  }
  if (WEXITSTATUS(status) != 0) {
    return invalid_model(
        str("libtorch cannot read the file: ", message.empty() ? "no reason was given" : message));
  }
  RK_ASSIGN(std::vector<uint8_t> answer, read_all(out.get(), kMostAnswerBytes));
  if (!is_answer(answer))
    return invalid_model(str(kProgram, " gave no answer", message.empty() ? "" : ": ", message));
  return answer;
}

}  // namespace rk::frontends::torchscript
