"""What each optimisation of the double-buffered GEMM is worth: Lin et al. 2025, figure 8.

    ablation.py --artifact FILE [--device DEVICE] [--budget 300] [--sizes 512,1024,2048,4096]

The same search, as many evaluations with the same seed, for each variant and size: constraints turn off what a variant
does not have. Then one session for each kernel measures all that were found. The benchmark is the kernel without double
buffers, as in the paper. Prefetching without double buffers is no variant, since the kernel has none without them.
"""

import statistics

from sessions import head, measure, note, options, row, session

PAPERS_COPIES = 'COPY == "registers" && SWIZZLE == 1'
# Work-items follow each other along m, as in the paper.
PAPERS_KERNEL = f"{PAPERS_COPIES} && LANES == MDIMC"
CLASSIC, PIPELINED = "cltune_kernels::gemm_classic", "cltune_kernels::gemm_pipelined"
VARIANTS = [
    ("benchmark: tiles in local memory, one buffer", CLASSIC, "SA == 1 && SB == 1"),
    ("double buffers on three levels", PIPELINED, f'{PAPERS_KERNEL} && ORDER == "rows"'),
    ("and fine-grained prefetching", PIPELINED, f'{PAPERS_KERNEL} && ORDER == "blocks"'),
    ("either, and the order of lanes", PIPELINED, PAPERS_COPIES),
    ("and the order of tiles", PIPELINED, 'COPY == "registers"'),
    ("and asynchronous copies of up to four tiles", PIPELINED, "true"),
]

asked = options(__doc__, budget="300", sizes="512,1024,2048,4096", seed=0)
sizes = [int(size) for size in asked.sizes.split(",")]
problems = {
    CLASSIC: {size: f"m={size},n={size},k={size}" for size in sizes},
    PIPELINED: {size: f"m={size},n={size},k={size},epilogue=0" for size in sizes},
}
names, found = {}, {}
for variant, kernel, constraint in VARIANTS:
    note(variant)
    search = ["--budget", asked.budget, "--seed", str(asked.seed), "--constraint", constraint]
    at = (asked.artifact, kernel, asked.device, list(problems[kernel].values()))
    names[kernel], _, found[variant] = session(*at, *search)
times = {}
for kernel, of in problems.items():
    ours = [variant for variant, its_kernel, _ in VARIANTS if its_kernel == kernel]
    bests = [best for variant in ours for best in found[variant].values()]
    measured = measure(asked.artifact, kernel, asked.device, list(of.values()), names[kernel], bests)
    for variant in ours:
        for size, problem in of.items():
            times[variant, size] = measured[problem][found[variant][problem]]

head(["variant", *(f"{size}, us" for size in sizes), "gain over the benchmark: of each size", "mean"])
for variant, kernel, _ in VARIANTS:
    gains = [times[VARIANTS[0][0], size] / times[variant, size] - 1 for size in sizes]
    each = ", ".join(f"{100 * gain:+.1f} %" for gain in gains)
    cells = [f"{times[variant, size]:.1f}" for size in sizes]
    row([variant, *cells, each, f"{100 * statistics.mean(gains):+.1f} %"])
print()
head(["variant", "size", "values"])
for variant, kernel, _ in VARIANTS:
    for size, problem in problems[kernel].items():
        row([variant, size, ", ".join(found[variant][problem])])
