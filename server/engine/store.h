// SPDX-License-Identifier: Apache-2.0
// Which models exist and whose they are. A model of a session is seen, run and freed by that session only; models of the
// server's own folder are everybody's to run. Calls from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/engine/model.h"

namespace rk::server {

class Store {
 public:
  Store(std::shared_ptr<const Library> library, const Limits& limits);

  const Limits& limits() const { return limits_; }
  const Library& library() const { return *library_; }
  Budget& bytes_in_flight() { return bytes_; }

  // Every NAME.rknn of a folder, for everybody. A file that cannot be loaded is reported by index() and fails nothing.
  Status open_folder(const std::string& folder);
  // Of the folder; kInvalidContext when it has no such file.
  Status load_public(const std::string& name);
  Status unload_public(const std::string& name);

  // A name that cannot be guessed. `end` is called, on another thread, when the session was idle for too long.
  Result<std::string> open_session(std::function<void()> end);
  void close_session(const std::string& session);
  // Ends sessions that had no call for Limits::idle_s; called now and then.
  void end_idle_sessions();

  // `session` empty: of a client without one. Own models hide the server's of the same name.
  Result<std::shared_ptr<Model>> find(const std::string& session, const std::string& name);
  Result<std::shared_ptr<Model>> load(const std::string& session, const std::string& name,
                                      std::string_view file, const ModelOptions& options);
  Status unload(const std::string& session, const std::string& name);

  struct Entry {
    std::string name;
    std::string reason;  // why it is not loaded; empty: it is
  };
  Result<std::vector<Entry>> index(const std::string& session);

  uint32_t session_count() const;
  uint32_t model_count() const;
  uint32_t context_count() const { return static_cast<uint32_t>(contexts_->taken()); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Session {
    std::map<std::string, std::shared_ptr<Model>> models;
    Clock::time_point last_call;
    std::function<void()> end;
    bool ended = false;
  };
  struct Public {
    std::string path;
    std::shared_ptr<Model> model;
    std::string reason;
  };
  Status may_add(const std::string& session, const std::string& name);
  Result<Session*> find_session(const std::string& session);  // with the lock held
  uint32_t instances() const;

  std::shared_ptr<const Library> library_;
  const Limits limits_;
  std::shared_ptr<Budget> contexts_;
  Budget bytes_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, Session> sessions_;
  std::map<std::string, Public> public_;
};

}  // namespace rk::server
