"""Compares the speed of cltune-kernels' operations on vectors with a vendor's library, in turns in one run.

    python compare.py BLAS_PROGRAM PEERS [SIZES [ROUTINES [TYPES [ROUNDS]]]]

PEERS is a comma-separated list of: cublas (through PyTorch's library and its context), openblas (libopenblas.so.0,
all cores), clblast (libclblast.so.1 on the same device, through the OpenCL library). SIZES is a comma-separated list
(1e3,1e4,...,1e8 without), ROUTINES of axpy, scal, copy, swap, rot, dot, nrm2, asum, iamax, gemv, gemv_t, ger,
transpose, launch, TYPES of f32, f64. Matrices are square, row after row, and have at most so many elements.
Results of reductions stay on the device where there is one. Factors are such that no library has less to do: -1 for
scal, 0.6 and 0.8 for rot, 1 for axpy. A time is that of a call among as many as take 20 ms, which
follow each other without waiting, after 200 ms of calls that are not counted; the best peer of each line is what the
ratio is of: above 1, ours is faster.
The routine launch has one line, of what a launch costs: a kernel of ours that does nothing, and a copy of one element.
Beside cuBLAS, three more columns have what the device worked on a call by its own clock, without what a launch costs
besides: OpenCL's profiling of a queue, and CUPTI's times of kernels through PyTorch's profiler.

With CSV=FILE, lines for benches/roofline/plot.py are written there, of ours at the largest size in single precision; PEAK_GFLOPS
and PEAK_GBS are what the device can do, as the example `peaks` of cltune-kernels measures it.
"""

import ctypes
import glob
import math
import os
import statistics
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import openblas

ROUTINES = "launch,axpy,scal,copy,swap,rot,dot,nrm2,asum,iamax,gemv,gemv_t,ger,transpose"
MATRIX = ("gemv", "gemv_t", "ger", "transpose")
# Seconds that a measurement takes, and the calls before it, as in kernels/examples/blas/main.rs.
LENGTH = 0.02
UNCOUNTED = 0.2
LETTERS = {"f32": "s", "f64": "d"}
# Operations on each element, and how often it is read or written, of routines that compute.
WORK = {
    "axpy": (2, 3), "scal": (1, 2), "rot": (6, 4), "dot": (2, 2), "nrm2": (2, 1), "asum": (1, 1),
    "gemv": (2, 1), "gemv_t": (2, 1), "ger": (2, 2),
}
NUMBERS = {"f32": ctypes.c_float, "f64": ctypes.c_double}


class Ours:
    """The program's `serve`, which answers a line of microseconds for each line."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.device = self.process.stdout.readline().strip()

    def micros(self, routine, kind, n, clock=""):
        """With the clock `device`, the time on the device's own clock."""
        print(routine, kind, n, clock, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if answer.startswith("error") or not answer:
            sys.exit(f"{routine} {kind} {n}: {answer or 'the program ended'}")
        return float(answer)

    def release(self):
        """Frees the vectors of the last call."""
        print("dot f32 1", file=self.process.stdin, flush=True)
        self.process.stdout.readline()


class OpenBlas:
    def __init__(self, _device):
        self.library, core = openblas.load()
        print(f"OpenBLAS with the kernels for {core}")
        for kind, number in NUMBERS.items():
            for name in ("dot", "nrm2", "asum"):
                getattr(self.library, f"cblas_{LETTERS[kind]}{name}").restype = number

    def prepare(self, routine, kind, n):
        import array

        number, letter = NUMBERS[kind], LETTERS[kind]
        code = {"f32": "f", "f64": "d"}[kind]
        values = array.array(code, [(at * 7 % 1021) / 1021 - 0.5 for at in range(1021)])
        values = (values * (n // 1021 + 1))[:n]
        x, y = ((number * n).from_buffer(array.array(code, values)) for _ in range(2))
        if routine in MATRIX:
            side = math.isqrt(n)
            v, w = ((number * side).from_buffer(array.array(code, [0.001] * side)) for _ in range(2))
            rows, plain, turned = (ctypes.c_int(word) for word in (101, 111, 112))
            side, step, one, beta = ctypes.c_int(side), ctypes.c_int(1), number(1), number(0.6)
            turn = turned if routine == "gemv_t" else plain
            name, arguments = {
                "ger": ("ger", (rows, side, side, one, v, step, w, step, x, side)),
                "transpose": ("omatcopy", (rows, turned, side, side, one, x, side, y, side)),
            }.get(routine, ("gemv", (rows, turn, side, side, one, x, side, v, step, beta, w, step)))
            function = getattr(self.library, f"cblas_{letter}{name}")
            return lambda: function(*arguments)
        name = f"cblas_{letter}{routine}" if routine != "iamax" else f"cblas_i{letter}amax"
        function = getattr(self.library, name)
        n, one, step = ctypes.c_int(n), number(1), ctypes.c_int(1)
        minus, cosine, sine = number(-1), number(0.6), number(0.8)
        arguments = {
            "axpy": (n, one, x, step, y, step),
            "scal": (n, minus, x, step),
            "rot": (n, x, step, y, step, cosine, sine),
            "nrm2": (n, x, step),
            "asum": (n, x, step),
            "iamax": (n, x, step),
        }.get(routine, (n, x, step, y, step))
        return lambda: function(*arguments)

    def finish(self):
        pass


class CuBlas:
    def __init__(self, _device):
        import torch

        self.torch = torch
        folder = os.path.dirname(os.path.dirname(torch.__file__))
        files = sorted(glob.glob(f"{folder}/nvidia/**/libcublas.so.*", recursive=True))
        self.library = ctypes.CDLL(files[0])
        self.handle = ctypes.c_void_p(torch.cuda.current_blas_handle())
        # Numbers are on the device, so that nothing waits for the host.
        assert self.library.cublasSetPointerMode_v2(self.handle, 1) == 0

    def prepare(self, routine, kind, n):
        torch, letter = self.torch, LETTERS[kind]
        dtype = {"f32": torch.float32, "f64": torch.float64}[kind]
        self.vectors = [torch.rand(n, device="cuda", dtype=dtype) - 0.5 for _ in range(2)]
        self.numbers = [torch.full((1,), value, device="cuda", dtype=dtype) for value in (1.0, -1.0, 0.6, 0.8)]
        self.result = torch.zeros(2, device="cuda", dtype=torch.float64)
        torch.cuda.synchronize()
        if routine in MATRIX:
            return self.of_matrix(routine, letter, dtype, math.isqrt(n))
        x, y, one, minus, cosine, sine, result = (
            ctypes.c_void_p(tensor.data_ptr()) for tensor in (*self.vectors, *self.numbers, self.result)
        )
        name = f"cublas{letter.upper()}{routine}_v2" if routine != "iamax" else f"cublasI{letter}amax_v2"
        function, handle, n, step = getattr(self.library, name), self.handle, ctypes.c_int(n), ctypes.c_int(1)
        arguments = {
            "axpy": (handle, n, one, x, step, y, step),
            "scal": (handle, n, minus, x, step),
            "rot": (handle, n, x, step, y, step, cosine, sine),
            "dot": (handle, n, x, step, y, step, result),
            "nrm2": (handle, n, x, step, result),
            "asum": (handle, n, x, step, result),
            "iamax": (handle, n, x, step, result),
        }.get(routine, (handle, n, x, step, y, step))

        def call():
            status = function(*arguments)
            assert status == 0, status

        return call

    def micros_on_device(self, call, calls=50):
        """What the device worked on a call; nothing where CUPTI tells of no kernels."""
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as found:
            for _ in range(calls):
                call()
            self.finish()
        on_device = (event for event in found.events() if str(event.device_type).endswith("CUDA"))
        return sum(event.time_range.elapsed_us() for event in on_device) / calls or None

    def of_matrix(self, routine, letter, dtype, side):
        """Rows that lie one after the other are columns for cuBLAS: it sees matrices transposed."""
        self.sides = [self.torch.full((side,), 0.001, device="cuda", dtype=dtype) for _ in range(2)]
        zero = self.torch.zeros(1, device="cuda", dtype=dtype)
        self.numbers.append(zero)
        x, y, v, w, one, beta, zero = (
            ctypes.c_void_p(tensor.data_ptr())
            for tensor in (*self.vectors, *self.sides, self.numbers[0], self.numbers[2], zero)
        )
        turn = 1 if routine == "gemv" else 0
        name, arguments = {
            "ger": ("ger", (side, side, one, v, 1, w, 1, x, side)),
            "transpose": ("geam", (1, 0, side, side, one, x, side, zero, y, side, y, side)),
        }.get(routine, ("gemv", (turn, side, side, one, x, side, v, 1, beta, w, 1)))
        function = getattr(self.library, f"cublas{letter.upper()}{name}" + ("" if name == "geam" else "_v2"))

        def call():
            status = function(self.handle, *arguments)
            assert status == 0, status

        return call

    def finish(self):
        self.torch.cuda.synchronize()


class ClBlast:
    def __init__(self, device):
        import pyopencl

        self.cl = pyopencl
        # `0: NAME (PLATFORM)`: the same device as ours.
        found = next(
            found
            for platform in pyopencl.get_platforms()
            for found in platform.get_devices()
            if f": {found.name.strip()} ({platform.name})" in device
        )
        self.context = pyopencl.Context([found])
        self.queue = pyopencl.CommandQueue(self.context)
        self.library = ctypes.CDLL("libclblast.so.1")

    def prepare(self, routine, kind, n):
        if routine == "rot":
            return None  # It has none: the function reports that it is not implemented.
        import array

        code = {"f32": "f", "f64": "d"}[kind]
        values = array.array(code, [(at * 7 % 1021) / 1021 - 0.5 for at in range(1021)])
        values = (values * (n // 1021 + 1))[:n]
        flags = self.cl.mem_flags
        buffer = lambda: self.cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=values)
        self.buffers = [buffer(), buffer(), self.cl.Buffer(self.context, flags.READ_WRITE, 64)]
        x, y, result = (ctypes.c_void_p(one.int_ptr) for one in self.buffers)
        word = ctypes.c_size_t
        queue = ctypes.byref(ctypes.c_void_p(self.queue.int_ptr))
        one, minus, zero, step, n = NUMBERS[kind](1), NUMBERS[kind](-1), word(0), word(1), word(n)
        letter = LETTERS[kind].upper()
        if routine in MATRIX:
            side = math.isqrt(n.value)
            values = array.array(code, [0.001] * side)
            self.buffers += [buffer(), buffer()]
            v, w = (ctypes.c_void_p(one.int_ptr) for one in self.buffers[-2:])
            rows, plain, turned = (ctypes.c_int(word) for word in (101, 111, 112))
            side, beta = word(side), NUMBERS[kind](0.6)
            turn = turned if routine == "gemv_t" else plain
            name, arguments = {
                "ger": ("ger", (rows, side, side, one, v, zero, step, w, zero, step, x, zero, side)),
                "transpose": ("omatcopy", (rows, turned, side, side, one, x, zero, side, y, zero, side)),
            }.get(
                routine,
                ("gemv", (rows, turn, side, side, one, x, zero, side, v, zero, step, beta, w, zero, step)),
            )
            function = getattr(self.library, f"CLBlast{letter}{name}")

            def of_matrix():
                status = function(*arguments, queue, None)
                assert status == 0, status

            return of_matrix
        name = f"CLBlast{letter}{routine}" if routine != "iamax" else f"CLBlasti{letter}amax"
        function = getattr(self.library, name)
        arguments = {
            "axpy": (n, one, x, zero, step, y, zero, step),
            "scal": (n, minus, x, zero, step),
            "dot": (n, result, zero, x, zero, step, y, zero, step),
            "nrm2": (n, result, zero, x, zero, step),
            "asum": (n, result, zero, x, zero, step),
            "iamax": (n, result, zero, x, zero, step),
        }.get(routine, (n, x, zero, step, y, zero, step))

        def call():
            status = function(*arguments, queue, None)
            assert status == 0, status

        return call

    def finish(self):
        self.queue.finish()


KINDS = {"cublas": CuBlas, "openblas": OpenBlas, "clblast": ClBlast}


class Timed:
    """A peer's call, as many of which are timed as take `LENGTH` seconds."""

    def __init__(self, peer, call):
        self.peer, self.call = peer, call
        self.seconds(3)
        each = self.seconds(5) / 5
        self.calls = int(min(max(LENGTH / each, 1), 5000))

    def seconds(self, calls):
        begin = time.perf_counter()
        for _ in range(calls):
            self.call()
        self.peer.finish()
        return time.perf_counter() - begin

    def micros(self):
        begin = time.perf_counter()
        while time.perf_counter() - begin < UNCOUNTED:
            self.seconds(self.calls)
        return self.seconds(self.calls) / self.calls * 1e6


def shown(times):
    return f"{statistics.median(times):.1f} ({min(times):.1f} to {max(times):.1f})"


def on_device(ours, peer, call, routine, kind, n):
    """The times on the device's clock and their ratio, as cells."""
    own = ours.micros(routine, kind, n, "device")
    other = peer.micros_on_device(call)
    if not other or not own:
        return [f"{own:.1f}", "-", "-"]
    return [f"{own:.1f}", f"{other:.1f}", f"{other / own:.2f}"]


def write_rates(path, rates):
    """Lines for benches/roofline/plot.py: a routine's GFLOPS, its FLOP per byte, and what the device can do."""
    peaks = f"{os.environ['PEAK_GFLOPS']},{os.environ['PEAK_GBS']}"
    with open(path, "w", encoding="utf-8") as file:
        print("kernel,size,gflops,intensity,peak_gflops,peak_gbs", file=file)
        for routine, n, micros in rates:
            flops, words = WORK[routine]
            print(f"cltune,{routine},{flops * n / micros / 1e3:.4g},{flops / (4 * words):.4f},{peaks}", file=file)


def main():
    words = sys.argv[1:] + [""] * 6
    program, names = words[0], [name for name in words[1].split(",") if name]
    sizes = [int(float(size)) for size in (words[2] or "1e3,1e4,1e5,1e6,1e7,1e8").split(",")]
    routines, kinds = (words[3] or ROUTINES).split(","), (words[4] or "f32,f64").split(",")
    rounds = int(words[5] or 7)
    ours = Ours(program)
    peers = {}
    for name in names:
        try:
            peers[name] = KINDS[name](ours.device)
        except (ImportError, OSError, IndexError, StopIteration, RuntimeError) as error:
            print(f"{name} is not there: {error}\n")
    print(f"{ours.device}, microseconds of a call: medians of {rounds} rounds in turns (least to most)\n")
    heads = ["routine", "type", "n", "cltune", *peers, "best peer / cltune"]
    if "cublas" in peers:
        heads += ["cltune on the device", "cublas on the device", "cublas / cltune"]
    rates = []
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for routine in routines:
        for kind in kinds:
            if routine == "launch" and kind != kinds[0]:
                continue
            for n in sizes if routine != "launch" else [1]:
                calls = {}
                for name, peer in peers.items():
                    call = peer.prepare("copy" if routine == "launch" else routine, kind, n)
                    if call is not None:
                        calls[name] = Timed(peer, call)
                times = {name: [] for name in ["cltune", *calls]}
                ours.micros(routine, kind, n)
                for _ in range(rounds):
                    openblas.wait_until_asleep()
                    times["cltune"].append(ours.micros(routine, kind, n))
                    for name, call in calls.items():
                        openblas.wait_until_asleep()
                        times[name].append(call.micros())
                of_device = []
                if "cublas" in calls:
                    of_device = on_device(ours, peers["cublas"], calls["cublas"].call, routine, kind, n)
                ours.release()
                if routine in WORK and kind == "f32" and n == sizes[-1]:
                    rates.append((routine, n, statistics.median(times["cltune"])))
                best = min((statistics.median(times[name]) for name in calls), default=None)
                ratio = f"{best / statistics.median(times['cltune']):.2f}" if best else "-"
                cells = [shown(times[name]) if name in times else "-" for name in ["cltune", *peers]]
                print("| " + " | ".join([routine, kind, str(n), *cells, ratio, *of_device]) + " |", flush=True)
    if "CSV" in os.environ:
        write_rates(os.environ["CSV"], rates)


if __name__ == "__main__":
    main()
