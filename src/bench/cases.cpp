#include "bench/cases.h"

#include <chrono>
#include <initializer_list>
#include <string_view>

#include "ops/effects.h"

namespace passnet {

namespace {

constexpr std::size_t kSmallBytes = std::size_t{16} << 20;  // cases are kept from check to check up to this size

// Bits at the end of a number that steps of arithmetic may change. Convolutions of float32 on a GPU leave out 13
// (TF32): they do not see fewer.
constexpr int unsure_bits(Dtype dtype, DeviceType device, bool convolves) {
  if (dtype == Dtype::bfloat16) return 1;
  if (dtype == Dtype::float16) return 3;  // as much; eager may add up in halves
  if (device != DeviceType::cuda) return 8;
  return convolves ? 14 : 12;
}

bool has_name_with(const Graph& graph, std::initializer_list<std::string_view> parts) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return node.target.find(part) != std::string::npos; });
  });
}
bool has_convolution(const Graph& graph) { return has_name_with(graph, {"conv"}); }
bool has_products(const Graph& graph) {
  return has_name_with(graph,
                       {"conv", "mm", "matmul", "linear", "einsum", "dot", "attention", "lstm", "gru", "rnn", "cdist"});
}

// Where most floats that are drawn are the mean.
bool has_flat_inputs(const GraphFolder& graph) {
  std::size_t flat = 0, all = 0;
  for (const std::int32_t index : graph.inputs) {
    const TensorMeta& meta = graph.metas[static_cast<std::size_t>(index)];
    if (meta.data || !dtype_row(meta.dtype).floating) continue;
    all += meta.element_count();
    if (meta.std && *meta.std == 0) flat += meta.element_count();
  }
  return 2 * flat > all;
}

template <class Bits>
void move_bits(void* data, std::int64_t count, Bits exponent, int bits, std::uint64_t seed) {
  auto* to = static_cast<Bits*>(data);
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const bool plain = (to[i] & exponent) != 0 && (to[i] & exponent) != exponent;  // zero and infinity stay
    to[i] ^= plain ? static_cast<Bits>(state >> 33) & static_cast<Bits>((Bits{1} << bits) - 1) : Bits{0};
  }
}

void collect(const Value& value, std::vector<std::int64_t>& out) {
  if (value.kind == ValueKind::integer) out.push_back(value.integer);
  for (const Value& item : value.items) collect(item, out);
}

std::vector<std::int64_t> literals_of(const Graph& graph) {
  std::vector<std::int64_t> out;
  for (const Node& node : graph.nodes) {
    for (const Value& value : node.args) collect(value, out);
    for (const Kwarg& kwarg : node.kwargs) collect(kwarg.value, out);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::size_t bytes_of(const std::vector<TensorRef>& tensors) {
  std::size_t out = 0;
  for (const TensorRef& t : tensors)
    out += static_cast<std::size_t>(describe(t).element_count()) * dtype_row(t.dtype).size;
  return out;
}

Result<RunValue> timed_call(Subject& subject, std::vector<TensorRef>& inputs, std::vector<double>& seconds) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = subject.run(inputs);
  seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return result;
}

CaseSource::CaseSource(const GraphFolder& graph, Subject& eager, Engine& engine, DeviceType device)
    : graph_(graph),
      metas_(graph.metas),
      literals_(literals_of(graph.graph)),
      eager_(eager),
      engine_(engine),
      device_(device),
      convolves_(has_convolution(graph.graph)),
      multiplies_(has_products(graph.graph)),
      flat_(has_flat_inputs(graph)),
      writes_(graph_writes(graph.graph)) {}

Result<Case> CaseSource::recorded(std::uint64_t seed) {
  auto c = make({seed});
  if (!c) return c;
  first_ = false;
  finite_ = all_finite(c->expected_on_cpu, engine_).take();
  return c;
}

Result<Case> CaseSource::beyond(const Draw& drawn) {
  if (auto kept = kept_.extract(drawn.seed)) return std::move(kept.mapped());
  for (Draw draw = drawn;;) {
    auto c = make_good(draw);
    if (!c && draw.varied && fix_contents(draw)) c = make_good(draw);
    const std::optional<Draw> next = milder(draw);
    if (c || !next) return c;
    draw = *next;
  }
}

bool CaseSource::has_small_integers() const {
  constexpr std::size_t kFewBytes = std::size_t{64} << 10;
  std::size_t bytes = 0;
  bool varies = false;
  for (const std::int32_t index : graph_.inputs) {
    const TensorMeta& meta = metas_[static_cast<std::size_t>(index)];
    bytes += meta.element_count() * dtype_row(meta.dtype).size;
    varies = varies || can_vary(meta);
  }
  return varies && bytes <= kFewBytes;
}

void CaseSource::keep(Case c) {
  const std::uint64_t seed = c.draw.seed;
  if (bytes_of(c.inputs) < kSmallBytes) kept_.insert_or_assign(seed, std::move(c));
}

Result<Case> CaseSource::make_good(const Draw& draw) {
  auto c = make(draw);
  if (c && finite_ && !all_finite(c->expected_on_cpu, engine_).take())
    return Error{Code::run, {}, "eager's answer is not finite there", {}};
  return c;
}

bool CaseSource::fix_contents(const Draw& draw) {
  if (!fixed_.empty()) return false;
  fixed_.assign(metas_.size(), true);
  const auto works = [&] { return static_cast<bool>(make_good({draw.seed, 1, Normals::quick, true})); };
  if (!works()) {  // whatever varies
    fixed_.assign(metas_.size(), false);
    return false;
  }
  std::vector<bool> breaks(metas_.size(), false);
  for (std::size_t i = 0; i < metas_.size(); ++i) {
    if (!can_vary(metas_[i])) continue;
    fixed_[i] = false;
    breaks[i] = !works();
    fixed_[i] = true;
  }
  fixed_ = std::move(breaks);
  for (std::size_t i = 0; i < metas_.size(); ++i)
    if (fixed_[i]) never_varied_.push_back(metas_[i].name);
  return !never_varied_.empty();
}

Result<Case> CaseSource::make(const Draw& draw) {
  Case c;
  c.draw = draw;
  const bool watched = writes_ || first_;  // some write and do not say so: batch_norm in training
  graph_.metas = drawn_metas(metas_, draw, device_, literals_, fixed_);
  auto inputs = engine_.replay(graph_, draw.seed, device_, draw.normals);
  if (!inputs) return inputs.error();
  c.inputs = std::move(*inputs);
  c.eager_inputs = writes_ ? copies(c.inputs, engine_) : c.inputs;
  if (watched && !writes_) given_ = copies(c.inputs, engine_);
  const std::vector<TensorRef>& before = writes_ ? c.inputs : given_;
  auto expected = timed_call(eager_, c.eager_inputs, seconds_);
  if (!expected) return expected.error();
  c.expected = std::move(*expected);
  c.expected_on_cpu = on_cpu(c.expected, engine_);
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    c.changed.push_back(watched && !equal_bytes(c.eager_inputs[i], before[i], engine_).take());
  if (c.changes() && !writes_) {
    c.inputs = copies(given_, engine_);
    writes_ = true;
  }
  return c;
}

std::vector<TensorRef>& CaseSource::given(const Case& c) {
  if (given_.empty() || c.changes()) return given_ = copies(c.inputs, engine_);  // its shapes may be changed, too
  for (std::size_t i = 0; i < given_.size(); ++i) engine_.copy(given_[i], c.inputs[i]).take();
  return given_;
}

Result<std::monostate> CaseSource::again(Case& c) {
  if (c.changes()) c.eager_inputs = copies(c.inputs, engine_);
  auto expected = eager_.run(c.eager_inputs);
  if (!expected) return expected.error();
  c.expected = std::move(*expected);
  c.expected_on_cpu = on_cpu(c.expected, engine_);
  c.by_timed_threads = true;
  return std::monostate{};
}

const Case::Answer* CaseSource::exact(Case& c) {
  if (!c.asked_exact) {
    c.asked_exact = true;
    std::vector<TensorRef> inputs;
    for (const TensorRef& t : c.inputs) {
      TensorDesc desc = describe(t);
      if (dtype_row(t.dtype).floating) desc.dtype = Dtype::float64;
      inputs.push_back(engine_.allocate(desc).take());
      engine_.copy(inputs.back(), t).take();
    }
    if (auto answer = eager_.run(inputs))
      c.exact = {on_cpu(*answer, engine_), c.changes() ? std::move(inputs) : std::vector<TensorRef>()};
  }
  return c.exact ? &*c.exact : nullptr;
}

bool CaseSource::is_crude(Dtype dtype) const {
  const bool half = dtype == Dtype::float16 || dtype == Dtype::bfloat16;
  return half || (dtype == Dtype::float32 && convolves_ && device_ == DeviceType::cuda);  // TF32
}

bool CaseSource::is_sharp(Dtype dtype) const {
  return !is_crude(dtype) && !(dtype == Dtype::float32 && multiplies_ && device_ == DeviceType::cuda);
}

Result<std::monostate> CaseSource::move(Case& c) {
  constexpr std::uint64_t kMoves = 3;
  for (std::uint64_t seed = c.moved.size() + 1; seed <= kMoves; ++seed) {
    std::vector<TensorRef> inputs = copies(c.inputs, engine_);
    for (const TensorRef& input : inputs) {
      if (!dtype_row(input.dtype).floating) continue;
      TensorRef moved = engine_.contiguous_on_cpu(input).take();
      if (moved.data == input.data) moved = copies({moved}, engine_)[0];
      const std::int64_t count = describe(moved).element_count();
      const int bits = unsure_bits(input.dtype, device_, convolves_);
      if (input.dtype == Dtype::float16) move_bits<std::uint16_t>(moved.data, count, 0x7c00, bits, seed);
      if (input.dtype == Dtype::bfloat16) move_bits<std::uint16_t>(moved.data, count, 0x7f80, bits, seed);
      if (input.dtype == Dtype::float32) move_bits<std::uint32_t>(moved.data, count, 0x7f80'0000, bits, seed);
      if (input.dtype == Dtype::float64) move_bits<std::uint64_t>(moved.data, count, 0x7ff0'0000'0000'0000, bits, seed);
      engine_.copy(input, moved).take();
    }
    auto answer = eager_.run(inputs);
    if (!answer) return std::move(answer.error());
    c.moved.push_back({on_cpu(*answer, engine_), c.changes() ? std::move(inputs) : std::vector<TensorRef>()});
  }
  return std::monostate{};
}

}  // namespace passnet
