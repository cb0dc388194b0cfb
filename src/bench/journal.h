// A run folder's records on disk: RUN/records.jsonl, append-only, one record a line; the one source of truth of a run.
//
// A line is one write(2) in append mode, so what was finished survives the death of the process; at most the line being
// written is torn, and that one has no end of line. Only one process writes: it holds the lock RUN/lock.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/record.h"

namespace passnet {

inline constexpr const char* kRecordsFile = "records.jsonl";
inline constexpr const char* kLockFile = "lock";
inline constexpr std::size_t kRecordLimit = std::size_t{64} << 20;  // bytes of one line

class Journal {
 public:
  // Creates the folder where needed, takes its lock and mends the end of the file. An error names the process that
  // holds the lock, or what the file system said.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // All of the record or, with an error, nothing of it: a short write (a full disk) is cut away again. Any thread.
  Result<std::monostate> append(const Record& record);

  std::uint64_t cut_bytes() const { return cut_; }  // of a torn last line that was cut away on opening
  const std::string& folder() const { return folder_; }

 private:
  Journal() = default;
  Result<std::monostate> start();
  Result<std::monostate> mend();
  void sync(bool now);

  std::string folder_, path_;
  int lock_ = -1, file_ = -1;
  std::uint64_t size_ = 0, cut_ = 0;
  std::chrono::steady_clock::time_point synced_ = {};
  std::mutex mutex_;
};

// Who writes to the run folder now: "process 123"; empty where nobody does. Not for the writing process itself.
std::string journal_writer(const std::string& folder);

// Calls `use` for every line of the file behind `from` that is not blank, and gives the offset behind the last whole
// line. A last line without an end is torn, or being written just now: it is left out.
struct JournalLine {
  std::uint64_t offset = 0, size = 0;  // with its end
  std::uint64_t number = 0;            // counted from 1 at `from`
  Result<Record> record;
};
Result<std::uint64_t> journal_scan(const std::string& path, std::uint64_t from,
                                   const std::function<void(JournalLine&&)>& use);

struct JournalContent {
  std::vector<Record> records;        // in the order of the file
  std::vector<std::string> problems;  // lines that are no records
  std::uint64_t torn_bytes = 0;       // of a last line without an end
};
// `path` is a run folder or a JSONL file.
Result<JournalContent> journal_read(const std::string& path);

// Of each (task, graph, candidate) the last record of its highest attempt, in the order of their first records.
std::vector<Record> latest_records(std::vector<Record> records);

}  // namespace passnet
