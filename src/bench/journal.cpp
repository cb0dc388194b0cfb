#include "bench/journal.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <tuple>

namespace passnet {

namespace fs = std::filesystem;

Result<std::unique_ptr<Journal>> Journal::open(const std::string& folder) {
  auto lines = LineFile::open(folder, kRecordsFile, [](std::string_view line) { return bool(record_from_line(line)); });
  if (!lines) return std::move(lines.error());
  return std::unique_ptr<Journal>(new Journal(std::move(*lines)));
}

Result<std::uint64_t> journal_scan(const std::string& path, std::uint64_t from,
                                   const std::function<void(JournalLine&&)>& use) {
  return line_file_scan(path, from, [&](Line&& line) {
    use({line.offset, line.size, line.number,
         line.too_long ? Result<Record>(Error{Code::limit, {}, "a line over 64 MiB", {}})
                       : record_from_line(line.text)});
  });
}

Result<JournalContent> journal_read(const std::string& path) {
  std::error_code error;
  const std::string file = fs::is_directory(path, error) ? (fs::path(path) / kRecordsFile).string() : path;
  JournalContent out;
  const auto end = journal_scan(file, 0, [&](JournalLine&& line) {
    if (line.record)
      out.records.push_back(std::move(*line.record));
    else if (out.problems.size() < 100)
      out.problems.push_back(fmt::format("{}:{}: {}", file, line.number, line.record.error().message));
  });
  if (!end) return end.error();
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > *end) out.torn_bytes = size - *end;
  return out;
}

std::string torn_text(const std::string& path, std::uint64_t bytes) {
  return fmt::format("{}: the last line is torn; {} bytes left out", path, bytes);
}

std::vector<Record> latest_records(std::vector<Record> records) {
  std::map<RecordKey, std::size_t> at;
  std::vector<Record> out;
  for (Record& record : records) {
    const auto [place, fresh] = at.try_emplace(record_key(record.task, record.graph, record.candidate), out.size());
    if (fresh)
      out.push_back(std::move(record));
    else if (Record& known = out[place->second]; record.attempt >= known.attempt)
      known = std::move(record);
  }
  return out;
}

}  // namespace passnet
