"""Fused statements against the same statements one by one, and against cuBLAS in the same run.

    python3 compare.py target/release/conjugate-gradient

The program measures on the device that CLTUNE_DEVICE means. With PyTorch on a GPU, cuBLAS's axpy and dot are
measured after it, and PyTorch's operations where BLAS has none.
"""

import ctypes
import glob
import os
import re
import statistics
import subprocess
import sys
import time

ROUNDS = 9


def of_program(binary):
    """Microseconds of each line, by size and statements; the fused way and the other."""
    text = subprocess.run([binary, "bench"], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(text)
    times = {}
    for line in text.splitlines():
        found = re.match(r"n = +(\d+)  (.*?)  +([\d.]+) \([\d.]+ to [\d.]+\)", line)
        if found:
            times[int(found[1]), found[2].strip()] = float(found[3])
    return times


def cublas():
    import torch

    folder = os.path.dirname(os.path.dirname(torch.__file__))
    files = sorted(glob.glob(f"{folder}/nvidia/**/libcublas.so.*", recursive=True))
    library = ctypes.CDLL(files[0])
    # So that nothing waits for the host.
    handle = ctypes.c_void_p(torch.cuda.current_blas_handle())
    assert library.cublasSetPointerMode_v2(handle, 1) == 0
    return torch, library, handle


def measured(torch, call):
    """Microseconds of a call: the median, the least, the most."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    each = (time.perf_counter() - begin) / 5
    calls = int(min(max(0.02 / each, 1), 2000))
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(times), min(times), max(times)


def main():
    times = of_program(sys.argv[1])
    try:
        torch, library, handle = cublas()
    except (ImportError, IndexError, RuntimeError, AssertionError) as error:
        print(f"no cuBLAS to compare with: {error}")
        return
    print(f"cuBLAS {torch.version.cuda}, PyTorch {torch.__version__}, medians of {ROUNDS} (least to most)")
    two = torch.full((1,), 2.0, device="cuda")
    result = torch.zeros(1, device="cuda")
    pointer = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
    for n in sorted({n for n, _ in times}):
        x, y, u, v = (torch.rand(n, device="cuda") for _ in range(4))

        def axpy():
            assert library.cublasSaxpy_v2(handle, n, pointer(two), pointer(x), 1, pointer(y), 1) == 0

        def dot():
            assert library.cublasSdot_v2(handle, n, pointer(x), 1, pointer(y), 1, pointer(result)) == 0

        def both():
            axpy()
            dot()

        def pair():
            torch.add(x, y, out=u)
            torch.sub(x, y, out=v)

        peers = [
            ("s = dot(x, 2 x + y), then axpy and dot", "cuBLAS axpy + dot", both),
            ("u = a + b; v = a - b", "PyTorch add + sub", pair),
            ("y = x", "PyTorch copy", lambda: u.copy_(x)),
        ]
        for statements, peer, call in peers:
            median, least, most = measured(torch, call)
            fused = times[n, statements]
            print(f"n = {n:9}  {peer:20} {median:10.1f} ({least:.1f} to {most:.1f})  over fused: {median / fused:.2f}")


if __name__ == "__main__":
    main()
