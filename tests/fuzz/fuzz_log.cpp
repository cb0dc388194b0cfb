// Any bytes as a log and as lines of records: read to rows whose scores are numbers; a record that is read is written
// again the same, and as a log it is the row that it is.
#include <cmath>
#include <cstdlib>
#include <iostream>

#include "base/text.h"
#include "bench/log.h"
#include "bench/record.h"
#include "bench/score.h"
#include "fuzz_one.h"

namespace {

using namespace passnet;

[[noreturn]] void broken(std::string_view why, std::string_view text) {
  std::cerr << why << '\n' << text << '\n';
  std::abort();
}

void check_log(std::string_view text) {
  std::vector<ScoreRow> rows;
  for (const LogSample& sample : log_read(text)) rows.push_back(sample.row);
  if (rows.empty()) return;
  for (const auto interpretation : {Interpretation::by_default, Interpretation::mismatch_extended}) {
    const ScoreOptions options{interpretation, 0.5, 0.1};
    const Score direct = score(rows, options);
    const auto closed = es_closed_form(rows, options);
    for (int t = kTightest; t <= direct.last_t; ++t) {
      const double es = direct.es[step_of(t)];
      if (std::isnan(direct.s[step_of(t)]) || std::isnan(es)) broken("a score is no number", text);
      // Speedups near the ends of double's range may overflow one of the two forms.
      if (es > 1e-100 && es < 1e100 && std::fabs(std::log(closed[step_of(t)]) - std::log(es)) > 1e-6)
        broken("the closed form differs", text);
    }
  }
}

void check_record(std::string_view line) {
  const auto record = record_from_line(line);
  if (!record) {
    if (record.error().code == Code::internal) broken("an internal error", error_text(record.error()));
    return;
  }
  const std::string written = record_line(*record);
  const auto again = record_from_line(written);
  if (!again || record_line(*again) != written) broken("written and read differs", written);
  const auto samples = log_read(log_text(*record));
  if (samples.size() != 1 || samples[0].row != score_row(*record)) broken("the log's row differs", log_text(*record));
}

}  // namespace

int fuzz_one(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_log(text);
  for (const std::string_view line : text_lines(text)) check_record(line);
  return 0;
}
