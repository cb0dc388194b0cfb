# Rows: torch.nn.functional. One row per operator: its Python spellings, its signature with defaults, and what it calls.
#
# How to read a row. `@op(...)` lists the spellings (".f" is a method, "getattr.f" an attribute). The signature normalises
# a call's arguments. The body is lowered when a graph is loaded, never executed as Python:
#   aten.f(...)   an ATen operator, the first of its overloads that fits
#   torch.f(...), x.f(...), a + b   another row, or an operator of torch without one
#   py.f(...)     a builtin of ours that works on sizes, numbers and indices when the graph runs
#   is_tensor, is_int, is_number, is_string, is_sequence, is_none, len   known while lowering
# A condition that is known while lowering picks its arm; one that is not (a rank, a size) becomes a branch of the program.


@op("torch.nn.functional.relu")
def row(input, inplace=False):
    return aten.relu_(input) if inplace else aten.relu(input)


@op("torch.nn.functional.relu6")
def row(input, inplace=False):
    return aten.relu6_(input) if inplace else aten.relu6(input)


@op("torch.nn.functional.hardtanh")
def row(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return aten.hardtanh_(input, min_val, max_val) if inplace else aten.hardtanh(input, min_val, max_val)


@op("torch.nn.functional.elu")
def row(input, alpha=1.0, inplace=False):
    return aten.elu_(input, alpha) if inplace else aten.elu(input, alpha)


@op("torch.nn.functional.selu")
def row(input, inplace=False):
    return aten.selu_(input) if inplace else aten.selu(input)


@op("torch.nn.functional.celu")
def row(input, alpha=1.0, inplace=False):
    return aten.celu_(input, alpha) if inplace else aten.celu(input, alpha)


@op("torch.nn.functional.leaky_relu")
def row(input, negative_slope=0.01, inplace=False):
    return aten.leaky_relu_(input, negative_slope) if inplace else aten.leaky_relu(input, negative_slope)


@op("torch.nn.functional.rrelu")
def row(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False):
    return aten.rrelu_(input, lower, upper, training) if inplace else aten.rrelu(input, lower, upper, training)


@op("torch.nn.functional.threshold")
def row(input, threshold, value, inplace=False):
    return aten.threshold_(input, threshold, value) if inplace else aten.threshold(input, threshold, value)


@op("torch.nn.functional.silu")
def row(input, inplace=False):
    return aten.silu_(input) if inplace else aten.silu(input)


@op("torch.nn.functional.mish")
def row(input, inplace=False):
    return aten.mish_(input) if inplace else aten.mish(input)


@op("torch.nn.functional.hardswish")
def row(input, inplace=False):
    return aten.hardswish_(input) if inplace else aten.hardswish(input)


@op("torch.nn.functional.hardsigmoid")
def row(input, inplace=False):
    return aten.hardsigmoid_(input) if inplace else aten.hardsigmoid(input)


@op("torch.nn.functional.glu")
def row(input, dim=-1):
    return aten.glu(input, dim)


@op("torch.nn.functional.sigmoid")
def row(input):
    return aten.sigmoid(input)


@op("torch.nn.functional.tanh")
def row(input):
    return aten.tanh(input)


@op("torch.nn.functional.logsigmoid")
def row(input):
    return aten.log_sigmoid(input)


@op("torch.nn.functional.tanhshrink")
def row(input):
    return input - aten.tanh(input)


@op("torch.nn.functional.softsign")
def row(input):
    return input / (aten.abs(input) + 1)


# ---- softmax: the dimension that is left out depends on the rank


@op("torch.nn.functional.softmax")
def row(input, dim=None, _stacklevel=3, dtype=None):
    if is_none(dim):
        return aten.softmax(input, 0 if py.dim(input) in (0, 1, 3) else 1, dtype)
    return aten.softmax(input, dim, dtype)


@op("torch.nn.functional.log_softmax")
def row(input, dim=None, _stacklevel=3, dtype=None):
    if is_none(dim):
        return aten.log_softmax(input, 0 if py.dim(input) in (0, 1, 3) else 1, dtype)
    return aten.log_softmax(input, dim, dtype)


@op("torch.nn.functional.softmin")
def row(input, dim=None, _stacklevel=3, dtype=None):
    return torch.nn.functional.softmax(-input, dim, _stacklevel, dtype)


@op("torch.nn.functional.gumbel_softmax")
def row(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    noise = -aten.exponential_(aten.empty_like(logits, memory_format=torch.contiguous_format)).log()
    soft = aten.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = aten.max(soft, dim, keepdim=True)[1]
    return aten.zeros_like(logits, memory_format=torch.contiguous_format).scatter_(dim, index, 1.0) - soft + soft


# ---- dropout


@op("torch.nn.functional.dropout")
def row(input, p=0.5, training=True, inplace=False):
    return aten.dropout_(input, p, training) if inplace else aten.dropout(input, p, training)


@op("torch.nn.functional.alpha_dropout")
def row(input, p=0.5, training=False, inplace=False):
    return aten.alpha_dropout_(input, p, training) if inplace else aten.alpha_dropout(input, p, training)


@op("torch.nn.functional.feature_alpha_dropout")
def row(input, p=0.5, training=False, inplace=False):
    return aten.feature_alpha_dropout_(input, p, training) if inplace else aten.feature_alpha_dropout(input, p, training)


@op("torch.nn.functional.dropout1d")
def row(input, p=0.5, training=True, inplace=False):
    if py.dim(input) == 2:
        batched = aten.unsqueeze_(input, 0) if inplace else aten.unsqueeze(input, 0)
        dropped = aten.feature_dropout_(batched, p, training) if inplace else aten.feature_dropout(batched, p, training)
        return aten.squeeze_(dropped, 0) if inplace else aten.squeeze(dropped, 0)
    return aten.feature_dropout_(input, p, training) if inplace else aten.feature_dropout(input, p, training)


@op("torch.nn.functional.dropout2d")
def row(input, p=0.5, training=True, inplace=False):
    return aten.feature_dropout_(input, p, training) if inplace else aten.feature_dropout(input, p, training)


@op("torch.nn.functional.dropout3d")
def row(input, p=0.5, training=True, inplace=False):
    if py.dim(input) == 5:
        return aten.feature_dropout_(input, p, training) if inplace else aten.feature_dropout(input, p, training)
    batched = aten.unsqueeze_(input, 0) if inplace else aten.unsqueeze(input, 0)
    dropped = aten.feature_dropout_(batched, p, training) if inplace else aten.feature_dropout(batched, p, training)
    return aten.squeeze_(dropped, 0) if inplace else aten.squeeze(dropped, 0)


# ---- embedding


@op("torch.nn.functional.embedding")
def row(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if is_none(padding_idx):
        pad = -1
    else:
        pad = padding_idx + py.size_at(weight, 0) if padding_idx < 0 else padding_idx
    if is_none(max_norm):
        return aten.embedding(weight, input, pad, scale_grad_by_freq, sparse)
    index = aten.contiguous(input)
    return aten.embedding(aten.embedding_renorm_(weight, index, max_norm, norm_type), index, pad, scale_grad_by_freq, sparse)


def bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx):
    number = {"sum": 0, "mean": 1, "max": 2}[mode]
    table = weight if is_none(max_norm) else aten.embedding_renorm_(weight, aten.contiguous(input), max_norm, norm_type)
    if is_none(offsets):  # rows of a matrix are the bags
        starts = aten.arange(0, py.numel(input), py.size_at(input, 1), dtype=py.dtype(input), device=py.device(input))
        weights = None if is_none(per_sample_weights) else aten.reshape(per_sample_weights, [-1])
        return aten.embedding_bag.padding_idx(table, aten.reshape(input, [-1]), starts, scale_grad_by_freq, number, sparse, weights, False, padding_idx)[0]
    return aten.embedding_bag.padding_idx(table, input, offsets, scale_grad_by_freq, number, sparse, per_sample_weights, include_last_offset, padding_idx)[0]


@op("torch.nn.functional.embedding_bag")
def row(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if py.is_floating_point(input):  # the old order of the arguments
        return bag(weight, input, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)
    return bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)


# ---- normalisation (the last argument asks for cuDNN, as Python torch does by default)


@op("torch.nn.functional.batch_norm")
def row(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    if training:
        several_values = py.check(py.numel(input) != py.size_at(input, 1))
    return aten.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


@op("torch.nn.functional.instance_norm")
def row(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    if use_input_stats:
        several_values = py.check(py.numel(input) != py.size_at(input, 0) * py.size_at(input, 1))
    return aten.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


@op("torch.nn.functional.layer_norm")
def row(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return aten.layer_norm(input, normalized_shape, weight, bias, eps, True)


@op("torch.nn.functional.rms_norm")
def row(input, normalized_shape, weight=None, eps=None):
    return aten.rms_norm(input, normalized_shape, weight, eps)


@op("torch.nn.functional.group_norm")
def row(input, num_groups, weight=None, bias=None, eps=1e-05):
    return aten.group_norm(input, num_groups, weight, bias, eps, True)


@op("torch.nn.functional.local_response_norm")
def row(input, size, alpha=0.0001, beta=0.75, k=1.0):
    square = input * input
    before = size // 2
    after = (size - 1) // 2
    if py.dim(input) == 3:
        mean = aten.avg_pool2d(aten.pad(square.unsqueeze(1), [0, 0, before, after]), [size, 1], 1).squeeze(1)
    else:
        folded = square.view([py.size_at(input, 0), 1, py.size_at(input, 1), py.size_at(input, 2), -1])
        mean = aten.avg_pool3d(aten.pad(folded, [0, 0, 0, 0, before, after]), [size, 1, 1], 1).squeeze(1).view(py.size(input))
    return input / mean.mul(alpha).add(k).pow(beta)


@op("torch.nn.functional.normalize")
def row(input, p=2.0, dim=1, eps=1e-12, out=None):
    return input / torch.norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)


# ---- pooling


@op("torch.nn.functional.max_pool1d")
def row(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    step = [] if is_none(stride) else stride
    if return_indices:
        return aten.max_pool1d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return aten.max_pool1d(input, kernel_size, step, padding, dilation, ceil_mode)


@op("torch.nn.functional.max_pool1d_with_indices")
def row(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return aten.max_pool1d_with_indices(input, kernel_size, [] if is_none(stride) else stride, padding, dilation, ceil_mode)


@op("torch.nn.functional.max_pool2d")
def row(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    step = [] if is_none(stride) else stride
    if return_indices:
        return aten.max_pool2d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return aten.max_pool2d(input, kernel_size, step, padding, dilation, ceil_mode)


@op("torch.nn.functional.max_pool2d_with_indices")
def row(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return aten.max_pool2d_with_indices(input, kernel_size, [] if is_none(stride) else stride, padding, dilation, ceil_mode)


@op("torch.nn.functional.max_pool3d")
def row(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    step = [] if is_none(stride) else stride
    if return_indices:
        return aten.max_pool3d_with_indices(input, kernel_size, step, padding, dilation, ceil_mode)
    return aten.max_pool3d(input, kernel_size, step, padding, dilation, ceil_mode)


@op("torch.nn.functional.max_pool3d_with_indices")
def row(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return aten.max_pool3d_with_indices(input, kernel_size, [] if is_none(stride) else stride, padding, dilation, ceil_mode)


@op("torch.nn.functional.adaptive_avg_pool2d")
def row(input, output_size):
    return aten.adaptive_avg_pool2d(input, py.fill_sizes(input, output_size, 2))


@op("torch.nn.functional.adaptive_avg_pool3d")
def row(input, output_size):
    return aten.adaptive_avg_pool3d(input, py.fill_sizes(input, output_size, 3))


@op("torch.nn.functional.adaptive_max_pool1d")
def row(input, output_size, return_indices=False):
    found = aten.adaptive_max_pool1d(input, output_size)
    return found if return_indices else found[0]


@op("torch.nn.functional.adaptive_max_pool2d")
def row(input, output_size, return_indices=False):
    found = aten.adaptive_max_pool2d(input, py.fill_sizes(input, output_size, 2))
    return found if return_indices else found[0]


@op("torch.nn.functional.adaptive_max_pool3d")
def row(input, output_size, return_indices=False):
    found = aten.adaptive_max_pool3d(input, py.fill_sizes(input, output_size, 3))
    return found if return_indices else found[0]


@op("torch.nn.functional.lp_pool1d")
def row(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    if norm_type == inf:
        return torch.nn.functional.max_pool1d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -inf:
        return -torch.nn.functional.max_pool1d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = aten.avg_pool1d(input.pow(norm_type), kernel_size, [] if is_none(stride) else stride, 0, ceil_mode)
    return (aten.sign(mean) * aten.relu(aten.abs(mean))).mul(kernel_size).pow(1.0 / norm_type)


@op("torch.nn.functional.lp_pool2d")
def row(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    if norm_type == inf:
        return torch.nn.functional.max_pool2d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -inf:
        return -torch.nn.functional.max_pool2d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = aten.avg_pool2d(input.pow(norm_type), kernel_size, [] if is_none(stride) else stride, 0, ceil_mode)
    area = kernel_size * kernel_size if is_int(kernel_size) else kernel_size[0] * kernel_size[1]
    return (aten.sign(mean) * aten.relu(aten.abs(mean))).mul(area).pow(1.0 / norm_type)


@op("torch.nn.functional.lp_pool3d")
def row(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    if norm_type == inf:
        return torch.nn.functional.max_pool3d(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -inf:
        return -torch.nn.functional.max_pool3d(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    mean = aten.avg_pool3d(input.pow(norm_type), kernel_size, [] if is_none(stride) else stride, 0, ceil_mode)
    volume = kernel_size * kernel_size * kernel_size if is_int(kernel_size) else kernel_size[0] * kernel_size[1] * kernel_size[2]
    return (aten.sign(mean) * aten.relu(aten.abs(mean))).mul(volume).pow(1.0 / norm_type)


@op("torch.nn.functional.max_unpool2d")
def row(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return aten.max_unpool2d(input, indices, py.unpool_size(input, kernel_size, stride, padding, output_size, 2))


@op("torch.nn.functional.max_unpool1d")
def row(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = py.unpool_size(input, kernel_size, stride, padding, output_size, 1) + [1]
    return aten.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


@op("torch.nn.functional.max_unpool3d")
def row(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = py.unpool_size(input, kernel_size, stride, padding, output_size, 3)
    return aten.max_unpool3d(input, indices, size, py.tuple_of(kernel_size if is_none(stride) else stride, 3), py.tuple_of(padding, 3))


@op("torch.nn.functional.fractional_max_pool2d")
def row(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    size = py.fractional_size(input, output_ratio, 2) if is_none(output_size) else py.tuple_of(output_size, 2)
    batch = 1 if py.dim(input) == 3 else py.size_at(input, 0)
    samples = aten.rand([batch, py.size_at(input, -3), 2], dtype=py.dtype(input), device=py.device(input)) if is_none(_random_samples) else _random_samples
    found = aten.fractional_max_pool2d(input, py.tuple_of(kernel_size, 2), size, samples)
    return found if return_indices else found[0]


@op("torch.nn.functional.fractional_max_pool3d")
def row(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    size = py.fractional_size(input, output_ratio, 3) if is_none(output_size) else py.tuple_of(output_size, 3)
    batch = 1 if py.dim(input) == 4 else py.size_at(input, 0)
    samples = aten.rand([batch, py.size_at(input, -4), 3], dtype=py.dtype(input), device=py.device(input)) if is_none(_random_samples) else _random_samples
    found = aten.fractional_max_pool3d(input, py.tuple_of(kernel_size, 3), size, samples)
    return found if return_indices else found[0]


# ---- resampling


@op("torch.nn.functional.interpolate", "torch.nn.functional.upsample")
def row(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    if not is_none(align_corners) and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError("align_corners can only be set with linear, bilinear, bicubic and trilinear")
    if is_none(size) == is_none(scale_factor):
        raise ValueError("give either size or scale_factor")
    rank = py.dim(input)
    recompute = mode == "area" or (not is_none(recompute_scale_factor) and recompute_scale_factor)
    if is_none(size) and recompute:
        out = py.scaled_sizes(input, scale_factor)
        scale = None
    else:
        out = None if is_none(size) else py.tuple_of(size, rank - 2)
        scale = None if is_none(scale_factor) else py.float_tuple_of(scale_factor, rank - 2)
    align = False if is_none(align_corners) else align_corners
    if mode == "nearest":
        if rank == 3:
            return aten.upsample_nearest1d.vec(input, out, scale)
        return aten.upsample_nearest2d.vec(input, out, scale) if rank == 4 else aten.upsample_nearest3d.vec(input, out, scale)
    if mode == "nearest-exact":
        if rank == 3:
            return aten._upsample_nearest_exact1d.vec(input, out, scale)
        return aten._upsample_nearest_exact2d.vec(input, out, scale) if rank == 4 else aten._upsample_nearest_exact3d.vec(input, out, scale)
    if mode == "area":
        if rank == 3:
            return aten.adaptive_avg_pool1d(input, out)
        return aten.adaptive_avg_pool2d(input, out) if rank == 4 else aten.adaptive_avg_pool3d(input, out)
    if mode == "linear":
        return aten.upsample_linear1d.vec(input, out, align, scale)
    if mode == "bilinear":
        return aten._upsample_bilinear2d_aa.vec(input, out, align, scale) if antialias else aten.upsample_bilinear2d.vec(input, out, align, scale)
    if mode == "bicubic":
        return aten._upsample_bicubic2d_aa.vec(input, out, align, scale) if antialias else aten.upsample_bicubic2d.vec(input, out, align, scale)
    if mode == "trilinear":
        return aten.upsample_trilinear3d.vec(input, out, align, scale)
    raise ValueError("unknown mode")


@op("torch.nn.functional.upsample_nearest")
def row(input, size=None, scale_factor=None):
    return torch.nn.functional.interpolate(input, size, scale_factor, mode="nearest")


@op("torch.nn.functional.upsample_bilinear")
def row(input, size=None, scale_factor=None):
    return torch.nn.functional.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


@op("torch.nn.functional.grid_sample")
def row(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    filters = {"bilinear": 0, "nearest": 1, "bicubic": 2}
    borders = {"zeros": 0, "border": 1, "reflection": 2}
    return aten.grid_sampler(input, grid, filters[mode], borders[padding_mode], False if is_none(align_corners) else align_corners)


@op("torch.nn.functional.affine_grid")
def row(theta, size, align_corners=None):
    return aten.affine_grid_generator(theta, size, False if is_none(align_corners) else align_corners)


@op("torch.nn.functional.pad", "torch._C._nn.pad")
def row(input, pad, mode="constant", value=None):
    return aten.pad(input, pad, mode, value)


@op("torch.nn.functional.unfold")
def row(input, kernel_size, dilation=1, padding=0, stride=1):
    return aten.im2col(input, kernel_size, dilation, padding, stride)


@op("torch.nn.functional.fold")
def row(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return aten.col2im(input, output_size, kernel_size, dilation, padding, stride)


@op("torch.nn.functional.one_hot")
def row(input, num_classes=-1):
    return aten.one_hot(input, num_classes)


# ---- losses: a reduction is a number for ATen


def reduction_number(size_average, reduce, reduction):
    if is_none(size_average) and is_none(reduce):
        return {"none": 0, "mean": 1, "sum": 2}[reduction]
    if is_none(reduce) or reduce:
        return 1 if is_none(size_average) or size_average else 2
    return 0


def reduced(loss, reduction):
    if reduction == "mean":
        return aten.mean(loss)
    return aten.sum(loss) if reduction == "sum" else loss


@op("torch.nn.functional.nll_loss")
def row(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return aten.nll_loss_nd(input, target, weight, reduction_number(size_average, reduce, reduction), ignore_index)


@op("torch.nn.functional.cross_entropy")
def row(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    return aten.cross_entropy_loss(input, target, weight, reduction_number(size_average, reduce, reduction), ignore_index, label_smoothing)


@op("torch.nn.functional.mse_loss")
def row(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    pair = aten.broadcast_tensors([input, target])
    if is_none(weight):
        return aten.mse_loss(pair[0], pair[1], reduction_number(size_average, reduce, reduction))
    loss = aten.pow(pair[0] - pair[1], 2) * weight
    return aten.sum(loss) / aten.sum(weight) if reduction == "mean" else reduced(loss, reduction)


@op("torch.nn.functional.l1_loss")
def row(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    pair = aten.broadcast_tensors([input, target])
    if is_none(weight):
        return aten.l1_loss(pair[0], pair[1], reduction_number(size_average, reduce, reduction))
    loss = aten.abs(pair[0] - pair[1]) * weight
    return aten.sum(loss) / aten.sum(weight) if reduction == "mean" else reduced(loss, reduction)


@op("torch.nn.functional.smooth_l1_loss")
def row(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    pair = aten.broadcast_tensors([input, target])
    number = reduction_number(size_average, reduce, reduction)
    return aten.l1_loss(pair[0], pair[1], number) if beta == 0 else aten.smooth_l1_loss(pair[0], pair[1], number, beta)


@op("torch.nn.functional.huber_loss")
def row(input, target, reduction="mean", delta=1.0, weight=None):
    pair = aten.broadcast_tensors([input, target])
    if is_none(weight):
        return aten.huber_loss(pair[0], pair[1], reduction_number(None, None, reduction), delta)
    return reduced(aten.huber_loss(pair[0], pair[1], 0, delta) * weight, reduction)


@op("torch.nn.functional.binary_cross_entropy")
def row(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    factor = None if is_none(weight) else weight.expand_as(target)
    return aten.binary_cross_entropy(input, target, factor, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.binary_cross_entropy_with_logits")
def row(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    return aten.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.kl_div")
def row(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if reduction == "batchmean":
        return aten.kl_div(input, target, 2, log_target=log_target) / py.size_at(input, 0)
    return aten.kl_div(input, target, reduction_number(size_average, reduce, reduction), log_target=log_target)


@op("torch.nn.functional.poisson_nll_loss")
def row(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"):
    return aten.poisson_nll_loss(input, target, log_input, full, eps, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.gaussian_nll_loss")
def row(input, target, var, full=False, eps=1e-06, reduction="mean"):
    given = var if is_tensor(var) else var * aten.ones_like(input)
    variance = aten.clamp_(aten.clone(given), min=eps)
    loss = 0.5 * (aten.log(variance) + (input - target) ** 2 / variance)
    return reduced(aten.add_(loss, 0.9189385332046727) if full else loss, reduction)


@op("torch.nn.functional.margin_ranking_loss")
def row(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return aten.margin_ranking_loss(input1, input2, target, margin, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.hinge_embedding_loss")
def row(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return aten.hinge_embedding_loss(input, target, margin, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.cosine_embedding_loss")
def row(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return aten.cosine_embedding_loss(input1, input2, target, margin, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.soft_margin_loss")
def row(input, target, size_average=None, reduce=None, reduction="mean"):
    return aten.soft_margin_loss(input, target, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.multilabel_margin_loss")
def row(input, target, size_average=None, reduce=None, reduction="mean"):
    return aten.multilabel_margin_loss(input, target, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.multi_margin_loss")
def row(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    return aten.multi_margin_loss(input, target, p, margin, weight, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.triplet_margin_loss")
def row(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"):
    return aten.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction_number(size_average, reduce, reduction))


@op("torch.nn.functional.triplet_margin_with_distance_loss")
def row(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    near = aten.pairwise_distance(anchor, positive)
    far = aten.pairwise_distance(anchor, negative)
    nearest = aten.minimum(far, aten.pairwise_distance(positive, negative)) if swap else far
    return reduced(aten.clamp_min(margin + near - nearest, 0), reduction)


@op("torch.nn.functional.ctc_loss")
def row(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    return aten.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction_number(None, None, reduction), zero_infinity)


@op("torch.nn.functional.multilabel_soft_margin_loss")
def row(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    loss = -(target * aten.log_sigmoid(input) + (1 - target) * aten.log_sigmoid(-input))
    weighed = loss if is_none(weight) else loss * weight
    mean = weighed.sum(dim=py.dim(input) - 1) / py.size_at(input, py.dim(input) - 1)
    return reduced(mean, reduction)


# ---- attention


@op("torch.nn.functional.multi_head_attention_forward")
def row(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    if py.dim(query) == 2:
        padding = None if is_none(key_padding_mask) else key_padding_mask.unsqueeze(0)
        found = attention(query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1), num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p if training else 0.0, out_proj_weight, out_proj_bias, padding, need_weights, attn_mask, use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights, is_causal)
        return (found[0].squeeze(1), None if is_none(found[1]) else found[1].squeeze(0))
    return attention(query, key, value, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p if training else 0.0, out_proj_weight, out_proj_bias, key_padding_mask, need_weights, attn_mask, use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights, is_causal)


def additive_mask(mask, like):
    if is_none(mask):
        return None
    if py.is_floating_point(mask):
        return mask
    return aten.masked_fill_(aten.zeros_like(mask, dtype=py.dtype(like)), mask, -inf)


def projections(query, key, value, weight, bias):
    width = py.size_at(query, 2)
    if key is value:
        if query is key:
            packed = aten.linear(query, weight, bias).unflatten(-1, [3, width]).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return (packed[0], packed[1], packed[2])
        weights = weight.split([width, width * 2])
        biases = (None, None) if is_none(bias) else bias.split([width, width * 2])
        q = aten.linear(query, weights[0], biases[0])
        packed = aten.linear(key, weights[1], biases[1]).unflatten(-1, [2, width]).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return (q, packed[0], packed[1])
    weights = weight.chunk(3)
    biases = (None, None, None) if is_none(bias) else bias.chunk(3)
    return (aten.linear(query, weights[0], biases[0]), aten.linear(key, weights[1], biases[1]), aten.linear(value, weights[2], biases[2]))


def grown(mask):
    return None if is_none(mask) else aten.pad(mask, [0, 1])


def attention(query, key, value, num_heads, weight, bias, bias_k, bias_v, add_zero_attn, dropout_p, out_weight, out_bias, padding, need_weights, mask, separate, q_weight, k_weight, v_weight, static_k, static_v, average, is_causal):
    length = py.size_at(query, 0)
    batch = py.size_at(query, 1)
    width = py.size_at(query, 2)
    head = width // num_heads
    heads = batch * num_heads
    padding_0 = additive_mask(padding, query)
    causal = is_causal and is_none(padding)
    mask_0 = None if is_causal and is_none(padding) and not need_weights else additive_mask(mask, query)
    if separate:
        biases = (None, None, None) if is_none(bias) else bias.chunk(3)
        qkv = (aten.linear(query, q_weight, biases[0]), aten.linear(key, k_weight, biases[1]), aten.linear(value, v_weight, biases[2]))
    else:
        qkv = projections(query, key, value, weight, bias)
    if is_none(mask_0):
        mask_1 = None
    else:
        mask_1 = mask_0.unsqueeze(0) if py.dim(mask_0) == 2 else mask_0
    biased = not is_none(bias_k) and not is_none(bias_v)
    k_0 = aten.cat([qkv[1], bias_k.repeat([1, batch, 1])]) if biased else qkv[1]
    v_0 = aten.cat([qkv[2], bias_v.repeat([1, batch, 1])]) if biased else qkv[2]
    mask_2 = grown(mask_1) if biased else mask_1
    padding_1 = grown(padding_0) if biased else padding_0
    q = qkv[0].view([length, heads, head]).transpose(0, 1)
    k_1 = k_0.view([py.size_at(k_0, 0), heads, head]).transpose(0, 1) if is_none(static_k) else static_k
    v_1 = v_0.view([py.size_at(v_0, 0), heads, head]).transpose(0, 1) if is_none(static_v) else static_v
    zero = [heads, 1, head]
    k = aten.cat([k_1, aten.zeros(zero, dtype=py.dtype(k_1), device=py.device(k_1))], 1) if add_zero_attn else k_1
    v = aten.cat([v_1, aten.zeros(zero, dtype=py.dtype(v_1), device=py.device(v_1))], 1) if add_zero_attn else v_1
    mask_3 = grown(mask_2) if add_zero_attn else mask_2
    padding_2 = grown(padding_1) if add_zero_attn else padding_1
    source = py.size_at(k, 1)
    if is_none(padding_2):
        full = mask_3
    else:
        rows = padding_2.view([batch, 1, 1, source]).expand([-1, num_heads, -1, -1]).reshape([heads, 1, source])
        full = rows if is_none(mask_3) else mask_3 + rows
    if need_weights:
        scaled = q * py.sqrt(1.0 / py.float(head))
        scores = aten.bmm(scaled, k.transpose(-2, -1)) if is_none(full) else aten.baddbmm(full, scaled, k.transpose(-2, -1))
        soft = aten.softmax(scores, -1)
        weights = aten.dropout(soft, dropout_p, True) if dropout_p > 0.0 else soft
        mixed = aten.bmm(weights, v).transpose(0, 1).reshape([length * batch, width])
        out = aten.linear(mixed, out_weight, out_bias)
        shown = weights.view([batch, num_heads, length, source])
        return (out.view([length, batch, py.size_at(out, 1)]), shown.mean(dim=1) if average else shown)
    if is_none(full):
        wide = None
    else:
        wide = full.unsqueeze(0) if py.size_at(full, 0) == 1 else full.view([batch, num_heads, -1, source])
    mixed = aten.scaled_dot_product_attention(q.view([batch, num_heads, length, head]), k.view([batch, num_heads, source, head]), v.view([batch, num_heads, source, head]), wide, dropout_p, causal)
    out = aten.linear(mixed.permute([2, 0, 1, 3]).reshape([batch * length, width]), out_weight, out_bias)
    return (out.view([length, batch, py.size_at(out, 1)]), None)
