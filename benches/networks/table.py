"""The networks of `ann` on recorded spaces: error and distance to the optimum by N and M, as Markdown tables.

    table.py REPEATS SPACE.csv.gz...

Falch & Elster, figures 4 to 7 (mean relative error by N) and 11 to 13 (slow-down of the best found by N and M). The
error is that of single networks on the part of the results that each does not see. N is left out where the recording
has no more than N + M configurations.
"""
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
    """The number of configurations in a CSV file, one on each line after the names."""
    opened = gzip.open if space.endswith(".gz") else open
    with opened(space, "rt", encoding="utf-8") as lines:
        return sum(1 for _ in lines) - 1


def main():
    repeats, spaces = sys.argv[1], sys.argv[2:]
    print(f"| space | N | error | {' | '.join(f'M = {measured}' for measured in MEASURED)} |")
    print(f"|{'---|' * (3 + len(MEASURED))}")
    for space in spaces:
        count = recorded(space)
        for training in (of for of in TRAINING if of + MEASURED[-1] < count):
            name, error, means = simulate(repeats, training, space)
            cells = " | ".join(f"{100 * mean:.1f} %" for mean in means)
            print(f"| {name} | {training} | {100 * error:.1f} % | {cells} |", flush=True)


if __name__ == "__main__":
    main()
