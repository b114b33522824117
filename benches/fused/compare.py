"""Fused statements against the same statements one by one, and against cuBLAS and PyTorch in the same run.

    python3 compare.py target/release/conjugate-gradient

The program measures on the device that CLTUNE_DEVICE means. With PyTorch on a GPU, cuBLAS's axpy, dot and gemv are
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
        found = re.match(r"n = +(\d+(?: x \d+)?)  (.*?)  +([\d.]+) \([\d.]+ to [\d.]+\)", line)
        if found:
            times[found[1], found[2].strip()] = float(found[3])
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


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def of_vectors(torch, library, handle, n):
    """Statements over vectors, the peer's name and its call."""
    two = torch.full((1,), 2.0, device="cuda")
    result = torch.zeros(1, device="cuda")
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

    return [
        ("s = dot(x, 2 x + y), then axpy and dot", "cuBLAS axpy + dot", both),
        ("u = a + b; v = a - b", "PyTorch add + sub", pair),
        ("y = x", "PyTorch copy", lambda: u.copy_(x)),
    ]


def of_products(torch, library, handle, m, n):
    """Products of a matrix and a vector: rows are contiguous, so that cuBLAS sees the matrix transposed."""
    found = []
    for element, dtype, gemv in [
        ("f32", torch.float32, library.cublasSgemv_v2),
        ("f64", torch.float64, library.cublasDgemv_v2),
    ]:
        a = torch.rand(m, n, device="cuda", dtype=dtype)
        x, y = (torch.rand(max(m, n), device="cuda", dtype=dtype) for _ in range(2))
        alpha, beta = (torch.full((1,), value, device="cuda", dtype=dtype) for value in (1.5, 0.5))

        def product(transposed, gemv=gemv, a=a, x=x, y=y, alpha=alpha, beta=beta):
            status = gemv(
                handle, transposed, n, m, pointer(alpha), pointer(a), n, pointer(x), 1, pointer(beta), pointer(y), 1
            )
            assert status == 0

        for which, transposed in [("A x", 1), ("A^T x", 0)]:
            statement = f"y = alpha {which} + beta y, {element}"
            found.append((statement, "cuBLAS gemv", lambda product=product, t=transposed: product(t)))
    return found


def of_two_matrices(torch, library, handle, n):
    """Products of matrices. PyTorch passes its factors from the host, and its handle is the one that BLAS is called with."""
    found = []
    for element, dtype in [("f32", torch.float32), ("f64", torch.float64)]:
        a, b, c = (torch.rand(n, n, device="cuda", dtype=dtype) for _ in range(3))
        for which, left, right in [("A B", a, b), ("A B^T", a, b.t()), ("A^T B", a.t(), b), ("A^T B^T", a.t(), b.t())]:
            statement = f"C = {which}, {element}"


            def product(left=left, right=right, c=c):
                library.cublasSetPointerMode_v2(handle, 0)
                torch.mm(left, right, out=c)
                library.cublasSetPointerMode_v2(handle, 1)

            found.append((statement, "cuBLAS gemm", product))
    return found


def of_rows(torch, m, n):
    a, y = (torch.rand(m, n, device="cuda") for _ in range(2))
    gamma, beta = (torch.rand(n, device="cuda") for _ in range(2))
    mean, rstd = (torch.empty(m, 1, device="cuda") for _ in range(2))

    def layer_norm():
        torch.native_layer_norm.out(a, [n], gamma, beta, 1e-5, out0=y, out1=mean, out2=rstd)

    def functional():
        torch.nn.functional.layer_norm(a, [n], gamma, beta)

    try:
        layer_norm()
    except (AttributeError, TypeError, RuntimeError):
        layer_norm = functional
    return [
        ("softmax of rows", "PyTorch softmax", lambda: torch.softmax(a, 1, out=y)),
        ("layer norm of rows", "PyTorch layer_norm", layer_norm),
    ]


def main():
    times = of_program(sys.argv[1])
    try:
        torch, library, handle = cublas()
    except (ImportError, IndexError, RuntimeError, AssertionError) as error:
        print(f"no cuBLAS to compare with: {error}")
        return
    print(f"cuBLAS {torch.version.cuda}, PyTorch {torch.__version__}, medians of {ROUNDS} (least to most)")
    for size in dict.fromkeys(size for size, _ in times):
        if " x " in size:
            m, n = (int(number) for number in size.split(" x "))
            statements = [what for of, what in times if of == size]
            peers = []
            if any("alpha" in what for what in statements):
                peers += of_products(torch, library, handle, m, n)
            if any(what.startswith("C = ") for what in statements):
                peers += of_two_matrices(torch, library, handle, n)
            if any("rows" in what for what in statements):
                peers += of_rows(torch, m, n)
        else:
            peers = of_vectors(torch, library, handle, int(size))
        for statements, peer, call in peers:
            median, least, most = measured(torch, call)
            fused = times[size, statements]
            print(
                f"n = {size:>11}  {statements:32} {peer:20} {median:10.1f} ({least:.1f} to {most:.1f})"
                f"  over fused: {median / fused:.2f}"
            )
        del peers, call


if __name__ == "__main__":
    main()
