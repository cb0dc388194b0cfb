// A run folder's records on disk: RUN/records.jsonl, append-only, one record a line; the one source of truth of a run.
//
// base/line_file.h says what survives what.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/line_file.h"
#include "bench/record.h"

namespace passnet {

inline constexpr const char* kRecordsFile = "records.jsonl";

class Journal {
 public:
  // Creates the folder where needed, takes its lock and mends the end of the file. An error names the process that
  // holds the lock, or what the file system said.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder);

  // All of the record or, with an error, nothing of it. Any thread.
  Result<std::monostate> append(const Record& record) { return lines_->append(record_line(record)); }

  std::uint64_t cut_bytes() const { return lines_->cut_bytes(); }  // of a torn last line that was cut away on opening
  const std::string& folder() const { return lines_->folder(); }

 private:
  explicit Journal(std::unique_ptr<LineFile> lines) : lines_(std::move(lines)) {}
  std::unique_ptr<LineFile> lines_;
};

// As line_file_scan, with the record of each line.
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

// What is said of a last line without an end.
std::string torn_text(const std::string& path, std::uint64_t bytes);

// Of each (task, graph, candidate) the last record of its highest attempt, in the order of their first records.
std::vector<Record> latest_records(std::vector<Record> records);

}  // namespace passnet
