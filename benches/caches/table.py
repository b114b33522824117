"""What was chosen for each problem with warm and with cold caches, and its time with both.

    python3 benches/caches/table.py FOLDER

Reads `warm.lock` and `cold.lock` in the folder, and the CSV files that `cargo cltune export` wrote into its folder
`results`, those of cold caches with `.cold.` in their names. A choice has the time of the lockfile with the caches that
it was chosen with, from the comparison of the finalists, and that of the search with the others.
"""

import csv
import pathlib
import re
import sys
import tomllib

STATES = ("warm", "cold")


def text(value):
    """A value as the CSV files have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def search(path, names):
    """The time of each configuration in the search, microseconds."""
    with path.open() as file:
        rows = [row for row in csv.DictReader(file) if row["time_ms"]]
    return {tuple(row[name] for name in names): 1000 * float(row["time_ms"]) for row in rows}


def main():
    folder = pathlib.Path(sys.argv[1])
    chosen = {}
    for state in STATES:
        lockfile = tomllib.loads((folder / f"{state}.lock").read_text())
        (kernel,) = lockfile["kernel"]
        for entry in kernel["tuned"]:
            chosen[tuple(entry["problem"].values()), state] = entry
            dimensions = list(entry["problem"])
    names = kernel["params"]
    searched = {}
    for path in (folder / "results").glob("*.csv"):
        found = (re.search(rf"-{name}(\d+)-", path.name) for name in dimensions)
        size = tuple(int(match.group(1)) for match in found)
        state = "cold" if ".cold." in path.name else "warm"
        searched[size, state] = search(path, names)
    heads = " ".join(f"{name:>9}" for name in dimensions)
    print(f"{heads} {'chosen':>7} {'warm us':>9} {'cold us':>9}  configuration")
    for (size, state), entry in sorted(chosen.items(), key=lambda of: (of[0][0], of[0][1] == "cold")):
        values = tuple(text(value) for value in entry["values"])
        times = {of: searched[size, of][values] for of in STATES} | {state: entry["time_us"]}
        configuration = ", ".join(f"{name} = {value}" for name, value in zip(names, values))
        sizes = " ".join(f"{extent:>9}" for extent in size)
        print(f"{sizes} {state:>7} {times['warm']:>9.2f} {times['cold']:>9.2f}  {configuration}")


main()
