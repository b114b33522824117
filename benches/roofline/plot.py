"""Draws measured kernels under their device's roofline (Williams, Waterman & Patterson 2009).

    python plot.py TITLE MEASURED.csv PLOT.svg

The file has the columns kernel,size,gflops,intensity,peak_gflops,peak_gbs: the intensity in FLOP per byte
that has to be moved, and what the device can do at most, of which the largest counts.
"""

import csv
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 60, 62
LINE = 15

STYLE = """
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:13px}
.title{font-size:16px;font-weight:600}
.frame,.grid{fill:none;stroke-width:1}
.roof{fill:none;stroke-width:2.2;stroke-linejoin:round}
circle{fill:currentColor;stroke-width:1.4}
.paper{fill:#ffffff}text{fill:#1f2328}text.weak{fill:#57606a}
.frame{stroke:#8c959f}.grid{stroke:#e3e7eb}.roof{stroke:#57606a}circle{stroke:#ffffff}
.s0{color:#0072b2}.s1{color:#d55e00}.s2{color:#009e73}.s3{color:#cc79a7}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117}text{fill:#e6edf3}text.weak{fill:#9aa4af}
.frame{stroke:#6e7681}.grid{stroke:#262c34}.roof{stroke:#9aa4af}circle{stroke:#0d1117}
.s0{color:#4a9fe3}.s1{color:#f28245}.s2{color:#2fc398}.s3{color:#e29ac3}
}
"""


class Scale:
    """From values on whole decades to coordinates, logarithmically."""

    def __init__(self, least, most, begin, end):
        self.low = math.floor(math.log10(least))
        self.high = max(math.ceil(math.log10(most)), self.low + 1)
        self.begin, self.end = begin, end

    def __call__(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def decades(self):
        return range(self.low, self.high + 1)


def number(value):
    return f"{value:g}" if value < 10 else f"{value:,.0f}"


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise SystemExit(f"plot.py: {path} has no lines")
    for row in rows:
        for column in ("gflops", "intensity", "peak_gflops", "peak_gbs"):
            row[column] = float(row[column])
    return rows


def draw(title, rows):
    peak = max(row["peak_gflops"] for row in rows)
    bandwidth = max(row["peak_gbs"] for row in rows)
    ridge = peak / bandwidth
    intensities = [row["intensity"] for row in rows] + [ridge]
    rates = [row["gflops"] for row in rows] + [peak]
    x = Scale(min(intensities), max(intensities) * 2, LEFT, WIDTH - RIGHT)
    y = Scale(min(rates) / 2, max(rates) * 1.3, HEIGHT - BOTTOM, TOP)
    kernels = sorted({row["kernel"] for row in rows})

    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    )
    yield f"<title>{escape(title)}</title>\n<style>{STYLE}</style>"
    yield '<rect class="paper" width="100%" height="100%"/>'
    yield f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>'
    for place, kernel in enumerate(kernels):
        at = LEFT + 6 + 110 * place
        yield f'<circle class="s{place % 4}" cx="{at}" cy="42" r="5"/>'
        yield f'<text x="{at + 10}" y="46">{escape(kernel)}</text>'

    for decade in x.decades():
        at = x(10.0**decade)
        yield f'<path class="grid" d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
        label = f'{number(10.0**decade)}</text>'
        yield f'<text class="weak" x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{label}'
    for decade in y.decades():
        at = y(10.0**decade)
        yield f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>'
        label = f'{number(10.0**decade)}</text>'
        yield f'<text class="weak" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label}'
    yield (
        f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" '
        f'height="{HEIGHT - TOP - BOTTOM}"/>'
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 18}" text-anchor="middle">FLOP per byte moved</text>'
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield f'<text transform="translate(20 {middle}) rotate(-90)" text-anchor="middle">GFLOPS</text>'

    yield from roof(x, y, peak, bandwidth, ridge)
    yield from points(x, y, rows, kernels)
    yield "</svg>"


def roof(x, y, peak, bandwidth, ridge):
    """The bandwidth's slope, from where it enters the plot, and the flat part."""
    first = max(10.0**x.low, 10.0**y.low / bandwidth)
    last = 10.0**x.high
    yield (
        f'<path class="roof" d="M{x(first):.1f} {y(first * bandwidth):.1f}'
        f'L{x(ridge):.1f} {y(peak):.1f}L{x(last):.1f} {y(peak):.1f}"/>'
    )
    at = f'x="{x(last) - 6:.1f}" y="{y(peak) - 7:.1f}"'
    yield f'<text class="weak" {at} text-anchor="end">{number(peak)} GFLOPS</text>'
    half = math.sqrt(first * ridge)
    at = f'x="{x(half) - 10:.1f}" y="{y(half * bandwidth) - 8:.1f}"'
    yield f'<text class="weak" {at} text-anchor="end">{number(bandwidth)} GB/s</text>'


def points(x, y, rows, kernels):
    """Points, each with its label beside it, moved down where another label is."""
    taken = []
    for row in sorted(rows, key=lambda row: -row["gflops"]):
        across, down = x(row["intensity"]), y(row["gflops"])
        place = kernels.index(row["kernel"]) % 4
        yield f'<circle class="s{place}" cx="{across:.1f}" cy="{down:.1f}" r="5"/>'
        text = f'{row["size"]}: {number(row["gflops"])}'
        width = 7.8 * len(text)
        right = across + 10 + width < WIDTH - RIGHT
        begin = across + 10 if right else across - 10 - width
        while any(
            abs(down - other) < LINE and begin < end and start < begin + width
            for start, end, other in taken
        ):
            down += 1
        taken.append((begin, begin + width, down))
        anchor = "start" if right else "end"
        at = across + 10 if right else across - 10
        yield f'<text x="{at:.1f}" y="{down + 4:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def main():
    if len(sys.argv) != 4:
        raise SystemExit("usage: plot.py TITLE MEASURED.csv PLOT.svg")
    title, measured, plot = sys.argv[1:]
    with open(plot, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in draw(title, read(measured)))


if __name__ == "__main__":
    main()
