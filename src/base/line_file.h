// An append-only file of lines: what was written whole survives the death of the process.
//
// A line is one write(2) in append mode; at most the line being written is torn, and that one has no end of line. Only
// one process writes: it holds a lock, which is a file of its own, since a lock goes when any descriptor of its file is
// closed, and lines are read while they are written.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"

namespace passnet {

inline constexpr const char* kLockFile = "lock";
inline constexpr std::size_t kLineLimit = std::size_t{64} << 20;  // bytes of one line

class LineFile {
 public:
  enum class Alone : std::uint8_t {
    in_folder,  // FOLDER/lock: the folder is this writer's
    in_file,    // FOLDER/NAME.lock: others may write other files there
  };
  using Whole = std::function<bool(std::string_view line)>;  // whether a last line lacks only its end
  // Creates the folder where needed, takes the lock and mends the end of the file. An error names the process that
  // holds the lock, or what the file system said.
  static Result<std::unique_ptr<LineFile>> open(const std::string& folder, const std::string& name, const Whole& whole,
                                                Alone alone = Alone::in_folder);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` with its end: all of it or, with an error, nothing: a short write (a full disk) is cut away again. Any
  // thread.
  Result<std::monostate> append(std::string_view line);

  std::uint64_t cut_bytes() const { return cut_; }  // of a torn last line that was cut away on opening
  const std::string& folder() const { return folder_; }

 private:
  LineFile() = default;
  Result<std::monostate> start(Alone alone);
  Result<std::monostate> mend(const Whole& is_whole);
  void sync(bool now);

  std::string folder_, path_;
  int lock_ = -1, file_ = -1;
  std::uint64_t size_ = 0, cut_ = 0;
  std::chrono::steady_clock::time_point synced_ = {};
  std::mutex mutex_;
};

// Who writes in the folder now: "process 123"; empty where nobody does. Not for the writing process itself.
std::string line_file_writer(const std::string& folder);

// Calls `use` for every line of the file behind `from` that is not blank, and gives the offset behind the last whole
// line. A last line without an end is torn, or being written just now: it is left out.
struct Line {
  std::uint64_t offset = 0, size = 0;  // with its end
  std::uint64_t number = 0;            // counted from 1 at `from`
  std::string_view text;
  bool too_long = false;  // over kLineLimit: `text` is its beginning
};
Result<std::uint64_t> line_file_scan(const std::string& path, std::uint64_t from,
                                     const std::function<void(Line&&)>& use);

}  // namespace passnet
