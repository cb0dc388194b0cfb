// What a kernel sees of its file, and a launch's arguments as the front-end takes them.
#pragma once

#include <map>
#include <memory>

#include "host/module.h"
#include "host/value.h"
#include "tile/lower.h"

namespace passnet {

// The names of one pass file, and through it of the files it imports; in front of them those of the function that made
// the kernel. Refers to the modules; keeps what it evaluated.
class KernelNames final : public tile::Names {
 public:
  explicit KernelNames(const PassModule& module, std::shared_ptr<const KernelClosure> closure = nullptr);
  tile::Named find(std::string_view name) const override;
  Result<tile::Named> call(const py::Stmt& function, const std::vector<tile::ConstValue>& arguments,
                           const NamedConstants& keywords) const override;
  // What a kernel sees of a function under @triton.jit, of whatever file.
  tile::Named device_function(const KernelRef& function) const;

 private:
  // One object per file and closure, shared, so that a device function's names live as long as the kernel's.
  struct Family {
    std::map<std::pair<const PassModule*, const KernelClosure*>, std::unique_ptr<KernelNames>> members;
  };
  KernelNames(const PassModule& module, std::shared_ptr<const KernelClosure> closure, Family* family)
      : module_(module), closure_(std::move(closure)), family_(family) {}
  const KernelNames& of(const PassModule& module, const std::shared_ptr<const KernelClosure>& closure = nullptr) const;
  tile::Named evaluate(std::string_view name, const Binding& binding) const;
  tile::Named of_value(const HostValue& value) const;
  tile::Named captured(const HostValue& value) const;

  const PassModule& module_;
  std::shared_ptr<const KernelClosure> closure_;
  std::unique_ptr<Family> own_;
  Family* family_;
  mutable std::map<std::string, tile::Named, std::less<>> known_;
};

// A constexpr argument: numbers, strings; "triton.language.float32" is the element type.
tile::ConstValue kernel_constant(const Scalar& scalar);

// One for each parameter of the launch's kernel, in order. `names`: of the kernel's file.
Result<std::vector<tile::ArgumentSpec>> kernel_arguments(const KernelNames& names, const LaunchPlan& plan,
                                                         const Launch& launch, const LaunchVariant& variant);

}  // namespace passnet
