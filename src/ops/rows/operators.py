# Rows: Python's operators, item access and attributes. How to read a row: see functional.py.
#
# Python decides by the type of the left operand, then of the right one (the reflected form); so do these rows.


@op("operator.add", ".__add__", ".__radd__")
def row(a, b):
    if is_tensor(a):
        return aten.add(a, b)
    return aten.add(b, a) if is_tensor(b) else py.add(a, b)


@op("operator.sub", ".__sub__")
def row(a, b):
    if is_tensor(a):
        return aten.sub(a, b)
    return aten.rsub(b, a) if is_tensor(b) else py.sub(a, b)


@op(".__rsub__")
def row(a, b):
    return b - a


@op("operator.mul", ".__mul__", ".__rmul__")
def row(a, b):
    if is_tensor(a):
        return aten.mul(a, b)
    return aten.mul(b, a) if is_tensor(b) else py.mul(a, b)


@op("operator.truediv", ".__truediv__", ".__div__")
def row(a, b):
    if is_tensor(a):
        return aten.div(a, b)
    # a number over a tensor is not a division: torch multiplies by the reciprocal
    return aten.mul(aten.reciprocal(b), a) if is_tensor(b) else py.truediv(a, b)


@op(".__rtruediv__", ".__rdiv__")
def row(a, b):
    return b / a


@op("operator.floordiv", ".__floordiv__")
def row(a, b):
    return aten.floor_divide(a, b) if is_tensor(a) or is_tensor(b) else py.floordiv(a, b)


@op(".__rfloordiv__")
def row(a, b):
    return b // a


@op("operator.mod", ".__mod__")
def row(a, b):
    return aten.remainder(a, b) if is_tensor(a) or is_tensor(b) else py.mod(a, b)


@op("operator.pow", ".__pow__")
def row(a, b):
    return aten.pow(a, b) if is_tensor(a) or is_tensor(b) else py.pow(a, b)


@op(".__rpow__")
def row(a, b):
    return b**a


@op("operator.matmul", ".__matmul__")
def row(a, b):
    return aten.matmul(a, b)


@op(".__rmatmul__")
def row(a, b):
    return aten.matmul(b, a)


@op("operator.and_", ".__and__", ".__rand__")
def row(a, b):
    if is_tensor(a):
        return aten.__and__(a, b)
    return aten.__and__(b, a) if is_tensor(b) else py.and_(a, b)


@op("operator.or_", ".__or__", ".__ror__")
def row(a, b):
    if is_tensor(a):
        return aten.__or__(a, b)
    return aten.__or__(b, a) if is_tensor(b) else py.or_(a, b)


@op("operator.xor", ".__xor__", ".__rxor__")
def row(a, b):
    if is_tensor(a):
        return aten.__xor__(a, b)
    return aten.__xor__(b, a) if is_tensor(b) else py.xor(a, b)


@op("operator.lshift", ".__lshift__")
def row(a, b):
    if is_tensor(a):
        return aten.__lshift__(a, b)
    return aten.bitwise_left_shift(a, b) if is_tensor(b) else py.lshift(a, b)


@op("operator.rshift", ".__rshift__")
def row(a, b):
    if is_tensor(a):
        return aten.__rshift__(a, b)
    return aten.bitwise_right_shift(a, b) if is_tensor(b) else py.rshift(a, b)


@op("operator.lt", ".__lt__")
def row(a, b):
    if is_tensor(a):
        return aten.lt(a, b)
    return aten.gt(b, a) if is_tensor(b) else py.lt(a, b)


@op("operator.le", ".__le__")
def row(a, b):
    if is_tensor(a):
        return aten.le(a, b)
    return aten.ge(b, a) if is_tensor(b) else py.le(a, b)


@op("operator.gt", ".__gt__")
def row(a, b):
    if is_tensor(a):
        return aten.gt(a, b)
    return aten.lt(b, a) if is_tensor(b) else py.gt(a, b)


@op("operator.ge", ".__ge__")
def row(a, b):
    if is_tensor(a):
        return aten.ge(a, b)
    return aten.le(b, a) if is_tensor(b) else py.ge(a, b)


@op("operator.eq", ".__eq__")
def row(a, b):
    if is_none(a) or is_none(b):
        return is_none(a) and is_none(b)
    if is_tensor(a):
        return aten.eq(a, b)
    return aten.eq(b, a) if is_tensor(b) else py.eq(a, b)


@op("operator.ne", ".__ne__")
def row(a, b):
    if is_none(a) or is_none(b):
        return not (is_none(a) and is_none(b))
    if is_tensor(a):
        return aten.ne(a, b)
    return aten.ne(b, a) if is_tensor(b) else py.ne(a, b)


@op("operator.is_")
def row(a, b):
    return a is b


@op("operator.is_not")
def row(a, b):
    return not (a is b)


@op("operator.neg", ".__neg__")
def row(a):
    return aten.neg(a) if is_tensor(a) else py.neg(a)


@op("operator.pos", ".__pos__")
def row(a):
    return aten.positive(a) if is_tensor(a) else a


@op("operator.invert", ".__invert__")
def row(a):
    return aten.bitwise_not(a) if is_tensor(a) else py.invert(a)


@op("operator.abs", "builtins.abs", ".__abs__")
def row(a):
    return aten.abs(a) if is_tensor(a) else py.abs(a)


@op("operator.not_", "torch.sym_not")
def row(a):
    return py.not_(a)


@op("operator.truth", "builtins.bool", ".__bool__")
def row(a):
    return py.bool(a)


# ---- in place: a tensor changes; anything else is ordinary arithmetic


@op("operator.iadd", ".__iadd__")
def row(a, b):
    return aten.add_(a, b) if is_tensor(a) else a + b


@op("operator.isub", ".__isub__")
def row(a, b):
    return aten.sub_(a, b) if is_tensor(a) else a - b


@op("operator.imul", ".__imul__")
def row(a, b):
    return aten.mul_(a, b) if is_tensor(a) else a * b


@op("operator.itruediv", ".__itruediv__", ".__idiv__")
def row(a, b):
    return aten.div_(a, b) if is_tensor(a) else a / b


@op("operator.ifloordiv", ".__ifloordiv__")
def row(a, b):
    return aten.floor_divide_(a, b) if is_tensor(a) else a // b


@op("operator.imod", ".__imod__")
def row(a, b):
    return aten.remainder_(a, b) if is_tensor(a) else a % b


@op("operator.ipow", ".__ipow__")
def row(a, b):
    return aten.pow_(a, b) if is_tensor(a) else a**b


@op("operator.imatmul")
def row(a, b):
    return a @ b


@op("operator.iand", ".__iand__")
def row(a, b):
    return aten.__iand__(a, b) if is_tensor(a) else a & b


@op("operator.ior", ".__ior__")
def row(a, b):
    return aten.__ior__(a, b) if is_tensor(a) else a | b


@op("operator.ixor", ".__ixor__")
def row(a, b):
    return aten.__ixor__(a, b) if is_tensor(a) else a ^ b


@op("operator.ilshift", ".__ilshift__")
def row(a, b):
    return aten.__ilshift__(a, b) if is_tensor(a) else a << b


@op("operator.irshift", ".__irshift__")
def row(a, b):
    return aten.__irshift__(a, b) if is_tensor(a) else a >> b


# ---- items and attributes


@op("operator.getitem", ".__getitem__")
def row(x, index):
    return py.getitem(x, index)


@op("operator.setitem", ".__setitem__")
def row(x, index, value):
    return py.setitem(x, index, value)


@op("getattr.T")
def row(x):
    return aten.numpy_T(x)


@op("getattr.mT")
def row(x):
    return aten.mT(x)


@op("getattr.H")
def row(x):
    return aten.matrix_H(x)


@op("getattr.mH")
def row(x):
    return aten.mH(x)


@op("getattr.real")
def row(x):
    return aten.real(x)


@op("getattr.imag")
def row(x):
    return aten.imag(x)


@op("getattr.data")
def row(x):
    return aten.detach(x)


@op("getattr.shape")
def row(x):
    return py.size(x)


@op("getattr.ndim")
def row(x):
    return py.dim(x)


@op("getattr.dtype")
def row(x):
    return py.dtype(x)


@op("getattr.device")
def row(x):
    return py.device(x)


@op("getattr.layout")
def row(x):
    return torch.strided


@op("getattr.itemsize", ".element_size")
def row(x):
    return py.element_size(x)


@op("getattr.nbytes")
def row(x):
    return py.element_size(x) * py.numel(x)


@op("getattr.is_cuda")
def row(x):
    return py.is_cuda(x)


@op("getattr.requires_grad", "getattr.is_sparse", "getattr.is_quantized", "getattr.is_nested", "getattr.is_mkldnn")
def row(x):
    return False


@op("getattr.grad", "getattr.grad_fn")
def row(x):
    return None


# results of several tensors have names
@op("getattr.values", "getattr.sign", "getattr.eigenvalues", "getattr.L", "getattr.Q", "getattr.U", "getattr.LU", "getattr.solution", "getattr.mantissa")
def row(x):
    return x[0]


@op("getattr.indices", "getattr.logabsdet", "getattr.eigenvectors", "getattr.info", "getattr.R", "getattr.S", "getattr.pivots", "getattr.exponent")
def row(x):
    return x[1]


@op("getattr.Vh", "getattr.V")
def row(x):
    return x[2]


# of torch.aminmax, or of torch.finfo(dtype)
@op("getattr.min")
def row(x):
    return py.type_limit(x, "min") if is_dtype(x) else x[0]


@op("getattr.max")
def row(x):
    return py.type_limit(x, "max") if is_dtype(x) else x[1]


@op("getattr.eps")
def row(x):
    return py.type_limit(x, "eps")


@op("getattr.tiny", "getattr.smallest_normal")
def row(x):
    return py.type_limit(x, "tiny")


@op("getattr.bits")
def row(x):
    return py.type_limit(x, "bits")


# of a device
@op("getattr.type")
def row(x):
    return py.device_type(x)


@op("getattr.index")
def row(x):
    return py.device_index(x)
