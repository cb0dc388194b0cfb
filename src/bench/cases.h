// What a candidate is compared with: inputs, and what eager makes of them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "bench/doubt.h"
#include "bench/draws.h"
#include "bench/subject.h"

namespace passnet {

// No candidate ever sees these tensors. Fresh memory costs more than most graphs' work, so eager computes on the inputs
// themselves, unless it says that it writes them.
struct Case {
  Draw draw{};
  std::vector<TensorRef> inputs, eager_inputs;
  std::vector<bool> changed;  // by eager
  RunValue expected;
  RunValue expected_on_cpu;       // where it is compared
  bool by_timed_threads = false;  // expected was
  bool firm = true;               // a wrong answer would surely be seen
  std::vector<Typical> typical;   // by value that is compared. Made when somebody asks
  // What eager makes of other inputs, and these after it. Made when somebody asks.
  struct Answer {
    RunValue value;  // on the CPU
    std::vector<TensorRef> inputs;
  };
  std::vector<Answer> moved;
  std::optional<Answer> exact;  // of the same inputs in float64
  bool asked_exact = false;
  bool changes() const { return std::find(changed.begin(), changed.end(), true) != changed.end(); }
};

std::size_t bytes_of(const std::vector<TensorRef>& tensors);

class CaseSource {
 public:
  // `eager` computes `graph`.
  CaseSource(const GraphFolder& graph, Subject& eager, Engine& engine, DeviceType device);

  // The recorded one comes first.
  Result<Case> recorded(std::uint64_t seed);
  // Other inputs may lie where eager itself fails or overflows: those prove nothing, and milder ones are drawn. The
  // error is what eager did on the mildest.
  Result<Case> beyond(const Draw& draw);
  // Given by `beyond` again, once, where it is small.
  void keep(Case c);

  // A candidate's own copies of a case's inputs, in the same memory each time.
  std::vector<TensorRef>& given(const Case& c);
  // Eager's answer once more, by the threads that it has now.
  Result<std::monostate> again(Case& c);
  // Makes what is moved: every input by as much as a step of arithmetic may round, three times.
  Result<std::monostate> move(Case& c);

  // Eager's answer in float64; none: it has none, or the graph asks for dtypes itself.
  const Case::Answer* exact(Case& c);
  // Whether eager adds up, or multiplies, in less than the dtype's own precision.
  bool is_crude(Dtype dtype) const;
  // Whether nobody does: on a GPU, tl.dot of float32 is TF32 unless it says otherwise.
  bool is_sharp(Dtype dtype) const;

  // Whether the recorded inputs say nothing of how exact an answer is: most of their numbers are one number.
  bool is_flat() const { return flat_; }

  // Whether integers or recorded contents are among the inputs, and all of these are so small that a call takes no
  // time.
  bool has_small_integers() const;

  // Inputs whose recorded contents stay in every draw, since eager fails on others.
  const std::vector<std::string>& never_varied() const { return never_varied_; }

  // Seconds of eager's calls above but the last two kinds: they are its first warm-ups.
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  Result<Case> make(const Draw& draw);
  // One that proves something: finite, if the recorded one is.
  Result<Case> make_good(const Draw& draw);
  // Finds out which contents may not vary. True: that helps.
  bool fix_contents(const Draw& draw);

  GraphFolder graph_;
  const std::vector<TensorMeta> metas_;  // as recorded
  const std::vector<std::int64_t> literals_;
  Subject& eager_;
  Engine& engine_;
  const DeviceType device_;
  const bool convolves_, multiplies_, flat_;
  bool writes_;                        // eager changes inputs: it says so, or did with the recorded ones
  bool first_ = true, finite_ = true;  // of the recorded case: not made yet; what eager gave
  std::vector<bool> fixed_;            // metas that are not varied; empty: not known
  std::vector<std::string> never_varied_;
  std::vector<TensorRef> given_;
  std::vector<double> seconds_;
  std::map<std::uint64_t, Case> kept_;  // by the draw's seed
};

// A call whose seconds are kept.
Result<RunValue> timed_call(Subject& subject, std::vector<TensorRef>& inputs, std::vector<double>& seconds);

}  // namespace passnet
