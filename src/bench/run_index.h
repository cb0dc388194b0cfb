// RUN/index.sqlite: what is finished in a run, found without reading its records. Derived from records.jsonl: made when
// missing, brought up to date by what was appended, made again when it does not fit the file or is damaged; in memory
// where the folder cannot be written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/score.h"

struct sqlite3;

namespace passnet {

inline constexpr const char* kIndexFile = "index.sqlite";

struct IndexRow {
  std::uint64_t offset = 0, size = 0;  // of the record's line in records.jsonl
  std::string task, graph, candidate;
  int attempt = 0;
  Status status = Status::runtime_fail;
  ScoreRow score;
  std::int64_t finished = 0;
};

class RunIndex {
 public:
  static Result<std::unique_ptr<RunIndex>> open(const std::string& folder);
  ~RunIndex();
  RunIndex(const RunIndex&) = delete;
  RunIndex& operator=(const RunIndex&) = delete;

  // Takes in what was appended since.
  Result<std::monostate> update();
  // The latest attempt of each (task, graph, candidate), in their order.
  Result<std::vector<IndexRow>> latest();
  Result<std::optional<IndexRow>> find(const std::string& task, const std::string& graph, const std::string& candidate);

  std::size_t lines_read() const { return lines_; }  // of the JSONL, since opened
  // In words: lines that are no records, a torn last line.
  Result<std::vector<std::string>> problems();
  bool in_memory() const { return in_memory_; }

 private:
  RunIndex() = default;
  void open_database(const std::string& path);
  void close();
  void make_tables();
  void take_in();
  std::vector<IndexRow> select(std::string_view where, const std::vector<std::string>& values);

  std::string records_;
  sqlite3* database_ = nullptr;
  std::size_t lines_ = 0;
  bool in_memory_ = false;
};

}  // namespace passnet
