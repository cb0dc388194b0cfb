# Rows: methods of Tensor and functions of torch that Python torch implements by hand. How to read a row: see functional.py.


@op(".size")
def row(x, dim=None):
    return py.size(x) if is_none(dim) else py.size_at(x, dim)


@op("torch.ops.aten.sym_size.int", "torch.ops.aten.size.int")
def row(x, dim):
    return py.size_at(x, dim)


@op(".stride")
def row(x, dim=None):
    return py.stride(x) if is_none(dim) else py.stride_at(x, dim)


@op("torch.ops.aten.sym_stride.int")
def row(x, dim):
    return py.stride_at(x, dim)


@op(".dim", ".ndimension")
def row(x):
    return py.dim(x)


@op(".numel", ".nelement", "torch.numel", "torch.ops.aten.sym_numel.default")
def row(input):
    return py.numel(input)


@op("builtins.len", ".__len__")
def row(x):
    return py.len(x)


@op(".storage_offset", "torch.ops.aten.sym_storage_offset.default")
def row(x):
    return py.storage_offset(x)


@op(".is_contiguous")
def row(x, memory_format=torch.contiguous_format):
    return py.is_contiguous(x, memory_format)


@op("torch.is_tensor")
def row(obj):
    return is_tensor(obj)


@op(".get_device")
def row(x):
    return py.get_device(x)


@op(".item", "torch.ops.aten._local_scalar_dense", "torch.ops.aten._local_scalar_dense.default", "torch.ops.aten.item.default")
def row(x):
    return py.item(x)


@op(".tolist")
def row(x):
    return py.tolist(x)


@op("builtins.int", "torch.sym_int", ".__int__")
def row(x):
    return py.int(x)


@op("builtins.float", "torch.sym_float", ".__float__")
def row(x):
    return py.float(x)


@op(".contiguous")
def row(x, memory_format=torch.contiguous_format):
    return aten.contiguous(x, memory_format=memory_format)


@op(".detach", "torch.detach")
def row(input):
    return aten.detach(input)


@op(".requires_grad_")
def row(x, requires_grad=True):
    return x


@op(".copy_")
def row(x, src, non_blocking=False):
    return aten.copy_(x, src, non_blocking)


@op("torch.clone", ".clone")
def row(input, *, memory_format=None):
    return aten.clone(input, memory_format=memory_format)


@op(".nonzero", "torch.nonzero")
def row(input, *, as_tuple=False):
    return aten.nonzero_numpy(input) if as_tuple else aten.nonzero(input)


@op(".argwhere", "torch.argwhere")
def row(input):
    return aten.argwhere(input)


# ---- conversions: no copy where nothing changes


@op(".to")
def row(x, *args, device=None, dtype=None, other=None, non_blocking=False, copy=False, memory_format=None):
    if len(args) == 0 and not is_tensor(other):
        return aten.to.dtype_layout(x, dtype=dtype, device=device, non_blocking=non_blocking, copy=copy, memory_format=memory_format)
    if len(args) == 0 or is_tensor(args[0]):
        target = other if len(args) == 0 else args[0]
        return aten.to.other(x, target, args[1] if len(args) > 1 else non_blocking, args[2] if len(args) > 2 else copy, memory_format)
    if is_dtype(args[0]):
        return aten.to.dtype_layout(x, dtype=args[0], device=device, non_blocking=args[1] if len(args) > 1 else non_blocking, copy=args[2] if len(args) > 2 else copy, memory_format=memory_format)
    return aten.to.dtype_layout(
        x,
        dtype=args[1] if len(args) > 1 else dtype,
        device=args[0],
        non_blocking=args[2] if len(args) > 2 else non_blocking,
        copy=args[3] if len(args) > 3 else copy,
        memory_format=memory_format,
    )


@op(".type")
def row(x, dtype=None, non_blocking=False):
    if is_none(dtype):
        return py.type_name(x)
    if is_string(dtype):
        kinds = {"torch.FloatTensor": torch.float32, "torch.DoubleTensor": torch.float64, "torch.HalfTensor": torch.float16, "torch.BFloat16Tensor": torch.bfloat16, "torch.LongTensor": torch.int64, "torch.IntTensor": torch.int32, "torch.BoolTensor": torch.bool, "torch.ByteTensor": torch.uint8}
        return aten.to.dtype(x, kinds[dtype], non_blocking)
    return aten.to.dtype(x, dtype, non_blocking)


@op(".type_as")
def row(x, other):
    return aten.type_as(x, other)


@op(".float")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.float32, False, False, memory_format)


@op(".double")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.float64, False, False, memory_format)


@op(".half")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.float16, False, False, memory_format)


@op(".bfloat16")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.bfloat16, False, False, memory_format)


@op(".long")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.int64, False, False, memory_format)


@op(".int")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.int32, False, False, memory_format)


@op(".short")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.int16, False, False, memory_format)


@op(".char")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.int8, False, False, memory_format)


@op(".byte")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.uint8, False, False, memory_format)


@op(".bool")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.bool, False, False, memory_format)


@op(".cfloat")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.complex64, False, False, memory_format)


@op(".cdouble")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype(x, torch.complex128, False, False, memory_format)


@op(".cpu")
def row(x, memory_format=torch.preserve_format):
    return aten.to.dtype_layout(x, device="cpu", memory_format=memory_format)


@op(".cuda")
def row(x, device=None, non_blocking=False, memory_format=torch.preserve_format):
    return aten.to.dtype_layout(x, device="cuda" if is_none(device) else device, non_blocking=non_blocking, memory_format=memory_format)


# ---- factories


@op("torch.tensor")
def row(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    return py.tensor(data, dtype, device)


@op("torch.as_tensor", "torch.asarray")
def row(data, dtype=None, device=None):
    return py.as_tensor(data, dtype, device)


@op(".new_tensor")
def row(x, data, *, dtype=None, device=None, requires_grad=False):
    return py.tensor(data, py.dtype(x) if is_none(dtype) else dtype, py.device(x) if is_none(device) else device)


@op("torch.range")
def row(start, end, step=1, *, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False):
    return aten.range(start, end, step, dtype=dtype, device=device)


# ---- methods and functions written in Python


@op(".norm", "torch.norm", "torch.functional.norm")
def row(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    dims = [dim] if is_int(dim) else dim
    if is_string(p):
        if p == "fro" and (is_none(dim) or len(dims) <= 2):
            return aten.linalg_vector_norm(input, 2, dims, keepdim, dtype=dtype)
        return aten.linalg_matrix_norm(input, p, py.range(py.dim(input)) if is_none(dim) else dims, keepdim, dtype=dtype)
    return aten.linalg_vector_norm(input, 2.0 if is_none(p) else p, dims, keepdim, dtype=dtype)


@op(".split")
def row(tensor, split_size, dim=0):
    return torch.functional.split(tensor, split_size, dim)


@op("torch.split", "torch.functional.split")
def row(tensor, split_size_or_sections, dim=0):
    if is_sequence(split_size_or_sections):
        return aten.split_with_sizes(tensor, split_size_or_sections, dim)
    return aten.split(tensor, split_size_or_sections, dim)


@op(".unique", "torch.unique", "torch.functional.unique")
def row(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if is_none(dim):
        found = aten._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = aten.unique_dim(input, dim, sorted, return_inverse, return_counts)
    if return_inverse:
        return (found[0], found[1], found[2]) if return_counts else (found[0], found[1])
    return (found[0], found[2]) if return_counts else found[0]


@op(".unique_consecutive", "torch.unique_consecutive", "torch.functional.unique_consecutive")
def row(input, return_inverse=False, return_counts=False, dim=None):
    found = aten.unique_consecutive(input, return_inverse, return_counts, dim)
    if return_inverse:
        return (found[0], found[1], found[2]) if return_counts else (found[0], found[1])
    return (found[0], found[2]) if return_counts else found[0]


@op(".__reversed__")
def row(x):
    return aten.flip(x, [0])


@op(".__contains__")
def row(x, element):
    return py.item(aten.any(x == element))


@op("torch.functional.einsum", "torch.einsum")
def row(equation, *operands):
    return aten.einsum(equation, operands[0] if is_sequence(operands[0]) else operands)


@op("torch.functional.broadcast_tensors", "torch.broadcast_tensors")
def row(*tensors):
    return aten.broadcast_tensors(tensors[0] if is_sequence(tensors[0]) else tensors)


@op("torch.functional.meshgrid", "torch.meshgrid")
def row(*tensors, indexing=None):
    given = tensors[0] if is_sequence(tensors[0]) else tensors
    return aten.meshgrid(given) if is_none(indexing) else aten.meshgrid(given, indexing=indexing)


@op("torch.functional.cartesian_prod", "torch.cartesian_prod")
def row(*tensors):
    return aten.cartesian_prod(tensors)


@op("torch.functional.block_diag", "torch.block_diag")
def row(*tensors):
    return aten.block_diag(tensors)


@op("torch.functional.chain_matmul", "torch.chain_matmul")
def row(*matrices):
    return aten.chain_matmul(matrices)


@op("torch.functional.atleast_1d", "torch.atleast_1d")
def row(*tensors):
    return aten.atleast_1d(tensors[0] if len(tensors) == 1 else tensors)


@op("torch.functional.atleast_2d", "torch.atleast_2d")
def row(*tensors):
    return aten.atleast_2d(tensors[0] if len(tensors) == 1 else tensors)


@op("torch.functional.atleast_3d", "torch.atleast_3d")
def row(*tensors):
    return aten.atleast_3d(tensors[0] if len(tensors) == 1 else tensors)


@op("torch.functional.tensordot", "torch.tensordot")
def row(a, b, dims=2, out=None):
    if is_int(dims):
        return aten.tensordot(a, b, py.range(-dims, 0), py.range(dims))
    return aten.tensordot(a, b, dims[0], dims[1])


@op("torch.functional.cdist", "torch.cdist")
def row(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    return aten.cdist(x1, x2, py.float(p), modes[compute_mode])


@op("torch.functional.stft", "torch.stft", ".stft")
def row(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None, align_to_window=None):
    if not center:
        return aten.stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)
    rank = py.dim(input)
    if rank == 1:
        padded = aten.pad(input.unsqueeze(0).unsqueeze(0), [n_fft // 2, n_fft // 2], pad_mode).squeeze(0).squeeze(0)
    else:
        padded = aten.pad(input.unsqueeze(0), [n_fft // 2, n_fft // 2], pad_mode).squeeze(0)
    return aten.stft(padded, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)


@op("torch.istft", "torch.functional.istft", ".istft")
def row(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False):
    return aten.istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)


@op("torch.repeat_interleave", ".repeat_interleave")
def row(input, repeats=None, dim=None, *, output_size=None):
    if is_none(repeats):
        return aten.repeat_interleave(input, output_size=output_size)
    return aten.repeat_interleave(input, repeats, dim, output_size=output_size)


@op("torch.unravel_index", "torch.functional.unravel_index")
def row(indices, shape):
    return py.unravel_index(indices, shape)


@op("torch.functional.lu", "torch.lu")
def row(A, pivot=True, get_infos=False, out=None):
    found = aten._lu_with_info(A, pivot, not get_infos)
    return (found[0], found[1], found[2]) if get_infos else (found[0], found[1])


@op("torch.functional.broadcast_shapes", "torch.broadcast_shapes")
def row(*shapes):
    return py.broadcast_shapes(shapes)


# ---- numbers and effects of a captured graph


@op("torch.Size")
def row(sizes=()):
    return sizes


@op("torch.finfo", "torch.iinfo")
def row(dtype):
    return dtype


@op("torch.manual_seed", "torch.random.manual_seed")
def row(seed):
    return py.manual_seed(seed)


@op("torch.sym_sum")
def row(*args):
    return py.sum(args[0] if is_sequence(args[0]) else args)


@op("builtins.sum")
def row(iterable, start=0):
    return py.sum(iterable) + start


@op("builtins.max")
def row(*args):
    return py.max(args[0] if len(args) == 1 else args)


@op("builtins.min")
def row(*args):
    return py.min(args[0] if len(args) == 1 else args)


@op("torch.sym_max")
def row(a, b):
    return py.float(py.max((a, b))) if is_real(a) or is_real(b) else py.max((a, b))


@op("torch.sym_min")
def row(a, b):
    return py.float(py.min((a, b))) if is_real(a) or is_real(b) else py.min((a, b))


@op("torch.sym_ite")
def row(b, t, f):
    return t if b else f


@op("torch.sym_sqrt", "torch._sym_sqrt", "math.sqrt")
def row(a):
    return py.sqrt(a)


@op("math.floor")
def row(a):
    return py.floor(a)


@op("math.ceil")
def row(a):
    return py.ceil(a)


@op("math.trunc")
def row(a):
    return py.int(a)


@op("torch._check", "torch._assert", "torch._check_value")
def row(cond, message=None):
    return py.check(cond)


@op("torch.ops.aten._assert_scalar.default", "torch.ops.aten._assert_scalar", "torch._assert_scalar")
def row(self, assert_msg):
    return py.check(self)


@op("torch._check_is_size")
def row(i, message=None, *, max=None):
    return py.check(i >= 0)


@op("torch._assert_async", "torch.ops.aten._assert_async.msg")
def row(cond, message=None):
    return None


@op("torch.amp.autocast_mode._enter_autocast")
def row(*args):
    if len(args) > 2 and args[2]:
        raise ValueError("autocast is not supported; write the conversions out")
    return None


# Statements that only have side effects outside the values.
@op(
    "torch.set_grad_enabled",
    "torch._C._set_grad_enabled",
    "torch._C._log_api_usage_once",
    "torch._functorch.predispatch.lazy_load_decompositions",
    "torch.amp.autocast_mode._exit_autocast",
)
def row(*args, **kwargs):
    return None
