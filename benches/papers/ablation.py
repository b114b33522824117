"""What each optimisation of the double-buffered GEMM is worth: Lin et al. 2025, figure 8.

    ablation.py --artifact FILE [--device DEVICE] [--budget 100] [--sizes 1024,2048,4096] [--found FILE.json]

A search for each size finds tiles, work-groups and vector widths. One session then measures these at all sizes with all
values of the parameters that turn optimisations on and off, and each variant has the best of those that it allows. The
benchmark is the kernel without double buffers, `gemm_classic`, with the best of a search for each size. There is no
variant that only prefetches, since the kernel with prefetching has double buffers.
"""

import math
import statistics

from sessions import head, measure, only, options, row, searched

CLASSIC, PIPELINED = "cltune_kernels::gemm_classic", "cltune_kernels::gemm_pipelined"
# Each allows what the ones before it do, but for the first two. In the paper's kernel work-items follow each other
# along m, and so do tiles.
VARIANTS = {
    "double buffers on three levels": dict(LANES="MDIMC", SWIZZLE="1", COPY="registers", ORDER="rows"),
    "and fine-grained prefetching": dict(LANES="MDIMC", SWIZZLE="1", COPY="registers", ORDER="blocks"),
    "either of them, and the order of work-items": dict(SWIZZLE="1", COPY="registers"),
    "and the order of tiles": dict(COPY="registers"),
    "and asynchronous copies of up to four tiles": {},
}
FREE = ("LANES", "SWIZZLE", "COPY", "STAGES", "ORDER")

asked = options(__doc__, budget="100", sizes="1024,2048,4096", seed=0, found="")
sizes = [int(size) for size in asked.sizes.split(",")]
classic = [f"m={size},n={size},k={size}" for size in sizes]
pipelined = [f"{problem},epilogue=0" for problem in classic]

names, found = searched(asked, CLASSIC, classic)
times = measure(asked, CLASSIC, classic, only(names, found.values()))
benchmark = [times[problem][found[problem]] for problem in classic]

names, found = searched(asked, PIPELINED, pipelined)
fixed = [name for name in names if name not in FREE]
shapes = {tuple(value for name, value in zip(names, best) if name in fixed) for best in found.values()}
times = measure(asked, PIPELINED, pipelined, only(fixed, shapes))


def best(problem, demands):
    """The least time of the configurations that a variant allows."""

    def allowed(configuration):
        values = dict(zip(names, configuration))
        return all(values[name] == values.get(value, value) for name, value in demands.items())

    return min((time for configuration, time in times[problem].items() if allowed(configuration)), default=math.inf)


head(["variant", *(f"{size}, us" for size in sizes), *(f"{size}, gain" for size in sizes), "mean gain"])
row(["benchmark: one buffer", *(f"{time:.1f}" for time in benchmark), *[""] * len(sizes), ""])
for variant, demands in VARIANTS.items():
    bests = [best(problem, demands) for problem in pipelined]
    gains = [before / time - 1 for before, time in zip(benchmark, bests)]
    gains.append(statistics.mean(gains))
    row([variant, *(f"{time:.1f}" for time in bests), *(f"{100 * gain:+.1f} %" for gain in gains)])
print(f"\n{len(times[pipelined[0]])} configurations of {len(shapes)} shapes ({', '.join(fixed)}):")
for shape in sorted(shapes):
    print(f"- {', '.join(shape)}")
