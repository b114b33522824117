"""Compares how long cltune, CLTune and Kernel Tuner take for the same number of random configurations of the
same kernel and space, in turns.

    python compare.py --tool CARGO_CLTUNE --program GEMM_PROGRAM --peer CLTUNE_PEER --kernels FOLDER
                      [--count 60] [--size 256] [--platform portable] [--rounds 3] [--without NAME]...

cltune and CLTune verify each configuration; Kernel Tuner does not. CLTune gets the very configurations
that cltune has measured in the same round; Kernel Tuner draws its own, since it takes no list of them. All
start with empty caches: PoCL's and NVIDIA's are put into folders that are removed before each run.

Where Oclgrind is installed, cltune runs the winner under it in the end, which the others do not: a row of
its own has the time with that.

The contender "cltune's auto, as good" leaves configurations unbuilt that its model expects to be slow. Its
row has the time until it has a right configuration that is as fast as the fastest of all the random ones
of the round, cltune's and Kernel Tuner's, as each has timed them; what its session takes after the last
configuration is added. The session itself goes on to the same number of configurations as the others.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CACHES = {"POCL_CACHE_DIR": "pocl", "CUDA_CACHE_PATH": "nvidia", "XDG_CACHE_HOME": "cache"}
LISTED = "configurations.txt"
# As the kernel declares them, which is the order of values in cltune's messages.
PARAMETERS = "MWG NWG KWG MDIMC NDIMC MDIMA NDIMB KWI VWM VWN STRM STRN SA SB".split()
AS_GOOD = "cltune's auto, as good"


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("--tool", "--program", "--peer", "--kernels"):
        parser.add_argument(name, type=lambda path: Path(path).absolute(), required=True)
    parser.add_argument("--count", default="60")
    parser.add_argument("--size", default="256")
    parser.add_argument("--platform", default="portable")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", action="append", default=[], help="a contender to leave out")
    return parser.parse_args()


def contenders(args, listed):
    """The command of each; the first one says which configurations it has measured."""
    size, classic = args.size, args.kernels / "classic.cl"
    cltune = [args.tool, "cltune", "tune", "--artifact", args.program, "--kernel", "gemm_classic"]
    cltune += ["--device", args.platform, "--problem", f"m={size},n={size},k={size}"]
    cltune += ["--budget", args.count, "--fresh", "--no-warm-start"]
    cltune += ["--message-format", "json", "--strategy"]
    random = [*cltune, "random"]
    kernel_tuner = Path(__file__).with_name("kernel_tuner_peer.py")
    reference = args.kernels / "classic_reference.cl"
    return {
        "cltune": random,
        "cltune, one process": [*random, "--jobs", "1"],
        "CLTune 2.7": [args.peer, classic, reference, size, listed, args.platform],
        "Kernel Tuner 1.5, unverified": [
            *(sys.executable, kernel_tuner, classic, size, args.count, args.platform)
        ],
        # Last: it needs the results of the others. Another seed in each round, as the others draw anew.
        AS_GOOD: [*cltune, "auto"],
    }


def run(name, command):
    """The seconds that a command takes with empty caches, and the objects that it prints, each with the
    seconds after which it came."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        environment = os.environ | {"PYOPENCL_NO_CACHE": "1"}
        for variable, cache in CACHES.items():
            environment[variable] = f"{folder}/{cache}"
            os.mkdir(f"{folder}/{cache}")
        begin = time.perf_counter()
        pipes = {"stdout": subprocess.PIPE, "stderr": errors, "text": True}
        with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as process:
            lines = [(time.perf_counter() - begin, line) for line in process.stdout]
        seconds = time.perf_counter() - begin
        errors.seek(0)
        said = "".join(line for _, line in lines)[-2000:] + errors.read()[-2000:]
    if process.returncode != 0:
        sys.exit(f"{name} failed:\n{said}")
    return seconds, [(at, json.loads(line)) for at, line in lines if line.startswith("{")]


def measured(objects):
    """The configurations that a session has measured, each with the seconds after which that was known."""
    return [(at, each) for at, each in objects if each.get("reason") == "configuration"]


def fastest(objects):
    """The least time among those configurations, microseconds."""
    times = [each["time_us"] for _, each in measured(objects) if each.get("time_us")]
    return min(times, default=math.inf)


def until_as_good(objects, seconds, goal_us):
    """The seconds until a session has a configuration that is as fast as `goal_us` and still right in the end,
    and how many were measured by then; infinitely many seconds where there is none.

    What follows the last configuration, the comparison of the best, is counted too."""
    configurations = measured(objects)
    after = seconds - configurations[-1][0]
    revised = [each for _, each in objects if each.get("reason") == "revised"]
    wrong = [each["values"] for each in revised if each["status"] != "ok"]
    for count, (at, each) in enumerate(configurations, start=1):
        if (each.get("time_us") or math.inf) <= goal_us and each["values"] not in wrong:
            return at + after, count
    return math.inf, len(configurations)


def keep_configurations(objects, listed):
    """Writes what cltune has measured, a configuration on each line."""
    configurations = [each["values"] for _, each in measured(objects)]
    pairs = [zip(PARAMETERS, values, strict=True) for values in configurations]
    lines = [" ".join(f"{name}={value}" for name, value in each) for each in pairs]
    listed.write_text("".join(f"{line}\n" for line in lines))


def table(args, taken):
    ours = statistics.median(taken["cltune"])
    title = f"{args.count} random configurations, {args.size}^3"
    print(f"| {title} | median s (least to most) | s each | ratio of medians |")
    print("|---|---|---|---|")
    for name, seconds in taken.items():
        median = statistics.median(seconds)
        spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
        # It has measured fewer by then.
        each = "" if name == AS_GOOD else f"{median / int(args.count):.3f}"
        print(f"| {name} | {median:.2f} ({spread}) | {each} | {median / ours:.2f} |")


def note(name, last, seconds):
    """Says what a run has taken and found."""
    best = last.get("time_us") or last.get("best_us") or math.nan
    evaluated = last.get("evaluated") or last.get("configurations")
    parts = [f"{key[:-2]} {last[key]:.2f} s" for key in last if key.endswith("ing_s")]
    said = f"{name}: {seconds:.2f} s for {evaluated}, best {best:.0f} us"
    print(", ".join([said, *parts]), file=sys.stderr)


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / LISTED
        commands = contenders(args, listed)
        for name in args.without:
            del commands[name]
        taken = {}
        for number in range(args.rounds):
            goal_us = math.inf
            for name, command in commands.items():
                is_cltune = command[0] == args.tool
                seed = ["--seed", str(number)] if is_cltune else []
                seconds, objects = run(name, command + seed)
                last = objects[-1][1]
                note(name, last, seconds)
                if name == "cltune":
                    keep_configurations(objects, listed)
                simulating = last.get("simulating_s") or 0
                if name == AS_GOOD:
                    as_good, count = until_as_good(objects, seconds - simulating, goal_us)
                    print(f"as fast as {goal_us:.0f} us after {count}: {as_good:.2f} s", file=sys.stderr)
                    taken.setdefault(name, []).append(as_good)
                    continue
                taken.setdefault(name, []).append(seconds - simulating)
                if simulating:
                    taken.setdefault(f"{name}, with Oclgrind", []).append(seconds)
                # CLTune's best is never the goal: it measures cltune's configurations, and its times contain
                # what the driver compiles.
                goal_us = min(goal_us, fastest(objects), last.get("best_us") or math.inf)
    table(args, taken)


if __name__ == "__main__":
    main()
