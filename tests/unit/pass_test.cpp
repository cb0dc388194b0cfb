// Loading and the host program, where text cases cannot say it: no state between calls, limits, values that come back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "host/policy.h"
#include "pass/load.h"

namespace passnet {
namespace {

constexpr const char* kHead = R"(
import torch
import triton
import triton.language as tl

CACHE = {}
COUNT = 0

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)

def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def replacement_func():
    return run

)";

PassFolder loaded(const std::string& wrapper, LoadOptions options = {}) {
  return load_pass_sources({{"Fuse", kHead + wrapper}}, "Fuse", options).take();
}

HostArgument tensor(std::vector<std::int64_t> sizes) {
  HostArgument a;
  a.tensor = TensorDesc{sizes, contiguous_strides(sizes), Dtype::float32, DeviceType::cpu};
  return a;
}

Result<LaunchPlan> record(const PassFolder& folder, std::vector<HostArgument> arguments, HostLimits limits = {}) {
  return record_plan(*folder.passes[0].module, std::move(arguments), DeviceType::cpu, limits);
}

TEST(Host, nothing_survives_a_call) {
  const PassFolder folder = loaded(
      "def run(x):\n    global COUNT\n    COUNT += 1\n    CACHE[x.shape] = COUNT\n    return torch.empty(len(CACHE), "
      "COUNT)\n");
  const std::string first = plan_text(record(folder, {tensor({2})}).take());
  const std::string second = plan_text(record(folder, {tensor({3})}).take());
  EXPECT_NE(first.find("b1 = allocate float32[1, 1]"), std::string::npos) << first;
  EXPECT_NE(second.find("b1 = allocate float32[1, 1]"), std::string::npos) << second;
}

TEST(Host, plan_names_the_wrappers_lines) {
  const PassFolder folder = loaded(
      "def run(x):\n    out = torch.empty_like(x)\n    kernel[(3,)](x, out, x.numel(), BLOCK=16)\n    return out\n");
  const LaunchPlan plan = record(folder, {tensor({4, 4})}).take();
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].kernel.name(), "kernel");
  EXPECT_EQ(plan.launches[0].variants[0].grid[0], 3);
  EXPECT_EQ(plan.launches[0].place.line, plan.buffers[1].place.line + 1);
  EXPECT_EQ(plan.output.buffer, 1);
}

// torch.arange without a device is on the CPU whatever the graph runs on; Triton refuses it.
TEST(Host, a_kernel_on_a_gpu_takes_no_tensor_of_the_cpu) {
  const auto recorded = [](const std::string& argument, const std::string& result) {
    const PassFolder folder =
        loaded(fmt::format("def run(x):\n    assert x.is_cpu and not x.is_cuda\n"
                           "    out = torch.empty(x.shape, dtype=x.dtype, device='cuda')\n"
                           "    kernel[(1,)]({}, out, 4, BLOCK=4)\n    return {}\n",
                           argument, result));
    return record_plan(*folder.passes[0].module, {tensor({4})}, DeviceType::cuda);
  };
  const auto refused = recorded("x", "out");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("argument 'x_ptr' cannot be accessed"), std::string::npos);
  const auto moved = recorded("x.cuda()", "out.to(x.device)");
  ASSERT_TRUE(moved) << error_text(moved.error());
  ASSERT_EQ(moved->buffers.size(), 4u);
  EXPECT_EQ(moved->buffers[2].desc.device, DeviceType::cuda);
  EXPECT_EQ(moved->buffers[3].desc.device, DeviceType::cpu);
}

TEST(Host, steps_are_limited) {
  const PassFolder folder =
      loaded("def run(x):\n    n = 0\n    for i in range(1000):\n        n += i\n    return torch.empty(1)\n");
  EXPECT_TRUE(record(folder, {tensor({2})}));
  const auto stopped = record(folder, {tensor({2})}, {500, 60, std::int64_t{1} << 40});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::limit);
  EXPECT_GT(stopped.error().where.line, 0u);
}

TEST(Host, depth_is_limited) {
  const PassFolder folder = loaded(
      "def down(n):\n    return 0 if n == 0 else down(n - 1)\n\ndef run(x):\n    return torch.empty(down(40) + 1)\n");
  EXPECT_TRUE(record(folder, {tensor({2})}));
  EXPECT_EQ(record(folder, {tensor({2})}, {2'000'000, 20, std::int64_t{1} << 40}).error().code, Code::limit);
}

// What the address sanitizer, the stack and the memory would not forgive. Whether it is an error or an answer does not
// matter.
TEST(Host, hostile_methods_and_values_harm_nothing) {
  const std::string head =
      "class Eq:\n    def __init__(self, f):\n        self.f = f\n    def __eq__(self, other):\n        return "
      "self.f()\n    def __lt__(self, other):\n        return self.f()\n    def __repr__(self):\n        return "
      "self.f() and 'a'\n    def __bool__(self):\n        return self.f()\n";
  const std::vector<std::string> bodies = {
      "L = []\n    def f():\n        L.clear()\n        return False\n    L += [Eq(f), [Eq(f)], 3]\n    L.index(7)",
      "L = []\n    def f():\n        L.extend([1] * 5000)\n        return False\n    L += [Eq(f), 2, 3]\n    "
      "L.count(7)\n    L == [1, 2, 3]\n    L < [Eq(f), 1]",
      "L = []\n    def f():\n        L.clear()\n        return True\n    L += [Eq(f), 2]\n    L.remove(7)",
      "D = {}\n    def f():\n        D.clear()\n        return True\n    D[1] = 2\n    D[3] = Eq(f)\n    "
      "D[Eq(f)]\n    D == {1: 2, 3: 4}\n    D[Eq(f)] = 5",
      "S = set()\n    def f():\n        S.clear()\n        return True\n    S.add(Eq(f))\n    S.discard(1)\n    "
      "S | {1}\n    S < {1, 2}",
      "L = []\n    def f():\n        L.clear()\n        return True\n    L += [[Eq(f)], 2]\n    str(L)\n    str({1: "
      "L})",
      "n = []\n    def f():\n        n.append(1)\n        return len(n) % 3 != 0\n    sorted([Eq(f) for i in "
      "range(200)])",
      "f = 1\n    for i in range(100000):\n        f = lambda g=f: g\n    f = 2",
      "g = (1,)\n    for i in range(100000):\n        g = (kernel[g],)\n    g = 2",
      "t = ()\n    for i in range(100000):\n        t = (t,)\n    t = 2",
      "s = 'x' * 2 ** 20\n    L = [s] * 200000\n    M = [v for v in L[:1000]]\n    str(L)",
      "s = ('{0}' * 300000).format('x' * 2 ** 20)",
      "s = ('%s' * 300000) % tuple(['x' * 2 ** 20] * 100000)",
      "L = list(range(100000))\n    for i in range(100000):\n        L.insert(0, L.pop(0))",
      "list(enumerate([1, 2], 2 ** 63 - 1))",
      "D = {1: 2}\n    def f():\n        D.clear()\n        return True\n    D.popitem(Eq(f))",
      "D = {1: 2, 3: 4}\n    def f():\n        D.clear()\n        return False\n    D.move_to_end(3, Eq(f))",
      "import bisect, itertools, math\n    for f in (len, pow, map, zip, getattr, bisect.insort, bisect.bisect_most, "
      "itertools.islice, itertools.some, math.sqrt, math.hypot, math.some, 'a'.find, [].insert, {}.get, set().add, "
      "triton.cdiv):\n        try:\n            f()\n        except TypeError:\n            pass",
      "torch.empty(()).unflatten(0, (1, 1))",
  };
  for (const std::string& body : bodies) {
    const PassFolder folder = loaded(head + "\ndef run(x):\n    " + body + "\n    return torch.empty(1)\n");
    const auto begin = std::chrono::steady_clock::now();
    const auto plan = record(folder, {tensor({2})});
    EXPECT_TRUE(plan || !plan.error().message.empty()) << body;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << body;
  }
}

TEST(Host, functions_and_scopes_are_freed) {  // what the address sanitizer would report
  const PassFolder folder = loaded(
      "def run(x):\n    def inner(n):\n        return lambda: inner(n)\n    f = inner(1)\n    g = [f]\n    return "
      "torch.empty(1)\n");
  EXPECT_TRUE(record(folder, {tensor({2})}));
}

TEST(Load, several_files) {
  const auto folder = load_pass_sources(
      {{"Fuse", "from pass_dir.helper import *\n"}, {"helper", std::string(kHead) + "def run(x):\n    return x\n"}},
      "Fuse");
  ASSERT_TRUE(folder) << error_text(folder.error());
  EXPECT_EQ(folder->passes[0].wrapper.name, "run");
  EXPECT_EQ(folder->passes[0].wrapper.module->name, "helper");
}

TEST(Load, replacement_args_refer_to_placeholders) {
  const auto folder = load_pass_sources(
      {{"Fuse",
        "import torch\ndef pattern(a, b):\n    return a + b\ndef replacement_args(a, b):\n    return (b, (a, 2), "
        "'r')\ndef run(*args):\n    return args[0]\ndef replacement_func():\n    return run\n"}},
      "Fuse");
  ASSERT_TRUE(folder) << error_text(folder.error());
  const auto& args = folder->passes[0].replacement_args;
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(args[0], Value::ref(1));
  EXPECT_EQ(args[1], Value::sequence(ValueKind::tuple, {Value::ref(0), Value::of(std::int64_t{2})}));
  EXPECT_EQ(args[2], Value::string("r"));
}

TEST(Policy, every_violation_has_its_line) {
  ModuleLoader loader(std::map<std::string, std::string>{
      {"Fuse", std::string(kHead) + "def run(x):\n    y = torch.relu(x)\n    return y.sum()\n"}});
  const auto found = check_policy(loader.load("Fuse"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].error.where.line + 1, found[1].error.where.line);
  for (const PolicyViolation& v : found) EXPECT_EQ(v.error.code, Code::policy);
}

TEST(Policy, pattern_and_arguments_are_free) {
  ModuleLoader loader(std::map<std::string, std::string>{{"Fuse", std::string(kHead) + "def run(x):\n    return x\n"}});
  EXPECT_TRUE(check_policy(loader.load("Fuse")).empty());
}

}  // namespace
}  // namespace passnet
