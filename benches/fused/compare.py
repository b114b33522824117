"""Fused statements against the same statements one by one, and against cuBLAS and PyTorch, or OpenBLAS, in the same run.

    python3 compare.py target/release/conjugate-gradient

The program measures on the device that CLTUNE_DEVICE means. With PyTorch on a GPU, cuBLAS's axpy, dot and gemv are
measured after it, and PyTorch's operations where BLAS has none. Without, and with numpy and libopenblas.so.0,
OpenBLAS's on all cores are.

With CSV=FILE, lines for benches/roofline/plot.py are written there, of statements in single precision; PEAK_GFLOPS and
PEAK_GBS are what the device can do, as the example `peaks` of cltune-kernels measures it.
"""

import ctypes
import glob
import math
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import openblas

ROUNDS = 9
# Of statements that compute: how the roofline calls them, operations on each element, and the bytes that have to be
# moved for it.
WORK = {
    "s = dot(x, 2 x + y), then axpy and dot": ("product", 4, 8),
    "u = a + b; v = a - b": ("pair", 2, 16),
    "a step of conjugate gradients": ("step", 10, 44),
    "y = alpha A x + beta y, f32": ("A x", 2, 4),
    "y = alpha A^T x + beta y, f32": ("A^T x", 2, 4),
    "softmax of rows": ("softmax", 5, 8),
    "layer norm of rows": ("layer norm", 7, 8),
}


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


def write_rates(path, times):
    """Lines for the roofline: of each statement that of the largest size, and products of matrices."""
    peaks = f"{os.environ['PEAK_GFLOPS']},{os.environ['PEAK_GBS']}"
    largest = {}
    for (size, statements), micros in times.items():
        sides = [int(side) for side in size.split(" x ")]
        count = sides[0] * sides[-1] if len(sides) > 1 else sides[0]
        if statements in WORK:
            name, flops, moved = WORK[statements]
        elif statements.startswith("C = ") and statements.endswith(", f32"):
            # Each of three matrices is moved once.
            name, flops, moved = statements[4:-5], 2 * sides[0], 12
        else:
            continue
        largest[name] = max(largest.get(name, (0,)), (count, flops, moved, micros))
    with open(path, "w", encoding="utf-8") as file:
        print("kernel,size,gflops,intensity,peak_gflops,peak_gbs", file=file)
        for name, (count, flops, moved, micros) in largest.items():
            print(f"fused,{name},{flops * count / micros / 1e3:.4g},{flops / moved:.4f},{peaks}", file=file)


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


def five_points(torch, side):
    """The matrix of the equation that the example solves, by rows: 4 for a point, -1 for each neighbour."""
    at = torch.arange(side * side, device="cuda").reshape(side, side)
    pairs = [(at[1:], at[:-1]), (at[:-1], at[1:]), (at[:, 1:], at[:, :-1]), (at[:, :-1], at[:, 1:]), (at, at)]
    rows, columns = (torch.cat([pair[which].flatten() for pair in pairs]) for which in (0, 1))
    values = torch.full(rows.shape, -1.0, device="cuda")
    values[-side * side :] = 4.0
    matrix = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (side * side, side * side)).to_sparse_csr()
    # With indices of 32 bits, which cuSPARSE reads faster.
    begins, columns = matrix.crow_indices().int(), matrix.col_indices().int()
    return torch.sparse_csr_tensor(begins, columns, matrix.values(), matrix.shape)


def of_vectors(torch, library, handle, n, wanted):
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

    p, q, r = (torch.rand(n, device="cuda") for _ in range(3))
    alpha, minus, beta, one, pq, rr, after = (torch.ones(1, device="cuda") for _ in range(7))

    def step():
        """The rest of a step after q = A p. Numbers stay on the device, as ours do."""
        status = library.cublasSdot_v2(handle, n, pointer(p), 1, pointer(q), 1, pointer(pq))
        torch.div(rr, pq, out=alpha)
        torch.neg(alpha, out=minus)
        status |= library.cublasSaxpy_v2(handle, n, pointer(alpha), pointer(p), 1, pointer(x), 1)
        status |= library.cublasSaxpy_v2(handle, n, pointer(minus), pointer(q), 1, pointer(r), 1)
        status |= library.cublasSdot_v2(handle, n, pointer(r), 1, pointer(r), 1, pointer(after))
        torch.div(after, rr, out=beta)
        status |= library.cublasSscal_v2(handle, n, pointer(beta), pointer(p), 1)
        status |= library.cublasSaxpy_v2(handle, n, pointer(one), pointer(r), 1, pointer(p), 1)
        rr.copy_(after)
        assert status == 0

    peers = [
        ("a step of conjugate gradients", "cuBLAS + PyTorch", step),
        ("s = dot(x, 2 x + y), then axpy and dot", "cuBLAS axpy + dot", both),
        ("u = a + b; v = a - b", "PyTorch add + sub", pair),
        ("y = x", "PyTorch copy", lambda: u.copy_(x)),
    ]
    for solution in (what for what in wanted if what.endswith("steps of a solution")):
        steps = int(solution.split()[0])
        matrix, right = five_points(torch, math.isqrt(n)), torch.rand(n, device="cuda")
        begin = right.dot(right).reshape(1)

        def solve():
            r.copy_(right)
            p.copy_(right)
            rr.copy_(begin)
            for _ in range(steps):
                torch.mv(matrix, p, out=q)
                step()

        peers.append((solution, "cuBLAS + cuSPARSE", solve))
    return [peer for peer in peers if peer[0] in wanted]


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


class OpenBlas:
    """OpenBLAS's calls for statements, on vectors and matrices of numpy's."""

    TYPES = {"f32": ("s", "float32", ctypes.c_float), "f64": ("d", "float64", ctypes.c_double)}

    def __init__(self):
        import numpy

        self.numpy = numpy
        self.library, self.core = openblas.load()
        self.library.cblas_sdot.restype = ctypes.c_float

    def random(self, count, dtype="float32"):
        return self.numpy.random.rand(count).astype(dtype)

    def of(self, size, statements):
        """The peer's name and its call, or nothing."""
        of_type = next((name for name in self.TYPES if statements.endswith(", " + name)), "f32")
        if statements.startswith("C = "):
            return self.gemm(int(size.split(" x ")[0]), statements, of_type)
        if statements.startswith("y = alpha"):
            return self.gemv(*map(int, size.split(" x ")), statements, of_type)
        return None if " x " in size else self.vectors(int(size), statements)

    def vectors(self, n, statements):
        blas = self.library
        x, y, p, q, r = (self.random(n) for _ in range(5))
        at = [ctypes.c_void_p(vector.ctypes.data) for vector in (x, y, p, q, r)]
        of_x, of_y, of_p, of_q, of_r = at
        kept = (x, y, p, q, r)

        def axpy(factor, left, right):
            blas.cblas_saxpy(n, ctypes.c_float(factor), left, 1, right, 1)

        def both(kept=kept):
            axpy(2.0, of_x, of_y)
            blas.cblas_sdot(n, of_x, 1, of_y, 1)

        def step(kept=kept):
            product = blas.cblas_sdot(n, of_p, 1, of_q, 1)
            axpy(1e-3 / max(product, 1e-3), of_p, of_x)
            axpy(-1e-3 / max(product, 1e-3), of_q, of_r)
            square = blas.cblas_sdot(n, of_r, 1, of_r, 1)
            blas.cblas_sscal(n, ctypes.c_float(square / max(square, 1e-3) / 2), of_p, 1)
            axpy(1.0, of_r, of_p)

        def copy(kept=kept):
            blas.cblas_scopy(n, of_x, 1, of_y, 1)

        if statements == "y = x":
            return "OpenBLAS copy", copy
        if statements == "a step of conjugate gradients":
            return "OpenBLAS", step
        return ("OpenBLAS axpy + dot", both) if "then axpy and dot" in statements else None

    def gemv(self, m, n, statements, of_type):
        letter, dtype, number = self.TYPES[of_type]
        a, x, y = self.random(m * n, dtype), self.random(max(m, n), dtype), self.random(max(m, n), dtype)
        at = [ctypes.c_void_p(vector.ctypes.data) for vector in (a, x, y)]
        function, turn = getattr(self.library, f"cblas_{letter}gemv"), 112 if "A^T" in statements else 111

        def call(kept=(a, x, y)):
            function(101, turn, m, n, number(1.5), at[0], n, at[1], 1, number(0.5), at[2], 1)

        return "OpenBLAS gemv", call

    def gemm(self, n, statements, of_type):
        letter, dtype, number = self.TYPES[of_type]
        a, b, c = (self.random(n * n, dtype) for _ in range(3))
        at = [ctypes.c_void_p(matrix.ctypes.data) for matrix in (a, b, c)]
        function = getattr(self.library, f"cblas_{letter}gemm")
        turns = [112 if f"{which}^T" in statements else 111 for which in "AB"]

        def call(kept=(a, b, c)):
            function(101, *turns, n, n, n, number(1), at[0], n, at[1], n, number(0), at[2], n)

        return "OpenBLAS gemm", call


class Host:
    """What `measured` asks of PyTorch: the host's calls have ended when they return."""

    class cuda:
        @staticmethod
        def synchronize():
            pass


def against_openblas(times):
    try:
        peer = OpenBlas()
    except (ImportError, OSError) as error:
        print(f"no OpenBLAS to compare with: {error}")
        return
    print(f"OpenBLAS on {os.cpu_count()} cores with the kernels for {peer.core}, medians of {ROUNDS} (least to most)")
    for (size, statements), fused in times.items():
        found = peer.of(size, statements)
        if found is None:
            continue
        name, call = found
        median, least, most = measured(Host, call)
        print(
            f"n = {size:>11}  {statements:32} {name:20} {median:10.1f} ({least:.1f} to {most:.1f})"
            f"  over fused: {median / fused:.2f}",
            flush=True,
        )


def main():
    times = of_program(sys.argv[1])
    if "CSV" in os.environ:
        write_rates(os.environ["CSV"], times)
    try:
        torch, library, handle = cublas()
    except (ImportError, IndexError, RuntimeError, AssertionError) as error:
        print(f"no cuBLAS to compare with: {error}")
        against_openblas(times)
        return
    print(f"cuBLAS {torch.version.cuda}, PyTorch {torch.__version__}, medians of {ROUNDS} (least to most)")
    for size in dict.fromkeys(size for size, _ in times):
        wanted = [what for of, what in times if of == size]
        if " x " in size:
            m, n = (int(number) for number in size.split(" x "))
            peers = []
            if any("alpha" in what for what in wanted):
                peers += of_products(torch, library, handle, m, n)
            if any(what.startswith("C = ") for what in wanted):
                peers += of_two_matrices(torch, library, handle, n)
            if any("rows" in what for what in wanted):
                peers += of_rows(torch, m, n)
        else:
            peers = of_vectors(torch, library, handle, int(size), wanted)
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
