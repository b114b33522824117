"""Draws rates of square products over their size, as in figures 9 to 12 of Lin et al. 2025.

    python plot.py TITLE PLOT.svg TABLE.md...

Each TABLE.md is what compare.py printed, and is drawn as a panel of its own.
"""

import sys
from xml.sax.saxutils import escape

# Of a panel; HEIGHT is that of the plot.
WIDTH, HEIGHT, GAP = 360, 440, 60
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 50, 50
NAMES = {"torch": "cuBLAS", "clblast": "CLBlast", "openblas": "OpenBLAS"}
STYLE = """
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:13px}
.title{font-size:16px;font-weight:600}.grid{stroke-width:1}.line{fill:none;stroke:currentColor;stroke-width:2}
circle{fill:currentColor}.paper{fill:#ffffff}text{fill:#1f2328}.grid{stroke:#e3e7eb}text.name{fill:currentColor}
.s0{color:#0072b2}.s1{color:#d55e00}.s2{color:#009e73}.s3{color:#cc79a7}.s4{color:#8a6d00}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117}text{fill:#e6edf3}.grid{stroke:#262c34}
.s0{color:#4a9fe3}.s1{color:#f28245}.s2{color:#2fc398}.s3{color:#e29ac3}.s4{color:#d3b64a}
}
"""


def read(path):
    """The names of columns and, of each size, their TFLOPS."""
    with open(path, encoding="utf-8") as file:
        rows = [line.strip().strip("|").split("|") for line in file if line.startswith("|")]
    if len(rows) < 3:
        raise SystemExit(f"plot.py: {path} has no table of compare.py")
    rows = [[cell.strip() for cell in row] for row in rows]
    names = [name for name in rows[0][1:] if "/" not in name]
    points = {}
    for row in rows[2:]:
        if row[0].isdigit():
            rates = [cell.split(" ")[0] for cell in row[1 : len(names) + 1]]
            points[int(row[0])] = [None if rate == "-" else float(rate) / 1e3 for rate in rates]
    return names, dict(sorted(points.items()))


def steps(most):
    """At most eight whole numbers of 1, 2 or 5 times a power of ten."""
    step = 1
    while most / step > 8:
        step = {"1": step * 2, "2": step * 5 // 2, "5": step * 2}[str(step)[0]]
    return range(0, int(most / step + 1) * step + 1, step)


def read_all(paths):
    """The names of columns, and the points of each table."""
    tables = [read(path) for path in paths]
    if any(names != tables[0][0] for names, _ in tables):
        raise SystemExit("plot.py: the tables have different columns")
    return tables[0][0], [points for _, points in tables]


def ticks(sizes):
    """Sizes at multiples of a power of two, so that at most six are written."""
    step = 1
    while (sizes[-1] - sizes[0]) / step > 6:
        step *= 2
    return range(-(-sizes[0] // step) * step, sizes[-1] + 1, step)


def draw(points, names, left, y, marks):
    """A panel, and where its lines end: height, column, name."""
    sizes = list(points)
    right = left + WIDTH
    x = lambda size: left + (size - sizes[0]) / max(1, sizes[-1] - sizes[0]) * WIDTH
    out, ends = [], []
    for mark in marks:
        out.append(f'<path class="grid" d="M{left} {y(mark):.1f}H{right}"/>')
    for size in ticks(sizes):
        out.append(f'<path class="grid" d="M{x(size):.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        out.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size}</text>')
    for column, name in enumerate(names):
        line = [(x(size), y(rates[column])) for size, rates in points.items() if rates[column]]
        if not line:
            continue
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in line)
        out.append(f'<g class="s{column % 5}"><path class="line" d="M{path}"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6"/>' for a, b in line] + ["</g>"]
        ends.append((line[-1][1], column, NAMES.get(name, name)))
    return out, ends


title, plot = sys.argv[1:3]
names, panels = read_all(sys.argv[3:])
marks = steps(max(rate for points in panels for rates in points.values() for rate in rates if rate))
y = lambda rate: HEIGHT - BOTTOM - rate / marks[-1] * (HEIGHT - TOP - BOTTOM)
full = LEFT + len(panels) * (WIDTH + GAP) - GAP + RIGHT
out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} {HEIGHT}" role="img">',
    f"<title>{escape(title)}</title><style>{STYLE}</style>",
    f'<rect class="paper" width="{full}" height="{HEIGHT}"/>',
    f'<text class="title" x="{LEFT}" y="28">{escape(title)}</text>',
]
for mark in marks:
    out.append(f'<text x="{LEFT - 8}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark}</text>')
ends = []
for at, points in enumerate(panels):
    drawn, ends = draw(points, names, LEFT + at * (WIDTH + GAP), y, marks)
    out += drawn
out.append(f'<text x="{LEFT}" y="{HEIGHT - 10}">m = n = k; TFLOPS, from the call until the device has done</text>')
# Names beside the ends of the last panel's lines, and not on each other.
low = 0.0
for end, column, name in sorted(ends):
    low = max(end, low + 16)
    out.append(f'<text class="name s{column % 5}" x="{full - RIGHT + 10}" y="{low + 4:.1f}">{escape(name)}</text>')
out.append("</svg>")
with open(plot, "w", encoding="utf-8") as file:
    file.write("\n".join(out) + "\n")
