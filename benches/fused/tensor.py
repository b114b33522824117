"""Checks products by tensor cores (`TENSOR`) where there are none, with the instruction replaced by local memory.

    python3 tensor.py CARGO_CLTUNE CONJUGATE_GRADIENT

The kernels are those that `cargo cltune show` prints for the four products in double precision of
examples/conjugate-gradient. They run on the first OpenCL device of pyopencl, also on a CPU, and results are compared
with numpy's. What it shows is that elements reach the right place of an instruction and of the result, with tiles at
the edge; that the instruction does what is said here, only a GPU shows.
"""

import itertools
import subprocess
import sys

import numpy
import pyopencl as cl

# What PTX says of m16n8k8 and m16n8k16, and of two m8n8k4: of 32 work-items, number 4 r + q has columns q, q + 4, ...
# of A's rows r and r + 8, the same rows of B's column r, and of the result columns 2 q and 2 q + 1 of rows r and r + 8.
INSTRUCTION = """
#undef ORDER
#undef COPY
#undef COPIED
// Doubles, of which one has size "8" and two "16".
#define COPY(size, how, to, from) { \\
    __local double* _to = to; \\
    __global const double* _from = from; \\
    for (int _e = 0; _e < sizeof(size) - 1; _e++) _to[_e] = _from[_e]; \\
}
#define COPIED()
#define ROW (id % 32 / 4)
#define ORDER(c0, c1, c2, c3, a, b, r) { \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    for (int e = 0; e < TENSOR / 4; e++) { \\
        of_a[id / 32][ROW][id % 4 + 4 * e] = a[e]; \\
        of_a[id / 32][ROW + 8][id % 4 + 4 * e] = b[e]; \\
        of_b[id / 32][ROW][id % 4 + 4 * e] = r[e]; \\
    } \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    for (int k = 0; k < TENSOR; k++) { \\
        c0 += of_a[id / 32][ROW][k] * of_b[id / 32][id % 4 * 2][k]; \\
        c1 += of_a[id / 32][ROW][k] * of_b[id / 32][id % 4 * 2 + 1][k]; \\
        c2 += of_a[id / 32][ROW + 8][k] * of_b[id / 32][id % 4 * 2][k]; \\
        c3 += of_a[id / 32][ROW + 8][k] * of_b[id / 32][id % 4 * 2 + 1][k]; \\
    } \\
}
"""
TILES = "__local double of_a[8][16][16], of_b[8][8][16];\n    "
NAMES = "ML KL NL MS KS NS AL LOCAL_A LOCAL_B TENSOR AHEAD".split()
CONFIGURATIONS = [
    (64, 32, 64, 4, 8, 8, 4, 1, 1, 16, 1),
    (32, 32, 64, 4, 8, 8, 8, 1, 0, 8, 1),
    (64, 32, 32, 4, 8, 2, 2, 0, 1, 4, 0),
    (64, 32, 64, 4, 8, 8, 2, 1, 1, 8, 1),
    (64, 32, 64, 4, 8, 8, 1, 0, 1, 16, 1),
    (64, 32, 64, 4, 8, 8, 2, 1, 1, 8, 0),
]
# Multiples of the tiles, and not.
SIZES = [(128, 128, 128), (136, 72, 152)]


def source_of(cargo_cltune, program, name):
    command = [cargo_cltune, "cltune", "show", f"conjugate_gradient::dproduct_{name}", "--artifact", program]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    # The configuration's macros come first; those of the configurations here are options.
    text = text[text.index("\n", text.index("#line 1")) :]
    kernel = text.index("__kernel")
    text = text[:kernel] + INSTRUCTION + text[kernel:]
    beginning = "const uint x = get_local_id(0)"
    assert beginning in text
    return text.replace(beginning, TILES + beginning, 1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    queue = cl.CommandQueue(context)
    random = numpy.random.default_rng(1)
    print(f"on {context.devices[0].name}, the largest difference from numpy's product:")
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    for name in ("nn", "nt", "tn", "tt"):
        source = source_of(*sys.argv[1:], name)
        for values, (m, n, k) in itertools.product(CONFIGURATIONS, SIZES):
            of = dict(zip(NAMES, values))
            options = [f"-D{key}={value}" for key, value in of.items()]
            # Of loops over vectors, which these kernels do not have.
            program = cl.Program(context, source).build([*options, "-DVW=1"])
            a, b = random.random((m, k)) - 0.5, random.random((k, n)) - 0.5
            factors = [x if side == "n" else x.T.copy() for x, side in zip((a, b), name)]
            factors = [cl.Buffer(context, flags, hostbuf=factor) for factor in factors]
            result = numpy.zeros((m, n))
            to = cl.Buffer(context, cl.mem_flags.READ_WRITE, result.nbytes)
            items = (of["NL"] // of["NS"], of["ML"] // of["MS"])
            groups = (-(-n // of["NL"]), -(-m // of["ML"]))
            sizes = [numpy.uint64(size) for size in (m, n, k)]
            every = tuple(group * item for group, item in zip(groups, items))
            program.pass_0(queue, every, items, *sizes, *factors, to)
            cl.enqueue_copy(queue, result, to)
            worst = abs(result - a @ b).max()
            print(f"{name} {m} x {n} x {k} {of}: {worst:.1e}", flush=True)
            if not worst < 1e-12:
                sys.exit("that is wrong")


if __name__ == "__main__":
    main()
