"""Compares the speed of cltune-kernels' matrix multiplication with a peer's, in turns in one run.

    python compare.py GEMM_PROGRAM PEERS SIZES [ROUNDS] [CSV]

PEERS is a comma-separated list of: openblas (numpy's, all cores), torch (cuBLAS through PyTorch, in single
precision), clblast (libclblast on the same device, through pyopencl; with CLBLAST_XGEMM="MWG=64 KWG=32 ...", the
line of best parameters that its clblast_tuner_xgemm prints, with those). SIZES is a comma-separated list of N or
MxNxK. Everything is in single precision, row after row, alpha 1 and beta 0, and
each time is that of a call until the device has done; the best peer of each size is what ratios are of.
With CSV, lines for benches/roofline/plot.py are written there, where PEAK_GFLOPS and PEAK_GBS are set.
"""

import os
import statistics
import subprocess
import sys
import time

program, peers, sizes = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7


class Ours:
    """The program's `serve`, which answers a line of seconds for each line."""

    def __init__(self):
        self.process = subprocess.Popen(
            [program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.device = self.process.stdout.readline().strip()

    def seconds(self, kind, size, layouts, route, repeats):
        m, n, k = size
        print(kind, m, n, k, layouts, route, repeats, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if answer.startswith("error") or not answer:
            return None
        return [float(word) for word in answer.split()]


class OpenBlas:
    def __init__(self):
        import numpy

        self.numpy = numpy

    def prepare(self, size):
        m, n, k = size
        random = self.numpy.random.default_rng(1)
        self.a = random.random((m, k), dtype="float32") - 0.5
        self.b = random.random((k, n), dtype="float32") - 0.5
        self.c = self.numpy.empty((m, n), "float32")

    def run(self):
        self.numpy.matmul(self.a, self.b, out=self.c)


class Torch:
    def __init__(self):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        self.torch = torch

    def prepare(self, size):
        m, n, k = size
        self.a = self.torch.rand(m, k, device="cuda") - 0.5
        self.b = self.torch.rand(k, n, device="cuda") - 0.5
        self.c = self.torch.empty(m, n, device="cuda")
        self.torch.cuda.synchronize()

    def run(self):
        self.torch.matmul(self.a, self.b, out=self.c)
        self.torch.cuda.synchronize()


class ClBlast:
    def __init__(self):
        import ctypes

        import pyopencl

        self.cl, self.ctypes = pyopencl, ctypes
        # `0: NAME (PLATFORM)`: the same device as ours.
        device = next(
            device
            for platform in pyopencl.get_platforms()
            for device in platform.get_devices()
            if f": {device.name.strip()} ({platform.name})" in ours.device
        )
        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context)
        self.library = ctypes.CDLL("libclblast.so.1")
        tuned = dict(word.split("=") for word in os.environ.get("CLBLAST_XGEMM", "").split())
        # The tuner names it, the library does not know it as a parameter.
        tuned.pop("PRECISION", None)
        if tuned:
            names = (ctypes.c_char_p * len(tuned))(*(name.encode() for name in tuned))
            values = (ctypes.c_size_t * len(tuned))(*map(int, tuned.values()))
            self.succeeds(
                self.library.CLBlastOverrideParameters(
                    ctypes.c_void_p(device.int_ptr), b"Xgemm", 32, ctypes.c_size_t(len(tuned)), names, values
                )
            )

    @staticmethod
    def succeeds(status):
        if status != 0:
            sys.exit(f"CLBlast failed with {status}")

    def prepare(self, size):
        import numpy

        m, n, k = self.size = size
        random = numpy.random.default_rng(1)
        flags = self.cl.mem_flags
        matrix = lambda r, c: self.cl.Buffer(
            self.context,
            flags.READ_WRITE | flags.COPY_HOST_PTR,
            hostbuf=random.random((r, c), dtype="float32"),
        )
        self.a, self.b, self.c = matrix(m, k), matrix(k, n), matrix(m, n)

    def run(self):
        c, (m, n, k) = self.ctypes, self.size
        word = c.c_size_t
        queue = c.c_void_p(self.queue.int_ptr)
        pointer = lambda buffer: c.c_void_p(buffer.int_ptr)
        self.succeeds(
            self.library.CLBlastSgemm(
                101, 111, 111, word(m), word(n), word(k), c.c_float(1), pointer(self.a), word(0), word(k),
                pointer(self.b), word(0), word(n), c.c_float(0), pointer(self.c), word(0), word(n),
                c.byref(queue), None,
            )
        )
        self.queue.finish()


KINDS = {"openblas": OpenBlas, "torch": Torch, "clblast": ClBlast}
ours = Ours()
others = {name: KINDS[name]() for name in peers}
# auto may use tensor cores in single precision, plain may not; nn: A and B row after row, tn: A column
# after column, nt: B.
ways = {"plain": ("f32", "nn", "plain"), "A by columns": ("f32", "tn", "plain")}
if "torch" in peers:
    ways["auto"] = ("f32", "nn", "auto")
    ways["auto, B by columns"] = ("f32", "nt", "auto")
if os.environ.get("TF32"):
    ways["TF32"] = ("tf32", "nn", "auto")


def peer_seconds(peer, repeats):
    # Ours runs once before each measurement, too: a GPU that was idle has to speed up first.
    peer.run()
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        peer.run()
        taken.append(time.perf_counter() - begin)
    return taken


print(f"{ours.device}, single precision, GFLOPS: medians of {rounds} rounds in turns (least to most)\n")
names = list(others) + list(ways)
heads = ["m x n x k"] + names + [f"{way} / peer" for way in ways]
print("| " + " | ".join(heads) + " |")
print("|---" * len(heads) + "|")
points = []
for text in sizes:
    sides = [int(side) for side in text.split("x")]
    size = sides * 3 if len(sides) == 1 else sides
    work = 2 * size[0] * size[1] * size[2]
    repeats = max(1, min(20, int(2e11 // work)))
    seconds = {name: [] for name in names}
    for peer in others.values():
        peer.prepare(size)
        peer_seconds(peer, 1)
    for _ in range(rounds):
        for name, peer in others.items():
            seconds[name] += peer_seconds(peer, repeats)
        for name, (kind, layouts, route) in ways.items():
            taken = ours.seconds(kind, size, layouts, route, repeats)
            if taken:
                seconds[name] += taken
    rate = {name: work / statistics.median(taken) / 1e9 for name, taken in seconds.items() if taken}
    spread = {name: "-" for name in names}
    for name in rate:
        slowest, fastest = work / max(seconds[name]) / 1e9, work / min(seconds[name]) / 1e9
        spread[name] = f"{rate[name]:.0f} ({slowest:.0f} to {fastest:.0f})"
    best = max((rate[name] for name in others), default=None)
    ratios = [f"{rate[name] / best:.2f}" if best and name in rate else "-" for name in ways]
    print("| " + " | ".join([text] + [spread[name] for name in names] + ratios) + " |", flush=True)
    bytes_moved = 4 * (size[0] * size[2] + size[2] * size[1] + size[0] * size[1])
    points += [(name, text, rate[name], work / bytes_moved) for name in rate]

if len(sys.argv) > 5:
    with open(sys.argv[5], "w") as file:
        print("kernel,size,gflops,intensity,peak_gflops,peak_gbs", file=file)
        for name, text, gflops, intensity in points:
            peak = f"{os.environ['PEAK_GFLOPS']},{os.environ['PEAK_GBS']}"
            print(f"{name},{text},{gflops:.1f},{intensity:.1f},{peak}", file=file)
