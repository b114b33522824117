"""Prints results of split calls as a table: factors as in table 3 of the paper on splitting, and times.

    python table.py RESULTS.csv...

The files are what `several-devices --results` adds to. A `~` is a time that follows from those of two parts of the
problem.
"""

import csv
import sys


def results(path):
    """The lines of each result: one for each device, with the same times together."""
    of_one, key = [], None
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            now = (row["problem"], row["best_ms"], row["together_ms"])
            if of_one and now != key:
                yield of_one
                of_one = []
            key = now
            of_one.append(row)
    if of_one:
        yield of_one


def time(text):
    value = float(text)
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def devices(rows):
    gpus = sum("cpu" not in row["device"] and "pthread" not in row["device"] for row in rows)
    names = ["GPU" if gpus == 1 else f"{gpus} GPUs"] * (gpus > 0)
    return ", ".join(names + ["CPU"] * (len(rows) - gpus))


def line(rows):
    def alone(row):
        return "~" * (row["is_scaled"] == "true") + time(row["alone_ms"])

    def factors(column):
        return ", ".join(f"{float(row[column]):.3f}" for row in rows)

    best, together = rows[0]["best_ms"], rows[0]["together_ms"]
    cells = [
        rows[0]["problem"],
        devices(rows),
        ", ".join(map(alone, rows)),
        factors("optimal"),
        factors("adjusted"),
        time(best),
        time(together),
        f"{100 * float(best) / float(together):.0f} %",
    ]
    return f"| {' | '.join(cells)} |"


def main():
    if len(sys.argv) < 2:
        raise SystemExit("usage: table.py RESULTS.csv...")
    print("| problem | devices | alone | optimal | adjusted | best possible | together | |")
    print("|---|---|---|---|---|---|---|---|")
    for path in sys.argv[1:]:
        for rows in results(path):
            print(line(rows))


if __name__ == "__main__":
    main()
