// What the rules of views, of copies and of x[...] share.
#pragma once

#include <functional>

#include "author/trace.h"

namespace passnet::author {

using Strides = std::vector<std::int64_t>;

// A dimension counted from the end, too.
std::size_t wrapped(std::int64_t d, std::size_t rank);

// Dimensions taken out (size 1, or picked at an index) and put in.
Handle drop_dim(Trace& trace, const Handle& h, std::size_t d, const Lin& at, std::string text);
Handle insert_dim(Trace& trace, const Handle& h, std::size_t d, std::string text);
// x[start:stop:step] along one dimension; `count` is its new size.
Handle slice_dim(Trace& trace, const Handle& h, std::size_t d, const Dim& start, std::int64_t step, const Dim& count,
                 std::string text);

// A tensor that eager would store: every element taken from `source` at a mapped index.
const Tensor* remapped(Trace& trace, const Tensor* source, std::vector<Dim> shape, std::string label,
                       std::function<Index(Indices&, const Index&)> map);

// The rows of `source` along `d` that `picks` names; its dimensions take the place of d.
const Tensor* gathered(Trace& trace, const Handle& source, std::size_t d, const Handle& picks, bool may_be_negative,
                       const std::string& label);

}  // namespace passnet::author
