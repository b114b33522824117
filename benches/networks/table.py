"""The networks of `ann` on recorded spaces: error and distance to the optimum by N and M, as Markdown tables.

    table.py REPEATS SPACE.csv.gz...

Falch & Elster, figures 4 to 7 (mean relative error by N) and 11 to 13 (slow-down of the best found by N and M). The
error is that of single networks on the part of the results that each does not see. N is left out where the recording
has no more than N + M configurations.

The optimum is the best of the recording. In parentheses is the slow-down that random search is expected to have after
the same N + M evaluations, and a column has the part of the recording that N + 200 are: where that is much, both are
near the optimum whatever they do.
"""
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile

TRAINING = [100, 200, 500, 1000, 2000, 4000]
MEASURED = [10, 50, 100, 200]
PROGRAM = os.environ["CLTUNE"]


def simulate(repeats, training, space):
    """The held-out error, and for each of MEASURED the mean slow-down of the best found."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.jsonl")
        command = [PROGRAM, "cltune", "simulate", "--strategy", f"ann:n={training},m={MEASURED[-1]}"]
        command += ["--budget", str(training + MEASURED[-1]), "--repeats", repeats, "--format", "json"]
        done = subprocess.run([*command, "--trace", trace, space], stdout=subprocess.PIPE, check=True, text=True)
        with open(trace, encoding="utf-8") as lines:
            runs = [[of["time_ms"] for of in json.loads(line)["evals"]] for line in lines]
    [result] = json.loads(done.stdout)["spaces"]

    def slow_down(run, measured):
        return min(time for time in run[: training + measured] if time is not None) / result["best_ms"] - 1

    means = [sum(slow_down(run, measured) for run in runs) / len(runs) for measured in MEASURED]
    return result["space"], result["held_out_error"], means


def recorded(space):
    """The times in a CSV file, `None` where a configuration failed."""
    opened = gzip.open if space.endswith(".gz") else open
    with opened(space, "rt", encoding="utf-8", newline="") as lines:
        return [float(row["time_ms"]) if row["time_ms"] else None for row in csv.DictReader(lines)]


def random_search(times, evaluations):
    """The expected slow-down of the best of so many different configurations, of those draws that have one that works."""
    working = sorted(time for time in times if time is not None)
    expected, unseen = 0, 1
    for faster, time in enumerate(working):
        # Where none of the faster ones is drawn, all draws are among the others.
        drawn = min(evaluations / (len(times) - faster), 1)
        expected += unseen * drawn * time
        unseen *= 1 - drawn
    return expected / (1 - unseen) / working[0] - 1


def percent(part):
    return f"{100 * part:.1f} %"


def main():
    repeats, spaces = sys.argv[1], sys.argv[2:]
    headings = " | ".join(f"M = {measured} (random)" for measured in MEASURED)
    print(f"| space | N | N + {MEASURED[-1]} of all | error | {headings} |")
    print(f"|{'---|' * (4 + len(MEASURED))}")
    for space in spaces:
        times = recorded(space)
        for training in (of for of in TRAINING if of + MEASURED[-1] < len(times)):
            name, error, means = simulate(repeats, training, space)
            part = (training + MEASURED[-1]) / len(times)
            by_chance = [random_search(times, training + measured) for measured in MEASURED]
            cells = [f"{percent(mean)} ({percent(chance)})" for mean, chance in zip(means, by_chance)]
            print(f"| {name} | {training} | {100 * part:.0f} % | {percent(error)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
