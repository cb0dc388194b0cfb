#!/usr/bin/env python3
"""What kernels_bench.py printed, as a picture: the share of its limit that each family reaches.

    families_picture.py TABLE > docs/cuda-families.svg

The limit of a family that memory bounds is the copy's bandwidth of the same run; of products the dense rate of the tensor cores (H200: 989 TFLOP/s
in f16 and bf16, 494 in tf32)."""
import re, sys

lines = open(sys.argv[1]).read().splitlines()
copy = float(next(re.search(r"([\d.]+) TB/s", l).group(1) for l in lines if l.startswith("copy")))
rows = []
for l in lines:
    m = re.match(r"(\S.*?)\s{2,}([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+) (TB/s|TFLOP/s)", l)
    if m:
        limit = copy if m[6] == "TB/s" else 494 if "tf32" in m[1] else 989
        rows.append((m[1], float(m[5]) / limit, float(m[5]) / limit * float(m[2]) / float(m[3]) if float(m[3]) else 0, f"{m[5]} {m[6]}"))
W, H, LEFT, BAR = 760, 20, 170, 400
out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{W}" height="{H * len(rows) + 46}" font-family="sans-serif" font-size="12">',
       '<rect width="100%" height="100%" fill="white"/>']
for i, (name, share, other, text) in enumerate(rows):
    y = 10 + i * H
    out.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{name}</text>')
    out.append(f'<rect x="{LEFT}" y="{y}" width="{min(share, 1.05) * BAR:.1f}" height="9" fill="#2b6cb0"/>')
    out.append(f'<rect x="{LEFT}" y="{y + 10}" width="{min(other, 1.05) * BAR:.1f}" height="4" fill="#cbd5e0"/>')
    out.append(f'<text x="{LEFT + BAR * 1.08:.0f}" y="{y + 12}">{share * 100:.0f} %, {text}</text>')
bottom = 10 + len(rows) * H
out.append(f'<line x1="{LEFT + BAR}" y1="4" x2="{LEFT + BAR}" y2="{bottom}" stroke="#c53030" stroke-dasharray="4 3"/>')
out.append(f'<text x="{LEFT}" y="{bottom + 22}">share of the limit (red): a copy\'s bandwidth, or the tensor cores\' rate; blue ours, grey Triton</text>')
out.append("</svg>")
print("\n".join(out))
