"""Compares how long cltune, CLTune and Kernel Tuner take for the same number of random configurations of the
same kernel and space, in turns.

    python compare.py --tool CARGO_CLTUNE --program GEMM_PROGRAM --peer CLTUNE_PEER --kernels FOLDER
                      [--count 60] [--size 256] [--platform portable] [--rounds 3] [--without NAME]...

cltune and CLTune verify each configuration; Kernel Tuner does not. CLTune gets the very configurations
that cltune has measured in the same round; Kernel Tuner draws its own, since it takes no list of them. All
start with empty caches: PoCL's and NVIDIA's are put into folders that are removed before each run.
"""

import argparse
import json
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
    cltune += ["--strategy", "random", "--budget", args.count, "--fresh", "--no-warm-start"]
    cltune += ["--message-format", "json"]
    kernel_tuner = Path(__file__).with_name("kernel_tuner_peer.py")
    reference = args.kernels / "classic_reference.cl"
    return {
        "cltune": cltune,
        "cltune, one process": [*cltune, "--jobs", "1"],
        "CLTune 2.7": [args.peer, classic, reference, size, listed, args.platform],
        "Kernel Tuner 1.5, unverified": [
            *(sys.executable, kernel_tuner, classic, size, args.count, args.platform)
        ],
    }


def run(name, command):
    """The seconds that a command takes with empty caches, and the objects that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYOPENCL_NO_CACHE": "1"}
        for variable, cache in CACHES.items():
            environment[variable] = f"{folder}/{cache}"
            os.mkdir(f"{folder}/{cache}")
        begin = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{name} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return seconds, [json.loads(line) for line in lines]


def keep_configurations(objects, listed):
    """Writes what cltune has measured, a configuration on each line."""
    configurations = [each["values"] for each in objects if each.get("reason") == "configuration"]
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
        each = median / int(args.count)
        print(f"| {name} | {median:.2f} ({spread}) | {each:.3f} | {median / ours:.2f} |")


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / LISTED
        commands = contenders(args, listed)
        for name in args.without:
            del commands[name]
        taken = {name: [] for name in commands}
        for _ in range(args.rounds):
            for name, command in commands.items():
                seconds, objects = run(name, command)
                taken[name].append(seconds)
                if name == "cltune":
                    keep_configurations(objects, listed)
                last = objects[-1]
                best = last.get("time_us") or last.get("best_us")
                evaluated = last.get("evaluated") or last.get("configurations")
                parts = [f"{key[:-2]} {last[key]:.2f} s" for key in last if key.endswith("ing_s")]
                said = f"{name}: {seconds:.2f} s for {evaluated}, best {best:.0f} us"
                print(", ".join([said, *parts]), file=sys.stderr)
    table(args, taken)


main()
