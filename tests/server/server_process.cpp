// SPDX-License-Identifier: Apache-2.0
#include "tests/server/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

namespace rk::server_test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "rknn-server-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make a folder like " + name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

std::string variable_or(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

}  // namespace

std::string plugin_folder() { return variable_or("OPENRKNN_SERVER_PLUGINS", RK_PLUGIN_DIR); }

ServerProcess::ServerProcess(std::vector<std::string> options,
                             std::vector<std::string> environment) {
  // An emulator with its options may stand before the program.
  std::istringstream program(variable_or("OPENRKNN_SERVER", RK_SERVER));
  std::vector<std::string> words(std::istream_iterator<std::string>(program), {});
  const std::string library = variable_or("OPENRKNN_SERVER_LIBRARY", RK_LIBRARY);
  words.insert(words.end(),
               {"--library", library, "--port", "0", "--port-file", folder_.path("port")});
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log = folder_.path("log");
  pid_ = fork();
  if (pid_ == 0) {
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, 1);
    dup2(out, 2);
    for (std::string& variable : environment) putenv(variable.data());
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  // Sanitized programs on a busy machine take their time.
  for (int i = 0; i < 600 && port_ == 0 && alive(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ifstream(folder_.path("port")) >> port_;
  }
}

// Sanitizers look for leaks when a program ends by itself.
ServerProcess::~ServerProcess() {
  end(std::getenv("RK_SERVER_ENDS_ITSELF") == nullptr ? SIGKILL : SIGTERM);
}

remote::Device ServerProcess::device() const {
  const std::string address = str("127.0.0.1:", port_);
  return {.id = address, .address = address};
}

std::string ServerProcess::output() const {
  std::ifstream file(folder_.path("log"));
  return {std::istreambuf_iterator<char>(file), {}};
}

bool ServerProcess::alive() const {
  siginfo_t about{};
  return pid_ > 0 &&
         waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         about.si_pid == 0;
}

int ServerProcess::end(int signal) {
  if (pid_ <= 0) return -1;
  kill(pid_, signal);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

}  // namespace rk::server_test
