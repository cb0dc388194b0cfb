#include "bench/results.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "base/file.h"
#include "bench/journal.h"
#include "bench/log.h"
#include "bench/run_index.h"

namespace passnet {

namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  CandidateResults& candidate(const std::string& name) {
    const auto [place, fresh] = at_.try_emplace(name, out.candidates.size());
    if (fresh) out.candidates.emplace_back().candidate = name;
    return out.candidates[place->second];
  }
  Results out;

 private:
  std::unordered_map<std::string, std::size_t> at_;
};

// By its first line: a record, or the beginning of a damaged one; lines of a log may begin with objects of others. What
// is no regular file is left to file_read's error.
bool is_jsonl(const std::string& path) {
  constexpr std::string_view kBegin = R"({"record":)";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string first(kBegin.size(), '\0');
  if (!(in >> std::ws) || !in.read(first.data(), static_cast<std::streamsize>(first.size())) || first[0] != '{')
    return false;
  if (first == kBegin) return true;
  std::string rest;
  std::getline(in, rest);
  return bool(record_from_line(first + rest));
}

Results log_results(const std::string& path, std::string_view text) {
  Collector all;
  CandidateResults& candidate = all.candidate(fs::path(path).filename().string());
  for (LogSample& sample : log_read(text)) {
    GraphResult& g = candidate.graphs.emplace_back();
    g.task = std::move(sample.task);
    g.graph = std::move(sample.path);
    g.status = sample.row.status;
    g.row = sample.row;
    if (const auto s = sample.row.speedup) g.speedup = {*s, *s, *s};
  }
  if (candidate.graphs.empty()) all.out.candidates.clear();
  return std::move(all.out);
}

Result<Results> read_any(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (!is_jsonl(path)) {
      const auto text = file_read(path, kLogLimit);
      if (!text) return text.error();
      return log_results(path, *text);
    }
  } else if (!file_exists((fs::path(path) / kRecordsFile).string())) {
    return Error{Code::io, {}, fmt::format("'{}' is no run: it has no {}", path, kRecordsFile), {}};
  }
  auto content = journal_read(path);
  if (!content) return content.error();
  Results out = results_of(std::move(content->records));
  out.notes = std::move(content->problems);
  if (content->torn_bytes > 0) out.notes.push_back(torn_text(path, content->torn_bytes));
  return out;
}

std::size_t without_speedup(const Results& all) {
  std::size_t out = 0;
  for (const CandidateResults& candidate : all.candidates)
    for (const GraphResult& g : candidate.graphs) out += g.status == Status::correct && !g.row.speedup ? 1 : 0;
  return out;
}

}  // namespace

std::vector<ScoreTask> CandidateResults::tasks() const {
  std::unordered_map<std::string, std::size_t> at;
  std::vector<ScoreTask> out;
  for (const GraphResult& g : graphs) {
    const auto [place, fresh] = at.try_emplace(g.task, out.size());
    if (fresh) out.push_back({g.task, {}});
    out[place->second].graphs.push_back(g.row);
  }
  return out;
}

std::map<Status, std::size_t> CandidateResults::statuses() const {
  std::map<Status, std::size_t> out;
  for (const GraphResult& g : graphs) ++out[g.status];
  return out;
}

Results results_of(std::vector<Record> records) {
  Collector all;
  for (Record& r : latest_records(std::move(records))) {
    CandidateResults& candidate = all.candidate(r.candidate);
    candidate.finished = std::max(candidate.finished, r.finished);
    GraphResult& g = candidate.graphs.emplace_back();
    g.status = r.status;
    g.row = score_row(r);
    if (r.timed) g.speedup = r.speedup;
    g.task = std::move(r.task);
    g.graph = std::move(r.graph);
  }
  return std::move(all.out);
}

Result<Results> results_of_run(const std::string& folder) {
  const auto index = RunIndex::open(folder);
  if (!index) return index.error();
  auto rows = (*index)->latest();
  if (!rows) return rows.error();
  Collector all;
  for (IndexRow& row : *rows) {
    CandidateResults& candidate = all.candidate(row.candidate);
    candidate.finished = std::max(candidate.finished, row.finished);
    GraphResult& g = candidate.graphs.emplace_back();
    g.task = std::move(row.task);
    g.graph = std::move(row.graph);
    g.status = row.status;
    g.row = row.score;
    if (const auto s = row.score.speedup) g.speedup = {*s, *s, *s};
  }
  auto problems = (*index)->problems();
  if (!problems) return problems.error();
  all.out.notes = std::move(*problems);
  return std::move(all.out);
}

Result<Results> results_read(const std::string& path) {
  auto out = read_any(path);
  if (!out) return out;
  if (out->candidates.empty())
    return Error{Code::io, {}, fmt::format("'{}' has no results", path), std::move(out->notes)};
  if (const std::size_t unusable = without_speedup(*out); unusable > 0)
    out->notes.push_back(
        fmt::format("{}: {} no speedup above 0, and count{} as failed", path,
                    unusable == 1 ? "a correct graph has" : fmt::format("{} correct graphs have", unusable),
                    unusable == 1 ? "s" : ""));
  return out;
}

}  // namespace passnet
