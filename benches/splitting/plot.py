"""Draws the times of all splits of a problem between two devices, as figures 6 and 7 of the paper on splitting.

    python plot.py SWEEP.csv PLOT.svg

The file is what `several-devices --sweep` writes: times over the first device's part, measured (solid) and
calculated by the paper's algorithm 1 (dashed); the split that the program settled on is the circle.
"""

import csv
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 66, 22, 62, 58

STYLE = """
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:13px}
.title{font-size:16px;font-weight:600}
.frame,.grid,.line,circle{fill:none}.line{stroke-width:2.2;stroke-linejoin:round}circle{stroke-width:2.4}
.dashed{stroke-dasharray:7 5}
.paper{fill:#ffffff}text{fill:#1f2328}text.weak{fill:#57606a}
.frame{stroke:#8c959f}.grid{stroke:#e3e7eb}
.measured{stroke:#009e73}.calculated{stroke:#0072b2}circle{stroke:#d55e00}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117}text{fill:#e6edf3}text.weak{fill:#9aa4af}
.frame{stroke:#6e7681}.grid{stroke:#262c34}
.measured{stroke:#2fc398}.calculated{stroke:#4a9fe3}circle{stroke:#f28245}
}
"""


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise SystemExit(f"plot.py: {path} has no lines")
    for row in rows:
        for column in ("factor", "measured_ms", "calculated_ms"):
            row[column] = float(row[column])
    return rows


def step(longest):
    """A round number of which about five are as much as the longest time."""
    size = 10.0 ** -9
    while longest / size > 50:
        size *= 10
    return next(size * times for times in (1, 2, 5, 10) if longest / (size * times) <= 6)


def draw(rows):
    chosen = [row for row in rows if row["is_chosen"] == "true"]
    points = [row for row in rows if row["is_chosen"] != "true"]
    longest = max(max(row["measured_ms"], row["calculated_ms"]) for row in rows)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(factor):
        return LEFT + factor * (right - LEFT)

    def y(time):
        return bottom - time / longest * (bottom - TOP)

    title = rows[0]["problem"]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    )
    yield f"<title>{escape(title)}</title>\n<style>{STYLE}</style>"
    yield '<rect class="paper" width="100%" height="100%"/>'
    yield f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>'
    yield from legend()
    for tenth in range(11):
        at = x(tenth / 10)
        yield f'<path class="grid" d="M{at:.1f} {TOP}V{bottom}"/>'
        yield f'<text class="weak" x="{at:.1f}" y="{bottom + 20}" text-anchor="middle">{tenth / 10}</text>'
    size = step(longest)
    for count in range(int(longest / size) + 1):
        at = y(count * size)
        yield f'<path class="grid" d="M{LEFT} {at:.1f}H{right}"/>'
        label = f"{count * size:g}"
        yield f'<text class="weak" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label}</text>'
    yield f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}"/>'
    yield f'<text x="{LEFT - 8}" y="{TOP - 8}" text-anchor="end">ms</text>'
    first, second = short(rows[0]["first"]), short(rows[0]["second"])
    second = f"another {second}" if first == second else second
    below = f"part of the problem on an {first}; the rest is on {second}"
    yield f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{escape(below)}</text>'
    for kind, dashes in (("calculated", " dashed"), ("measured", "")):
        places = (f'{x(row["factor"]):.1f} {y(row[kind + "_ms"]):.1f}' for row in points)
        yield f'<path class="line {kind}{dashes}" d="M{"L".join(places)}"/>'
    for row in chosen:
        yield f'<circle cx="{x(row["factor"]):.1f}" cy="{y(row["measured_ms"]):.1f}" r="7"/>'
    yield "</svg>"


def legend():
    at = LEFT
    for kind, dashes, text in (
        ("measured", "", "measured"),
        ("calculated", " dashed", "calculated (algorithm 1)"),
    ):
        yield f'<path class="line {kind}{dashes}" d="M{at} 44h28"/>'
        yield f'<text x="{at + 35}" y="48">{text}</text>'
        at += 60 + 8 * len(text)
    yield f'<circle cx="{at + 8}" cy="44" r="6"/>\n<text x="{at + 22}" y="48">the split that the program settled on</text>'


def short(name):
    """A device's name; PoCL's is long."""
    return "its host's CPU" if name.startswith(("cpu-", "pthread-")) else name


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: plot.py SWEEP.csv PLOT.svg")
    sweep, plot = sys.argv[1:]
    with open(plot, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in draw(read(sweep)))


if __name__ == "__main__":
    main()
