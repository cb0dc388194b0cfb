"""Kernel families, as Triton and PassNet both compile them."""
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


@triton.jit
def gelu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask).to(tl.float32)
    tl.store(out_ptr + at, 0.5 * x * (1.0 + tl.math.erf(x * 0.7071067811865476)), mask=mask)


@triton.jit
def silu_mul(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask).to(tl.float32)
    tl.store(out_ptr + at, x * tl.sigmoid(x) * tl.load(y_ptr + at, mask=mask).to(tl.float32), mask=mask)


@triton.jit
def scale_channels(x_ptr, scale_ptr, shift_ptr, out_ptr, n, inner, channels, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    channel = at // inner % channels
    x = tl.load(x_ptr + at, mask=mask)
    tl.store(out_ptr + at, x * tl.load(scale_ptr + channel, mask=mask) + tl.load(shift_ptr + channel, mask=mask), mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    d = tl.where(mask, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    y = d * rstd * tl.load(weight_ptr + at, mask=mask).to(tl.float32) + tl.load(bias_ptr + at, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * columns + at, y, mask=mask)


@triton.jit
def rms_norm_loop(x_ptr, weight_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        total += x * x
    scale = 1.0 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < columns
        x = tl.load(x_ptr + row * columns + at, mask=mask).to(tl.float32)
        tl.store(out_ptr + row * columns + at, x * scale * tl.load(weight_ptr + at, mask=mask).to(tl.float32), mask=mask)


@triton.jit
def row_sums(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (at[None, :] < columns)
    x = tl.load(x_ptr + row[:, None] * columns + at[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=1), mask=row < rows)


@triton.jit
def column_sums(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        x = tl.load(x_ptr + row[:, None] * columns + at[None, :], mask=(row[:, None] < rows) & (at[None, :] < columns), other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + at, total, mask=at < columns)


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(out_ptr + c[:, None] * rows + r[None, :], tl.trans(x), mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def argmax_rows(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    tl.store(out_ptr + row, tl.argmax(x, axis=0))


@triton.jit
def cumsum_rows(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=mask, other=0.0)
    tl.store(out_ptr + row * columns + at, tl.cumsum(x, axis=0), mask=mask)


@triton.jit
def embedding(ids_ptr, table_ptr, out_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < width
    id = tl.load(ids_ptr + row)
    tl.store(out_ptr + row * width + at, tl.load(table_ptr + id * width + at, mask=mask), mask=mask)


@triton.jit
def average_pool(x_ptr, out_ptr, height, width, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    half = width // 2
    mask = at < (height // 2) * half
    y, x = at // half, at % half
    base = x_ptr + plane * height * width + y * 2 * width + x * 2
    s = tl.load(base, mask=mask) + tl.load(base + 1, mask=mask) + tl.load(base + width, mask=mask) + tl.load(base + width + 1, mask=mask)
    tl.store(out_ptr + plane * (height // 2) * half + at, s * 0.25, mask=mask)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a = a_ptr + rm[:, None] * K + rk[None, :]
    b = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * N
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    base = head * T * D
    q = tl.load(q_ptr + base + rm[:, None] * D + rd[None, :])
    acc = tl.zeros([BM, D], tl.float32)
    m = tl.full([BM], -float("inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    for start in range(0, T, BN):
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + base + rn[:, None] * D + rd[None, :])
        s = tl.dot(q, tl.trans(k)) * scale
        top = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - top[:, None])
        keep = tl.exp(m - top)
        l = l * keep + tl.sum(p, axis=1)
        v = tl.load(v_ptr + base + rn[:, None] * D + rd[None, :])
        acc = acc * keep[:, None] + tl.dot(p.to(v.dtype), v)
        m = top
    tl.store(out_ptr + base + rm[:, None] * D + rd[None, :], (acc / l[:, None]).to(out_ptr.dtype.element_ty))
