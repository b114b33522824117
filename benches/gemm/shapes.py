"""How far the route that is chosen is from the best, and from cuBLAS, for random shapes; in turns in one run.

    python shapes.py GEMM_PROGRAM COUNT [ROUNDS [CSV]]

COUNT shapes, m, n and k each from 256 to 8192 with evenly spread logarithms, the same ones each time, of the type TYPE
(f32, f64, f16 or bf16; f32 where it is not set), row after row. With PEER=torch cuBLAS is timed, too, and with
MEASURED=1 what is taken after `Gemm::measure`. Each time is that of a call until the device has done. A route that
takes more than twice as long as another in a first call is left out. Who is first changes from round to round. A line
for each shape where the chosen route, or what is taken after `Gemm::measure`, is more than 5 % off the best route, then
how all are. With CSV, all medians are written there, and the choice.
"""

import math
import os
import random
import statistics
import subprocess
import sys
import time

program, count = sys.argv[1], int(sys.argv[2])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
csv = open(sys.argv[4], "w") if len(sys.argv) > 4 else None
kind = os.environ.get("TYPE", "f32")
CALLS = 5
ROUTES = ["direct", "pipelined", "tensor", "warpgroup", "panels", "pipelinedparts", "tensorparts"]

ours = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
device = ours.stdout.readline().strip()


def seconds(size, route, calls=CALLS):
    """Of some calls; None where the device has no such route."""
    print(kind, *size, "nn", route, calls, file=ours.stdin, flush=True)
    answer = ours.stdout.readline().strip()
    return None if answer.startswith("error") else [float(word) for word in answer.split()]


def choice(size):
    """The route that is taken where none is named."""
    print(kind, *size, "nn", "choice", 0, file=ours.stdin, flush=True)
    answer = ours.stdout.readline().strip()
    if answer not in there:
        sys.exit(f"shapes.py: {kind} {size}: the route that is chosen is none of {', '.join(there)}: {answer}")
    return answer


def cublas():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    dtype = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}[kind]

    def times(size):
        m, n, k = size
        a = (torch.rand(m, k, device="cuda") - 0.5).to(dtype)
        b = (torch.rand(k, n, device="cuda") - 0.5).to(dtype)
        c = torch.empty(m, n, device="cuda", dtype=dtype)
        taken = []
        for _ in range(CALLS + 1):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            torch.matmul(a, b, out=c)
            torch.cuda.synchronize()
            taken.append(time.perf_counter() - begin)
        return taken[1:]

    return times


peer = cublas() if os.environ.get("PEER") == "torch" else None
numbers = random.Random(int(os.environ.get("SEED", "20")))
measured = ["measured"] * (os.environ.get("MEASURED") == "1")
there = [route for route in ROUTES if seconds((256, 256, 256), route)]
print(f"{device}, {kind}, {count} shapes, medians of {rounds} rounds of {CALLS} calls; routes: {', '.join(there)}\n")
print("| m x n x k | chosen | us | best | us |\n|---|---|---|---|---|")
# Of what is chosen, and of what is measured: how many times the time of the best route, and of the peer, each takes.
behind = {name: [] for name in ["chosen"] + measured}
of_peer = {name: [] for name in behind}
if csv:
    print("type,m,n,k,choice,route,us", file=csv)
for shape in range(count):
    size = tuple(round(256 * math.exp(numbers.random() * math.log(32))) for _ in range(3))
    chosen = choice(size)
    # What is far behind need not be timed for long: on the H200 that was most of a run's time.
    once = {route: seconds(size, route, 1)[0] for route in there}
    near = [route for route in there if route == chosen or once[route] < 2 * min(once.values())]
    timed = near + measured
    taken = {name: [] for name in timed + ["peer"] * bool(peer)}
    for number in range(rounds):
        first = (shape + number) % len(timed)
        for route in timed[first:] + timed[:first]:
            taken[route] += seconds(size, route)
        if peer:
            taken["peer"] += peer(size)
    median = {name: statistics.median(times) for name, times in taken.items() if times}
    if csv:
        for route, time_s in median.items():
            print(kind, *size, chosen, route, f"{time_s * 1e6:.2f}", sep=",", file=csv, flush=True)
    best = min(near, key=lambda route: median[route])
    for name in behind:
        way = chosen if name == "chosen" else name
        behind[name].append(median[way] / median[best])
        if peer:
            of_peer[name].append(median["peer"] / median[way])
        if behind[name][-1] > 1.05:
            print(
                f"| {' x '.join(map(str, size))} | {way} | {median[way] * 1e6:.0f} | {best} | {median[best] * 1e6:.0f} |",
                flush=True,
            )

print()
for name, ratios in behind.items():
    late = sum(ratio > 1.05 for ratio in ratios)
    print(f"{name}: more than 5 % behind the best route: {late} of {count}; at most {max(ratios):.2f} times its time")
    if peer:
        rates = of_peer[name]
        print(
            f"{name}: its rate / cuBLAS: {statistics.mean(rates):.2f} on average, median {statistics.median(rates):.2f}, "
            f"from {min(rates):.2f} to {max(rates):.2f}"
        )
