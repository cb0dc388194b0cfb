#include "bench/status.h"

namespace passnet {

namespace {
constexpr StatusRow kRows[] = {
    {Status::correct, "correct", "right and timed"},
    {Status::eager_fail, "eager_fail", "the graph itself cannot be read or run"},
    {Status::compile_fail, "compile_fail", "a pass, a wrapper or a kernel is not accepted"},
    {Status::runtime_fail, "runtime_fail", "a wrapper raised, or a kernel made a memory error"},
    {Status::shape_mismatch, "shape_mismatch", "outputs of other shapes or number"},
    {Status::type_mismatch, "type_mismatch", "outputs of other dtypes"},
    {Status::accuracy, "accuracy", "wrong at the tolerance that was asked for"},
    {Status::pass_miss, "pass_miss", "no pass changed the graph"},
    {Status::timeout, "timeout", "took longer than its deadline"},
    {Status::crash, "crash", "the worker process died"},
    {Status::integrity, "integrity", "did what a candidate may not"},
    {Status::unstable, "unstable", "right, but too noisy to be timed"},
};
}  // namespace

std::span<const StatusRow> status_rows() { return kRows; }
std::string_view status_name(Status status) { return kRows[static_cast<std::size_t>(status)].name; }
std::optional<Status> status_from_name(std::string_view name) {
  for (const StatusRow& row : kRows)
    if (row.name == name) return row.status;
  return std::nullopt;
}

}  // namespace passnet
