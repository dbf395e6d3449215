// SPDX-License-Identifier: Apache-2.0
// An rknn_server of the build folder as a child process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "remote/client.h"

namespace rk::server_test {

// A folder that is removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Operators for the server; OPENRKNN_SERVER_PLUGINS names another folder.
std::string plugin_folder();

// OPENRKNN_SERVER and OPENRKNN_SERVER_LIBRARY name another server (with an emulator before it) and runtime.
// RK_SERVER_ENDS_ITSELF: told to end at the end, not killed.
class ServerProcess {
 public:
  // Waits until the server answers; port() is 0 when it does not come up, and output() has what it said.
  explicit ServerProcess(std::vector<std::string> options = {},
                         std::vector<std::string> environment = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  remote::Device device() const;
  std::string output() const;
  // The server must still be alive.
  bool alive() const;
  int end(int signal);  // its exit status

 private:
  Folder folder_;
  pid_t pid_ = -1;
  int port_ = 0;
};

}  // namespace rk::server_test
