"""The hours in which a fleet tunes many kernels on many devices, by simulation from recorded spaces.

    simulate.py CARGO_CLTUNE SPACE.csv.gz...

The spaces are pairs: the same kernel on two devices, beside each other. Every search is a replay by
`cargo-cltune simulate` (strategy auto), so that the configurations, their times and what it takes to
build them are those of real GPUs. What a session adds is the constants below. No device is needed, and
the same input prints the same text.
"""
import csv
import gzip
import heapq
import json
import math
import os
import subprocess
import sys
import tempfile

KERNELS, DEVICES, PROBLEMS = 1000, 20, 5
WORKERS = [1, 8, 64]
# Processes that build on a worker, while another one measures.
BUILDERS = 16
# Replays of each search; the kernels take them in turn.
REPEATS = 20
BUDGET = 200
# Where another device's results are known, from which a search starts.
SHORT = 50
# Seconds, as BENCHMARKS.md has them of an H200: a process until it has a context, and a search until it
# has its inputs and the reference.
PROCESS, SEARCH = 0.8, 0.3
# The timing rules of docs/sessions.md.
LEAST, MOST, ENOUGH_MS, SLOW = 6, 50, 100, 2
FINALISTS, NEAR, ROUNDS, COMPARING_MS, DRAWS = 5, 1.1, 101, 2000, 5


def read(path):
    """By configuration, the milliseconds of a launch (None: failed) and of building."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in {"time_ms", "compile_ms", "error"}]
    known = {}
    for row in rows:
        time = float(row["time_ms"]) if row["time_ms"] else None
        key = tuple(float(row[name]) for name in names)
        known[key] = (time, float(row["compile_ms"] or 0))
    return names, known


def replays(tool, space, other, budget, stop):
    """The evaluations of each run, the first one's seed being 0."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as trace:
        command = [tool, "simulate", space, "--trace", trace.name]
        command += ["--budget", str(budget), "--repeats", str(REPEATS)]
        command += ["--stop-when-stagnant"] if stop else []
        command += ["--warm-start", other] if other else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line)["evals"] for line in open(trace.name)]


class Search:
    """The seconds of one search, by what they are spent on."""

    def __init__(self, evaluations, names, known):
        best, building, measuring, times = math.inf, 0.0, 0.0, []
        for evaluation in evaluations:
            time, build = known[tuple(float(evaluation["config"][name]) for name in names)]
            building += build
            if time is None:
                continue
            if time > SLOW * best:
                launches = 1
            else:
                launches = max(LEAST, min(MOST, math.ceil(ENOUGH_MS / time)))
            # One more to warm up.
            measuring += (1 + launches) * time
            best = min(best, time)
            times.append(time)
        finalists = sorted(time for time in times if time <= NEAR * best)[:FINALISTS]
        round_of_all = sum(finalists) + times[0]
        comparing = DRAWS * round_of_all + min(ROUNDS * round_of_all, max(COMPARING_MS, 11 * round_of_all))
        self.evaluations = len(evaluations)
        self.fraction = min(time for time, _ in known.values() if time) / best
        self.spent = {
            "starting": SEARCH,
            "waiting for builds": max(0.0, building / BUILDERS - measuring) / 1000,
            "measuring": measuring / 1000,
            "comparing": comparing / 1000,
        }
        self.seconds = sum(self.spent.values())


def searches(tool, spaces, warm=False, budget=BUDGET, stop=False):
    """For each kernel, each of its two devices: the runs."""
    kinds = []
    for at in range(0, len(spaces), 2):
        pair = spaces[at : at + 2]
        kind = []
        for here, there in [pair, pair[::-1]]:
            names, known = read(here)
            runs = replays(tool, here, there if warm else None, budget, stop)
            kind.append([Search(run, names, known) for run in runs])
        kinds.append(kind)
    return kinds


def group(kinds, kernel, device):
    """The searches of a kernel on a device: one for each problem."""
    runs = kinds[kernel % len(kinds)][device % 2]
    return [runs[(kernel // len(kinds) + 7 * device + problem) % len(runs)] for problem in range(PROBLEMS)]


def slices(groups, workers):
    """The seconds that each worker is busy, where each tunes one part in one process."""
    busy = [PROCESS] * workers
    for at, seconds in enumerate(groups):
        busy[at % workers] += seconds
    return busy


def queue(groups, workers):
    """The same where a worker takes the next group, in a process of its own, when it is done with one."""
    busy = [0.0] * workers
    for seconds in groups:
        heapq.heapreplace(busy, busy[0] + PROCESS + seconds)
    return busy


def fleet(first, others, workers, divide):
    """Seconds until all is tuned, the first device before the others, and what workers do meanwhile."""
    total, spent, idle, starting = 0.0, {}, 0.0, 0.0
    for devices, kinds in [(range(1), first), (range(1, DEVICES), others)]:
        groups = [group(kinds, kernel, device) for kernel in range(KERNELS) for device in devices]
        seconds = [sum(search.seconds for search in searches) for searches in groups]
        busy = divide(seconds, workers)
        total += max(busy)
        idle += sum(max(busy) - of for of in busy)
        starting += sum(busy) - sum(seconds)
        for search in (search for searches in groups for search in searches):
            for part, of in search.spent.items():
                spent[part] = spent.get(part, 0.0) + of
    spent["starting"] += starting
    spent["idle"] = idle
    return total, spent


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def main():
    tool, spaces = sys.argv[1], sys.argv[2:]
    if len(spaces) % 2 or not spaces:
        sys.exit("simulate.py: name pairs of spaces, the same kernel on two devices")
    whole = searches(tool, spaces)
    cold = searches(tool, spaces, stop=True)
    warm = searches(tool, spaces, warm=True, stop=True)
    short = searches(tool, spaces, warm=True, budget=SHORT)
    parts = "starting | waiting for builds | measuring | comparing |"
    print(f"| a search | evaluations | fraction of the optimum, mean | s | {parts}")
    print("|---|---|---|---|---|---|---|---|")
    ways = [
        (f"cold, {BUDGET} evaluations", whole, whole),
        ("cold, until stagnant", cold, cold),
        ("warm from another device, until stagnant", cold, warm),
        (f"warm from another device, {SHORT} evaluations", whole, short),
    ]
    for name, _, others in ways:
        runs = [search for kind in others for runs in kind for search in runs]
        spent = [f"{mean(run.spent[part] for run in runs):.1f}" for part in runs[0].spent]
        numbers = [
            f"{mean(run.evaluations for run in runs):.0f}",
            f"{mean(run.fraction for run in runs):.3f}",
            f"{mean(run.seconds for run in runs):.1f}",
        ]
        print(f"| {name} | " + " | ".join(numbers + spent) + " |")
    print(f"\nOf each space (cold, {BUDGET} evaluations; warm, {SHORT} evaluations), s:\n")
    print("| space | cold | warm |\n|---|---|---|")
    for at, space in enumerate(spaces):
        cost = [mean(run.seconds for run in kinds[at // 2][at % 2]) for kinds in [whole, short]]
        name = os.path.basename(space).split(".")[0].replace("_", " ")
        print(f"| {name} | {cost[0]:.1f} | {cost[1]:.1f} |")
    print(f"\n{KERNELS} kernels x {DEVICES} devices x {PROBLEMS} problems, hours:\n")
    counts = [f"{count} workers" if count > 1 else "1 worker" for count in WORKERS]
    print("| searches | divided | " + " | ".join(counts) + " |")
    print("|---|---|" + "---|" * len(WORKERS))
    divisions = [("one part for each worker", slices), ("a queue of kernels on devices", queue)]
    for name, first, others in ways:
        for division, divide in divisions:
            hours = [fleet(first, others, workers, divide)[0] / 3600 for workers in WORKERS]
            print(f"| {name} | {division} | " + " | ".join(f"{of:.1f}" for of in hours) + " |")
    print(f"\nWhat {WORKERS[-1]} workers do, parts of their time:\n")
    print(f"| searches | divided | {parts} idle |")
    print("|---|---|---|---|---|---|---|")
    for name, first, others in ways:
        for division, divide in divisions:
            total, spent = fleet(first, others, WORKERS[-1], divide)
            shares = [f"{of / total / WORKERS[-1]:.3f}" for of in spent.values()]
            print(f"| {name} | {division} | " + " | ".join(shares) + " |")


main()
