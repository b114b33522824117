"""Compares how long cltune and Kernel Tuner take for the same number of random configurations of the
same kernel and space, in turns.

    python compare.py CARGO_CLTUNE GEMM_PROGRAM KERNEL.cl SIZE COUNT PLATFORM ROUNDS

cltune verifies each configuration; Kernel Tuner does not. Both start with empty caches: PoCL's and
NVIDIA's are put into folders that are removed before each run.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

tool, program, kernel = (str(Path(argument).absolute()) for argument in sys.argv[1:4])
size, count, platform, rounds = sys.argv[4], sys.argv[5], sys.argv[6], int(sys.argv[7])
peer = str(Path(__file__).with_name("peer.py"))


def cltune(*options):
    command = [tool, "cltune", "tune", "--artifact", program, "--kernel", "gemm_classic"]
    command += ["--device", platform, "--problem", f"m={size},n={size},k={size}", "--strategy", "random"]
    command += ["--budget", count, "--fresh", "--no-warm-start", "--message-format", "json"]
    return command + list(options)


contenders = {
    "cltune": cltune(),
    "cltune, one process": cltune("--jobs", "1"),
    "Kernel Tuner 1.5, unverified": [sys.executable, peer, kernel, size, count, platform],
}
seconds = {name: [] for name in contenders}
for _ in range(rounds):
    for name, command in contenders.items():
        with tempfile.TemporaryDirectory() as folder:
            caches = {
                "POCL_CACHE_DIR": f"{folder}/pocl",
                "CUDA_CACHE_PATH": f"{folder}/nvidia",
                "XDG_CACHE_HOME": f"{folder}/cache",
                "PYOPENCL_NO_CACHE": "1",
            }
            for cache in ("pocl", "nvidia", "cache"):
                os.mkdir(f"{folder}/{cache}")
            begin = time.perf_counter()
            run = subprocess.run(
                command, cwd=folder, env=os.environ | caches, capture_output=True, text=True
            )
            took = time.perf_counter() - begin
        if run.returncode != 0:
            sys.exit(f"{name} failed:\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}")
        seconds[name].append(took)
        lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
        last = json.loads(lines[-1])
        best = last.get("time_us") or last.get("best_us")
        evaluated = last.get("evaluated") or last.get("configurations")
        print(f"{name}: {took:.2f} s for {evaluated}, best {best:.0f} us", file=sys.stderr)

ours = statistics.median(seconds["cltune"])
print(f"| {count} random configurations, {size}^3 | median s (least to most) | s each | over cltune |")
print("|---|---|---|---|")
for name, taken in seconds.items():
    median = statistics.median(taken)
    spread = f"{min(taken):.2f} to {max(taken):.2f}"
    print(f"| {name} | {median:.2f} ({spread}) | {median / int(count):.3f} | {median / ours:.2f} |")
