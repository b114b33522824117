"""Runs strategies of Kernel Tuner on a recorded space, in its simulation mode with default options.

    peer.py SPACE.csv.gz REPEATS BUDGET STRATEGY...

With a number of evaluations as BUDGET: prints, for each strategy, one JSON object: the name and, for each
run, the times (null: failed) of the distinct configurations in the order in which they were evaluated. A
strategy that this version does not have, or that fails, has "error" instead of runs.

With seconds, such as 61.5s: prints each run as `cargo cltune simulate --trace` does, for its `--runs`.
An evaluation takes the recorded time to compile and seven times that of a launch, and the strategy's
own time, that is, all time between two evaluations, counts as well. A run ends where the optimum is found.
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
import time
import warnings

import numpy
from constraint import FunctionConstraint
from kernel_tuner import tune_kernel
from kernel_tuner.runners.simulation import SimulationRunner
from kernel_tuner.util import StopCriterionReached

NOT_PARAMETERS = {"time_ms", "compile_ms", "error"}
# As many as Kernel Tuner makes of each configuration unless told otherwise.
LAUNCHES = 7


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value


def read(path):
    """The parameters with their values; of each configuration the time, None where it failed; and the time to compile."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in NOT_PARAMETERS]
    times, compiling = {}, {}
    for row in rows:
        time = float(row["time_ms"] or "nan")
        configuration = tuple(number(row[name]) for name in names)
        times[configuration] = time if 0 < time < float("inf") else None
        compiling[configuration] = float(row.get("compile_ms") or 0)
    values = {name: sorted({key[at] for key in times}) for at, name in enumerate(names)}
    return values, times, compiling


def as_cache(values, times, compiling):
    """The recording in Kernel Tuner's own format."""
    entries = {}
    for configuration, time in times.items():
        entry = dict(zip(values, configuration))
        entry["time"] = "RuntimeFailedConfig" if time is None else time
        for part in ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"]:
            entry[part] = 0
        entry["compile_time"] = compiling[configuration]
        entry["benchmark_time"] = LAUNCHES * (time or 0)
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

    def __init__(self, times, ends_at_optimum):
        self.times = times
        # Each configuration with the milliseconds that the strategy took before it.
        self.seen = {}
        self.since, self.strategy_ms = None, 0.0
        best = min(time for time in times.values() if time is not None)
        original = SimulationRunner.run

        def run(runner, space, options):
            # Before the first evaluation the space is built, which is not counted.
            if self.since is not None:
                self.strategy_ms += 1e3 * (time.perf_counter() - self.since)
            if ends_at_optimum and any(times[configuration] == best for configuration in self.seen):
                raise StopCriterionReached("the optimum is found")
            space = list(space)
            results = original(runner, space, options)
            for configuration, result in zip(space, results):
                # None: the budget was used up. Not among the recorded: invalid, and not counted.
                configuration = tuple(configuration)
                if result is not None and configuration in times and configuration not in self.seen:
                    self.seen[configuration] = self.strategy_ms
                    self.strategy_ms = 0.0
            self.since = time.perf_counter()
            return results

        SimulationRunner.run = run

    def take(self):
        seen = self.seen
        self.seen, self.since, self.strategy_ms = {}, None, 0.0
        return seen


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
        strategy_options=budget,
        cache=file,
        simulation_mode=True,
        quiet=True,
        seed=seed,
    )


def traced(space, strategy, seed, names, times, seen):
    """A run as `simulate --runs` reads it."""
    evaluations = [
        {"config": dict(zip(names, configuration)), "time_ms": times[configuration], "strategy_ms": strategy_ms}
        for configuration, strategy_ms in seen.items()
    ]
    return {"space": space, "strategy": f"Kernel Tuner {strategy}", "seed": seed, "evals": evaluations}


def main():
    path, repeats, budget = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    over_time = budget.endswith("s")
    options = {"time_limit": float(budget[:-1])} if over_time else {"max_fevals": int(budget)}
    warnings.simplefilter("ignore")
    values, times, compiling = read(path)
    recorder = Recorder(times, over_time)
    space = os.path.basename(path).removesuffix(".gz").removesuffix(".csv")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "recorded.json")
        with open(file, "w") as opened:
            json.dump(as_cache(values, times, compiling), opened)
        for strategy in sys.argv[4:]:
            result = {"strategy": strategy}
            runs = []
            try:
                for seed in range(repeats):
                    # Strategies print as they like; standard output is for results.
                    with contextlib.redirect_stdout(sys.stderr):
                        tune(strategy, seed, options, values, times, file)
                    runs.append(recorder.take())
            except Exception as error:
                recorder.take()
                result["error"] = f"{type(error).__name__}: {error}"
            if over_time and "error" not in result:
                for seed, seen in enumerate(runs):
                    print(json.dumps(traced(space, strategy, seed, values, times, seen)), flush=True)
                continue
            if "error" not in result:
                result["runs"] = [[times[of] for of in itertools.islice(seen, int(budget))] for seen in runs]
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
