"""Sessions of `cargo cltune tune` for the papers' figures, and what they measured.

CLTUNE is the program cargo-cltune. A configuration is a tuple of texts, as CSV files have its values; a time that is
infinite is that of one that failed.
"""

import argparse
import csv
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import tomllib

MEASURED = ("time_ms", "compile_ms", "error")


def options(about, **defaults):
    """The options that all figures have which need a device, with the figure's own defaults."""
    parser = argparse.ArgumentParser(description=about.split("\n", maxsplit=1)[0])
    parser.add_argument("--artifact", required=True, help="a program with the kernels")
    parser.add_argument("--device", default=os.environ.get("CLTUNE_DEVICE", "nvidia"), help="as `tune --device` has it")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", default=value, type=type(value), help=f"without it {value}")
    return parser.parse_args()


def recorded(path):
    """The parameters in a CSV file, and its configurations with their times in milliseconds."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    names = [name for name in rows[0] if name not in MEASURED]
    return names, {tuple(row[name] for name in names): float(row["time_ms"] or "inf") for row in rows}


def session(asked, kernel, problems, *how):
    """What one session finds, which starts from nothing: the parameters; for each problem the times of the
    configurations in microseconds; for each problem the configuration that it chose.
    """
    of = ["--artifact", os.path.abspath(asked.artifact), "--kernel", kernel, "--device", asked.device]
    of += [option for problem in problems for option in ("--problem", problem)]
    how = [*how, "--no-warm-start", "--soundness", "off", "--message-format", "json"]
    tune = [os.path.abspath(os.environ["CLTUNE"]), "cltune", "tune", *of, *how]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(tune, check=True, cwd=folder, stdout=subprocess.PIPE)
        with open(os.path.join(folder, "cltune.lock"), "rb") as file:
            [found] = tomllib.load(file)["kernel"]
    named = {frozenset(problem.split(",")): problem for problem in problems}
    times = {problem: {} for problem in problems}
    for message in map(json.loads, done.stdout.splitlines()):
        if message["reason"] in ("configuration", "revised"):
            time = message["time_us"]
            times[named[sizes(message["problem"])]][texts(message["values"])] = math.inf if time is None else time
    chosen = {named[sizes(entry["problem"])]: texts(entry["values"]) for entry in found["tuned"]}
    return found["params"], times, chosen


def searched(asked, kernel, problems):
    """The parameters of a kernel, and the best of a search for each problem. `--found FILE` keeps them in a file: what
    it has is not searched for again.
    """
    known = {}
    if asked.found and os.path.exists(asked.found):
        with open(asked.found, encoding="utf-8") as file:
            known = json.load(file)
    if missing := [problem for problem in problems if problem not in known.get(kernel, {}).get("best", {})]:
        note(f"{kernel}: searches for {'; '.join(missing)}")
        search = ["--budget", asked.budget, "--seed", str(asked.seed)]
        names, _, chosen = session(asked, kernel, missing, *search)
        known.setdefault(kernel, {"names": names, "best": {}})["best"] |= chosen
        if asked.found:
            with open(asked.found, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=1)
    best = known[kernel]["best"]
    return known[kernel]["names"], {problem: tuple(best[problem]) for problem in problems}


def measure(asked, kernel, problems, constraints):
    """The times in microseconds of all configurations that satisfy these constraints, for each problem, from one
    session.
    """
    how = [option for constraint in constraints for option in ("--constraint", constraint)]
    return session(asked, kernel, problems, "--strategy", "full", *how)[1]


def only(names, configurations):
    """Constraints that leave these configurations. A formula has a limited length, so there is one for each parameter:
    which value it has by the values of those few that tell the configurations apart.
    """
    configurations = set(configurations)
    telling = []

    def told_apart(by):
        return len({tuple(one[at] for at in by) for one in configurations})

    while told_apart(telling) < len(configurations):
        telling.append(max(range(len(names)), key=lambda at: told_apart([*telling, at])))
    for at in range(len(names)):
        used = dict.fromkeys([*telling, at])
        clauses = {" && ".join(f"{names[of]} == {literal(one[of])}" for of in used) for one in configurations}
        yield " || ".join(f"({clause})" for clause in sorted(clauses))


def sizes(problem):
    """What two problems share that are the same, whatever the order of their sizes."""
    return frozenset(f"{name}={size}" for name, size in problem.items())


def texts(values):
    return tuple(str(value).lower() if isinstance(value, bool) else str(value) for value in values)


def literal(value):
    """A value from a CSV file as formulas have it."""
    return value if value in ("true", "false") or value.lstrip("-").isdigit() else f'"{value}"'


def row(cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(cells):
    row(cells)
    print(f"|{'---|' * len(cells)}")


def note(line):
    print(line, file=sys.stderr, flush=True)
