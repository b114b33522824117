"""Compares the speed of cltune-kernels' matrix multiplication with a peer's, in turns in one run.

    python compare.py GEMM_PROGRAM PEERS SIZES [ROUNDS] [CSV]

PEERS is a comma-separated list of: openblas (numpy's, all cores), torch (cuBLAS through PyTorch), clblast
(libclblast on the same device, through pyopencl, in f32 and f64 only; with CLBLAST_XGEMM="MWG=64 KWG=32 ...",
the line of best parameters that its clblast_tuner_xgemm prints, with those). SIZES is a comma-separated list of N or
MxNxK and, for batches, MxNxK*COUNT: COUNT products in one call, whose matrices follow each other in memory. Peers
multiply batches by torch.bmm, which is cuBLAS's strided and batched multiplication, and by numpy's matmul of stacks,
which calls OpenBLAS for each product in turn; CLBlast sits batches out. The way `batched` is the kernel for batches,
in one launch. Everything is of the type TYPE (f32, f64, f16, bf16 or tf32; f32 where it is not set; f16, bf16 and
tf32 with torch), row after row, alpha 1 and beta 0, and each time is that of a call until the device has done, after
20 ms of calls that are not counted; the best peer of each size is what ratios are of.
With LAYER=1 the peer, torch, computes GELU(A B + bias) by its addmm and gelu, and the way `layer` the same in one
launch; with LAYER=bias both compute A B + bias, the way `biased`; auto stays C = A B.
With CSV, lines for benches/roofline/plot.py are written there, where PEAK_GFLOPS and PEAK_GBS are set.
"""

import os
import statistics
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import openblas

program, peers, sizes = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7
kind = os.environ.get("TYPE", "f32")
is_layer = "LAYER" in os.environ
# Seconds of calls before those that are measured, as in kernels/examples/gemm/speed.rs.
UNCOUNTED = 0.02


class Ours:
    """The program's `serve`, which answers a line of seconds for each line."""

    def __init__(self):
        self.process = subprocess.Popen(
            [program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.device = self.process.stdout.readline().strip()

    def seconds(self, kind, size, count, layouts, route, repeats):
        m, n, k = size
        words = [kind, m, n, k, layouts, route, repeats] + ([count] if count else [])
        print(*words, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if answer.startswith("error") or not answer:
            return None
        return [float(word) for word in answer.split()]


class OpenBlas:
    def __init__(self):
        import numpy

        self.numpy = numpy

    def prepare(self, size, count):
        m, n, k = size
        random = self.numpy.random.default_rng(1)
        dtype = {"f32": "float32", "f64": "float64"}[kind]
        stack = (count,) if count else ()
        self.a = random.random(stack + (m, k), dtype=dtype) - 0.5
        self.b = random.random(stack + (k, n), dtype=dtype) - 0.5
        self.c = self.numpy.empty(stack + (m, n), dtype)

    def run(self):
        self.numpy.matmul(self.a, self.b, out=self.c)


class Torch:
    def __init__(self):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        self.torch = torch
        self.dtype = {
            "f32": torch.float32, "tf32": torch.float32, "f64": torch.float64, "f16": torch.float16,
            "bf16": torch.bfloat16,
        }[kind]

    def prepare(self, size, count):
        m, n, k = size
        stack = (count,) if count else ()
        random = lambda *size: (self.torch.rand(*stack, *size, device="cuda") - 0.5).to(self.dtype)
        self.a, self.b = random(m, k), random(k, n)
        self.c = self.torch.empty(*stack, m, n, device="cuda", dtype=self.dtype)
        self.multiply = self.torch.bmm if count else self.torch.matmul
        if is_layer:
            bias = random(n)
            is_biased = os.environ["LAYER"] == "bias"
            gelu = (lambda x: x) if is_biased else self.torch.nn.functional.gelu
            self.multiply = lambda a, b, out: gelu(self.torch.addmm(bias, a, b, out=out))
        self.torch.cuda.synchronize()

    def run(self):
        self.multiply(self.a, self.b, out=self.c)
        self.torch.cuda.synchronize()


class ClBlast:
    def __init__(self):
        import ctypes

        import pyopencl

        self.cl, self.ctypes = pyopencl, ctypes
        types = {
            "f32": ("float32", ctypes.c_float, 32, "CLBlastSgemm"),
            "f64": ("float64", ctypes.c_double, 64, "CLBlastDgemm"),
        }
        if kind not in types:
            sys.exit(f"clblast is measured in f32 and f64, not in {kind}: leave it out of PEERS")
        self.dtype, self.number, bits, gemm = types[kind]
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
        self.gemm = getattr(self.library, gemm)
        tuned = dict(word.split("=") for word in os.environ.get("CLBLAST_XGEMM", "").split())
        # The tuner names it, the library does not know it as a parameter.
        tuned.pop("PRECISION", None)
        if tuned:
            names = (ctypes.c_char_p * len(tuned))(*(name.encode() for name in tuned))
            values = (ctypes.c_size_t * len(tuned))(*map(int, tuned.values()))
            self.succeeds(
                self.library.CLBlastOverrideParameters(
                    ctypes.c_void_p(device.int_ptr), b"Xgemm", bits, ctypes.c_size_t(len(tuned)), names, values
                )
            )

    @staticmethod
    def succeeds(status):
        if status != 0:
            sys.exit(f"CLBlast failed with {status}")

    def prepare(self, size, count):
        import numpy

        m, n, k = self.size = size
        random = numpy.random.default_rng(1)
        flags = self.cl.mem_flags
        matrix = lambda r, c: self.cl.Buffer(
            self.context,
            flags.READ_WRITE | flags.COPY_HOST_PTR,
            hostbuf=random.random((r, c), dtype=self.dtype),
        )
        self.a, self.b, self.c = matrix(m, k), matrix(k, n), matrix(m, n)

    def run(self):
        c, (m, n, k) = self.ctypes, self.size
        word = c.c_size_t
        queue = c.c_void_p(self.queue.int_ptr)
        pointer = lambda buffer: c.c_void_p(buffer.int_ptr)
        self.succeeds(
            self.gemm(
                101, 111, 111, word(m), word(n), word(k), self.number(1), pointer(self.a), word(0), word(k),
                pointer(self.b), word(0), word(n), self.number(0), pointer(self.c), word(0), word(n),
                c.byref(queue), None,
            )
        )
        self.queue.finish()


KINDS = {"openblas": OpenBlas, "torch": Torch, "clblast": ClBlast}
ours = Ours()
others = {name: KINDS[name]() for name in peers}
# auto may use tensor cores, plain may not; nn: A and B row after row, tn: A column after column, nt: B.
ways = {"auto": (kind, "nn", "auto")}
if is_layer:
    route = "biased" if os.environ["LAYER"] == "bias" else "layer"
    ways[route] = (kind, "nn", route)
elif "torch" in peers:
    ways["auto, B by columns"] = (kind, "nt", "auto")
if kind in ("f32", "f64") and not is_layer:
    ways["plain"] = (kind, "nn", "plain")
    ways["A by columns"] = (kind, "tn", "plain")
if any("*" in text for text in sizes):
    # In one launch, which auto may do, too.
    ways["batched"] = (kind, "nn", "batched")


def peer_seconds(peer, repeats):
    # Ours runs as long before each measurement.
    begin = time.perf_counter()
    while time.perf_counter() - begin < UNCOUNTED:
        peer.run()
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        peer.run()
        taken.append(time.perf_counter() - begin)
    return taken


print(f"{ours.device}, {kind}, GFLOPS: medians of {rounds} rounds in turns (least to most)\n")
names = list(others) + list(ways)
heads = ["m x n x k"] + names + [f"{way} / peer" for way in ways]
print("| " + " | ".join(heads) + " |")
print("|---" * len(heads) + "|")
points = []
for text in sizes:
    of_one, _, count = text.partition("*")
    sides = [int(side) for side in of_one.split("x")]
    size, count = sides * 3 if len(sides) == 1 else sides, int(count or 0)
    work = 2 * size[0] * size[1] * size[2] * max(1, count)
    repeats = max(1, min(20, int(2e11 // work)))
    seconds = {name: [] for name in names}
    peers_of_size = {name: peer for name, peer in others.items() if not (count and name == "clblast")}
    for peer in peers_of_size.values():
        peer.prepare(size, count)
        peer_seconds(peer, 1)
    for _ in range(rounds):
        for name, peer in peers_of_size.items():
            openblas.wait_until_asleep()
            seconds[name] += peer_seconds(peer, repeats)
        openblas.wait_until_asleep()
        for name, (of_kind, layouts, route) in ways.items():
            taken = ours.seconds(of_kind, size, count, layouts, route, repeats)
            if taken:
                seconds[name] += taken
    rate = {name: work / statistics.median(taken) / 1e9 for name, taken in seconds.items() if taken}
    spread = {name: "-" for name in names}
    for name in rate:
        slowest, fastest = work / max(seconds[name]) / 1e9, work / min(seconds[name]) / 1e9
        spread[name] = f"{rate[name]:.0f} ({slowest:.0f} to {fastest:.0f})"
    best = max((rate[name] for name in others if name in rate), default=None)
    ratios = [f"{rate[name] / best:.2f}" if best and name in rate else "-" for name in ways]
    print("| " + " | ".join([text] + [spread[name] for name in names] + ratios) + " |", flush=True)
    element = {"f16": 2, "bf16": 2, "f64": 8}.get(kind, 4)
    bytes_moved = element * max(1, count) * (size[0] * size[2] + size[2] * size[1] + size[0] * size[1])
    points += [(name, text, rate[name], work / bytes_moved) for name in rate]

if len(sys.argv) > 5:
    with open(sys.argv[5], "w") as file:
        print("kernel,size,gflops,intensity,peak_gflops,peak_gbs", file=file)
        for name, text, gflops, intensity in points:
            peak = f"{os.environ['PEAK_GFLOPS']},{os.environ['PEAK_GBS']}"
            print(f"{name},{text},{gflops:.1f},{intensity:.1f},{peak}", file=file)
