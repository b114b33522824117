"""The best configuration of each device on each other one, as a Markdown table: Falch & Elster's figure 1.

    across.py ARTIFACT KERNEL DEVICE:PROBLEM:FILE.csv DEVICE:PROBLEM:FILE.csv...

ARTIFACT is a program with the kernels, such as the example `imaging` of cltune-kernels, built with
`--features cltune/offline`. KERNEL is `box`, `raycast` or `stereo`; DEVICE what `--device` of `cargo cltune` takes,
PROBLEM what `--problem` takes, and FILE.csv what `networks record` recorded of the kernel there. On each device one
session measures the best of all recordings. A cell says how many times as long as the device's own best the one of the
other device takes.
"""
import csv
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(os.environ["CLTUNE"])
MEASURED = ("time_ms", "compile_ms", "error")


def configurations(path):
    """The configurations in a CSV file, as tuples of texts, with their times; infinite where it failed."""
    with open(path, encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    names = [name for name in rows[0] if name not in MEASURED]
    times = {tuple(row[name] for name in names): float(row["time_ms"] or "inf") for row in rows}
    return names, times


def literal(value):
    """A value from a CSV file as formulas have it."""
    return value if value in ("true", "false") or value.lstrip("-").isdigit() else f'"{value}"'


def measure(artifact, kernel, device, problem, names, bests):
    """The times of these configurations on a device, from a session of its own."""
    equal = (" && ".join(f"{name} == {literal(value)}" for name, value in zip(names, best)) for best in bests)
    constraint = " || ".join(f"({clause})" for clause in equal)
    of = ["--kernel", f"cltune_kernels::imaging_{kernel}", "--device", device, "--problem", problem]
    of += ["--artifact", os.path.abspath(artifact)]
    tune = ["tune", "--quiet", "--strategy", "full", "--no-warm-start", "--soundness", "off", "--constraint", constraint]
    export = ["export", "--format", "csv", "--out", "times.csv"]
    with tempfile.TemporaryDirectory() as folder:
        for command in (tune, export):
            subprocess.run([PROGRAM, "cltune", *command, *of], check=True, stdout=sys.stderr, cwd=folder)
        return configurations(os.path.join(folder, "times.csv"))[1]


def main():
    artifact, kernel, *devices = sys.argv[1:]
    devices = [device.split(":") for device in devices]
    bests = []
    for _, _, path in devices:
        names, times = configurations(path)
        bests.append(min(times, key=times.get))
    print(f"| {kernel} on | {' | '.join(f'best of {device}' for device, _, _ in devices)} |")
    print(f"|{'---|' * (1 + len(devices))}")
    for position, (device, problem, _) in enumerate(devices):
        times = measure(artifact, kernel, device, problem, names, bests)
        own = times.get(bests[position], math.inf)
        if own == math.inf:
            sys.exit(f"the best that {device} had does not run there any more: record {kernel} again")
        cells = (times.get(best, math.inf) / own for best in bests)
        texts = (f"{cell:.2f}" if math.isfinite(cell) else "fails" for cell in cells)
        print(f"| {device} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
