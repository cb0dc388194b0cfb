// Records of every kind for tests of scores, logs and journals: from a rapidcheck generator.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "bench/record.h"
#include "bench/score.h"

namespace passnet {

// Text with what logs and JSON have to be careful with.
inline std::string random_text() {
  static const std::vector<std::string> parts = {"a",
                                                 "graph_0",
                                                 "/",
                                                 " ",
                                                 "\n",
                                                 "\r",
                                                 "\"",
                                                 "\\",
                                                 "é",
                                                 "all_close",
                                                 "Error:",
                                                 "Exception:",
                                                 "[equal]: 1",
                                                 "[Processing] x",
                                                 "match:True",
                                                 "[Shape] ",
                                                 "[DataType] ",
                                                 "[Datatype][eager]: float32",
                                                 "[Speedup][e2e]: 3",
                                                 "[Config] task: z",
                                                 "No passes modified",
                                                 std::string(1, '\0')};
  std::string out;
  const int n = *rc::gen::inRange(0, 6);
  for (int i = 0; i < n; ++i) out += *rc::gen::elementOf(parts);
  return out;
}

inline double random_number() {
  const int kind = *rc::gen::inRange(0, 20);
  if (kind == 0) return std::numeric_limits<double>::quiet_NaN();
  if (kind == 1) return std::numeric_limits<double>::infinity();
  if (kind == 2) return -std::numeric_limits<double>::infinity();
  if (kind == 3) return 0;
  return *rc::gen::arbitrary<double>();
}

inline double random_speedup() { return std::exp(*rc::gen::inRange(-3000, 3000) / 1000.0); }

inline OutputRecord random_output() {
  OutputRecord o;
  static const std::vector<std::string> dtypes = {"float16", "bfloat16", "float32", "float64", "int64", "bool"};
  o.dtype = *rc::gen::elementOf(dtypes);
  o.compiled_dtype = *rc::gen::elementOf(dtypes);
  o.shape = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 4096));
  o.equal = *rc::gen::arbitrary<bool>();
  for (int& t : o.tightest_t) t = *rc::gen::inRange(kTightest, kNever + 1);
  o.max_diff = random_number();
  o.mean_diff = random_number();
  return o;
}

inline Times random_times(bool gpu) {
  Times t;
  const int n = *rc::gen::inRange(0, 5);
  for (int i = 0; i < n; ++i) t.e2e_ms.push_back(random_number());
  t.e2e.count = t.e2e_ms.size();
  t.e2e.median = random_number();
  if (!gpu) return t;
  t.gpu_ms.push_back(random_number());
  t.gpu.median = random_number();
  t.warm_e2e.count = t.warm_gpu.count = static_cast<std::size_t>(*rc::gen::inRange(0, 3));
  if (t.warm_e2e.count > 0) t.warm_e2e.median = random_number();
  return t;
}

inline Record random_record() {
  Record r;
  r.task = random_text();
  r.graph = random_text();
  r.candidate = random_text();
  r.attempt = *rc::gen::inRange(0, 3);
  r.status = (*rc::gen::elementOf(std::vector<StatusRow>(status_rows().begin(), status_rows().end()))).status;
  if (*rc::gen::arbitrary<bool>()) r.tightest_t = *rc::gen::inRange(kTightest, kNever + 1);
  const int outputs = *rc::gen::inRange(0, 4);
  for (int i = 0; i < outputs; ++i) r.outputs.push_back(random_output());
  const int errors = *rc::gen::inRange(0, 3);
  for (int i = 0; i < errors; ++i)
    r.errors.push_back({Code::kernel, {random_text(), 3, 1, ""}, random_text(), {random_text()}});
  r.notes = {random_text()};
  r.timed = *rc::gen::arbitrary<bool>();
  if (r.timed) {
    const bool gpu = *rc::gen::arbitrary<bool>();
    r.eager = random_times(gpu);
    r.compiled = random_times(gpu);
    r.speedup = {*rc::gen::inRange(0, 8) == 0 ? random_number() : random_speedup(), random_number(), random_number()};
    if (gpu) r.gpu_speedup = {random_speedup(), 1, 2};
    if (*rc::gen::arbitrary<bool>()) r.speedup_again = Ratio{random_speedup(), 0.5, 1.5};
    if (gpu) r.gpu = GpuRecord{{1980, 3201, -1}, {-1, -1, *rc::gen::inRange(20, 90)}, {}};
    if (gpu && *rc::gen::arbitrary<bool>()) r.gpu->foreign_processes = *rc::gen::inRange(0, 3);
  }
  r.conditions.hardware = random_text();
  r.conditions.torch_version = random_text();
  return r;
}

inline ScoreRow random_row() {
  ScoreRow row;
  if (*rc::gen::inRange(0, 3) == 0) {
    row.status = *rc::gen::element(Status::eager_fail, Status::compile_fail, Status::runtime_fail,
                                   Status::shape_mismatch, Status::type_mismatch, Status::pass_miss);
    return row;
  }
  row.status = Status::correct;
  row.right = RightAt(*rc::gen::inRange<unsigned>(0, 1U << kSteps));
  if (*rc::gen::inRange(0, 10) != 0) row.speedup = random_speedup();
  return row;
}

inline std::vector<ScoreRow> random_rows() {
  std::vector<ScoreRow> rows;
  const int n = *rc::gen::inRange(1, 12);
  for (int i = 0; i < n; ++i) rows.push_back(random_row());
  return rows;
}

inline ScoreOptions random_options() {
  ScoreOptions o;
  o.interpretation = *rc::gen::element(Interpretation::by_default, Interpretation::mismatch_extended);
  o.p = *rc::gen::element(0.0, 0.5, 1.0, 3.0);
  o.b = *rc::gen::element(0.1, 0.3, 0.5, 0.01);
  return o;
}

}  // namespace passnet
