"""A B and C = (A + B)(A - B) by cuBLASXt, from pinned host memory to pinned host memory, on one GPU and on all.

    python cublasxt.py SIZE[,SIZE...] [ROUNDS [BLOCK,BLOCK...]]

Single precision (SGEMM without TF32), matrices by rows. cuBLASXt divides a product into square blocks among GPUs
itself; several block sizes are tried once each, and the best is measured ROUNDS times (3), of which the median counts.
cuBLASXt has no temporaries, so A + B and A - B have to be matrices in host memory: five matrices instead of three.
They are made in two ways, and the faster one counts: by PyTorch on the host's cores, and by PyTorch on the GPUs, each
of which is sent its rows in pieces and sends the sums back while the next piece is on its way. cuBLASXt has no limit
for a GPU's memory either: what it has taken is printed. Needs PyTorch, which brings libcublas.
"""

import ctypes
import glob
import os
import statistics
import sys
import threading
import time

try:
    import torch
except ImportError:
    print("cuBLASXt: PyTorch is not installed, which brings pinned memory and libcublas", file=sys.stderr)
    sys.exit(0)

BLOCKS = (1024, 2048, 4096, 8192)
PIECE = 1024  # rows of a piece of A + B and A - B that a GPU makes at once


def library():
    """libcublas as PyTorch has loaded it, or as it lies beside PyTorch."""
    names = ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"]
    for site in {os.path.dirname(os.path.dirname(torch.__file__))}:
        names += sorted(glob.glob(f"{site}/nvidia/*/lib/libcublas.so.*"))
        names += sorted(glob.glob(f"{site}/torch/lib/libcublas.so.*"))
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit("cuBLASXt: there is no libcublas; install PyTorch with CUDA")


def checked(status, call):
    if status != 0:
        sys.exit(f"cuBLASXt: {call} failed with status {status}")


class Xt:
    """A handle of cuBLASXt for some GPUs. Memory is pinned already, so it pins none itself."""

    def __init__(self, cublas, gpus):
        self.cublas = cublas
        self.handle = ctypes.c_void_p()
        checked(cublas.cublasXtCreate(ctypes.byref(self.handle)), "cublasXtCreate")
        ids = (ctypes.c_int * len(gpus))(*gpus)
        checked(cublas.cublasXtDeviceSelect(self.handle, len(gpus), ids), "cublasXtDeviceSelect")
        checked(cublas.cublasXtSetPinningMemMode(self.handle, 0), "cublasXtSetPinningMemMode")

    def set_block(self, block):
        checked(self.cublas.cublasXtSetBlockDim(self.handle, block), "cublasXtSetBlockDim")

    def multiply(self, a, b, c):
        """C = A B by rows, which is C^T = B^T A^T by columns."""
        n = ctypes.c_size_t(a.shape[0])
        one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
        a, b, c = (ctypes.c_void_p(matrix.data_ptr()) for matrix in (a, b, c))
        status = self.cublas.cublasXtSgemm(
            self.handle, 0, 0, n, n, n, ctypes.byref(one), b, n, a, n, ctypes.byref(zero), c, n
        )
        checked(status, "cublasXtSgemm")

    def close(self):
        checked(self.cublas.cublasXtDestroy(self.handle), "cublasXtDestroy")


def seconds(work):
    for gpu in range(torch.cuda.device_count()):
        torch.cuda.synchronize(gpu)
    begin = time.perf_counter()
    work()
    for gpu in range(torch.cuda.device_count()):
        torch.cuda.synchronize(gpu)
    return time.perf_counter() - begin


def sums_on_host(a, b, left, right):
    torch.add(a, b, out=left)
    torch.sub(a, b, out=right)


def sums_on_gpus(gpus, a, b, left, right):
    size = a.shape[0]
    share = -(-size // len(gpus))

    def work(position, gpu):
        torch.cuda.set_device(gpu)
        streams = [torch.cuda.Stream(gpu) for _ in range(3)]
        first, last = position * share, min(size, (position + 1) * share)
        for at, row in enumerate(range(first, last, PIECE)):
            rows = slice(row, min(last, row + PIECE))
            with torch.cuda.stream(streams[at % 3]):
                x, y = (matrix[rows].to(f"cuda:{gpu}", non_blocking=True) for matrix in (a, b))
                left[rows].copy_(x + y, non_blocking=True)
                right[rows].copy_(x - y, non_blocking=True)
        for stream in streams:
            stream.synchronize()

    threads = [threading.Thread(target=work, args=of) for of in enumerate(gpus)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def filled(size, seed):
    """Numbers from -0.5 to 0.5 in pinned memory, made on a GPU, which is faster."""
    matrix = torch.empty((size, size), pin_memory=True)
    generator = torch.Generator("cuda:0").manual_seed(seed)
    for row in range(0, size, PIECE):
        rows = matrix[row : row + PIECE]
        rows.copy_(torch.rand(rows.shape, device="cuda:0", generator=generator) - 0.5)
    return matrix


def check(what, left, right, c):
    """Some elements against sums in double precision."""
    size = c.shape[0]
    rows = torch.arange(0, size, max(1, size // 8))[:8]
    expected = left[rows].double() @ right[:, :8].double()
    error = (c[rows, :8].double() - expected).abs().max().item()
    if not error < 1e-3 * size**0.5:
        sys.exit(f"cuBLASXt: {what} is wrong by {error}")
    print(f"cuBLASXt, {what}: largest error at some places {error:.1e}", flush=True)


def measure(xt, a, b, c, rounds, blocks):
    """The best block size, and the median with it."""
    found = []
    for block in blocks:
        xt.set_block(min(block, a.shape[0]))
        xt.multiply(a, b, c)  # allocates
        found.append((seconds(lambda: xt.multiply(a, b, c)), block))
    block = min(found)[1]
    xt.set_block(block)
    # Memory for another block size is allocated again.
    xt.multiply(a, b, c)
    times = [seconds(lambda: xt.multiply(a, b, c)) for _ in range(rounds)]
    return statistics.median(times), block, found


def run(cublas, size, rounds, blocks):
    count = torch.cuda.device_count()
    a, b = filled(size, 1), filled(size, 2)
    c, left, right = (torch.empty((size, size), pin_memory=True) for _ in range(3))
    work = 2.0 * size**3 / 1e12
    for gpus in [[0]] + ([list(range(count))] if count > 1 else []):
        torch.cuda.empty_cache()
        before = torch.cuda.mem_get_info(0)[0]
        xt = Xt(cublas, gpus)
        product, block, tried = measure(xt, a, b, c, rounds, blocks)
        tried = ", ".join(f"{of} {work / time:.1f}" for time, of in tried)
        taken = (before - torch.cuda.mem_get_info(0)[0]) / 1e6
        print(
            f"cuBLASXt, {size} x {size}, GPUs {gpus}: C = A B {work / product:.2f} TFLOPS "
            f"(blocks of {block}; tried once: {tried}; it has taken {taken:.0f} MB of GPU 0)",
            flush=True,
        )
        ways = {
            "host": lambda: sums_on_host(a, b, left, right),
            "GPUs": lambda: sums_on_gpus(gpus, a, b, left, right),
        }
        sums = {}
        for way, make in ways.items():
            make()
            sums[way] = statistics.median(seconds(make) for _ in range(rounds))
        way = min(sums, key=sums.get)

        def both():
            ways[way]()
            xt.multiply(left, right, c)

        both()
        time_of_both = statistics.median(seconds(both) for _ in range(rounds))
        made = ", ".join(f"on {of} {1e3 * time:.0f} ms" for of, time in sums.items())
        print(
            f"cuBLASXt, {size} x {size}, GPUs {gpus}: C = (A + B)(A - B) {work / time_of_both:.2f} TFLOPS "
            f"({1e3 * time_of_both:.0f} ms; A + B and A - B {made})",
            flush=True,
        )
        xt.close()
    check("C = (A + B)(A - B)", left, right, c)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sizes = [int(size) for size in sys.argv[1].split(",")]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    blocks = [int(block) for block in sys.argv[3].split(",")] if len(sys.argv) > 3 else BLOCKS
    if torch.cuda.device_count() == 0:
        print("cuBLASXt: PyTorch sees no GPU", file=sys.stderr)
        sys.exit(0)
    torch.cuda.init()
    torch.ones(1, device="cuda:0") @ torch.ones(1, device="cuda:0")  # loads libcublas
    cublas = library()
    version = ctypes.c_int()
    checked(cublas.cublasGetProperty(0, ctypes.byref(version)), "cublasGetProperty")
    print(f"cuBLASXt {version.value}, PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}", flush=True)
    for size in sizes:
        run(cublas, size, rounds, blocks)


main()
