"""Runs strategies of Kernel Tuner on a recorded space, in its simulation mode with default options.

    peer.py SPACE.csv.gz REPEATS BUDGET STRATEGY...

Prints, for each strategy, one JSON object: the name and, for each run, the times (null: failed) of
the distinct configurations in the order in which they were evaluated. A strategy that this version
does not have, or that fails, has "error" instead of runs.
"""
import contextlib
import csv
import gzip
import itertools
import json
import os
import random
import sys
import tempfile
import warnings

import numpy
from constraint import FunctionConstraint
from kernel_tuner import tune_kernel
from kernel_tuner.runners.simulation import SimulationRunner

NOT_PARAMETERS = {"time_ms", "compile_ms", "error"}


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value


def read(path):
    """The parameters with their values, and each configuration with its time, None where it failed."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in NOT_PARAMETERS]
    times = {}
    for row in rows:
        time = float(row["time_ms"] or "nan")
        configuration = tuple(number(row[name]) for name in names)
        times[configuration] = time if 0 < time < float("inf") else None
    values = {name: sorted({key[at] for key in times}) for at, name in enumerate(names)}
    return values, times


def as_cache(values, times):
    """The recording in Kernel Tuner's own format."""
    entries = {}
    for configuration, time in times.items():
        entry = dict(zip(values, configuration))
        entry["time"] = "RuntimeFailedConfig" if time is None else time
        for part in ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"]:
            entry[part] = 0
        entries[",".join(map(str, configuration))] = entry
    return {
        "device_name": "recorded",
        "kernel_name": "k",
        "problem_size": 1,
        "tune_params_keys": list(values),
        "tune_params": values,
        "objective": "time",
        "cache": entries,
    }


class Recorder:
    """Notes what the simulation evaluates: its results are no list in order of evaluation."""

    def __init__(self, times):
        self.times = times
        self.seen = {}
        original = SimulationRunner.run

        def run(runner, space, options):
            space = list(space)
            results = original(runner, space, options)
            for configuration, result in zip(space, results):
                # None: the budget was used up. Not among the recorded: invalid, and not counted.
                if result is not None and tuple(configuration) in times:
                    self.seen.setdefault(tuple(configuration))
            return results

        SimulationRunner.run = run

    def take(self, budget):
        evaluated = [self.times[configuration] for configuration in itertools.islice(self.seen, budget)]
        self.seen = {}
        return evaluated


def tune(strategy, seed, budget, values, times, file):
    random.seed(seed)
    numpy.random.seed(seed)
    tune_kernel(
        "k",
        "__kernel void k() {}",
        1,
        [],
        values,
        lang="OpenCL",
        # The valid configurations are those recorded; no restriction has to be guessed.
        restrictions=FunctionConstraint(lambda *configuration: configuration in times),
        strategy=strategy,
        strategy_options={"max_fevals": budget},
        cache=file,
        simulation_mode=True,
        quiet=True,
        seed=seed,
    )


def main():
    path, repeats, budget = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    values, times = read(path)
    recorder = Recorder(times)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "recorded.json")
        with open(file, "w") as opened:
            json.dump(as_cache(values, times), opened)
        for strategy in sys.argv[4:]:
            result = {"strategy": strategy}
            try:
                runs = []
                for seed in range(repeats):
                    # Strategies print as they like; standard output is for results.
                    with contextlib.redirect_stdout(sys.stderr):
                        tune(strategy, seed, budget, values, times, file)
                    runs.append(recorder.take(budget))
                result["runs"] = runs
            except Exception as error:
                recorder.take(budget)
                result["error"] = f"{type(error).__name__}: {error}"
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
