"""Values tuned at one size against values tuned for each size: Lin et al. 2025, figure 15.

    per_size.py --artifact FILE [--device DEVICE] [--budget 100] [--sizes 128,...,4096] [--one 1024] [--found FILE.json]

A search of the double-buffered GEMM for each size, as many evaluations with the same seed. Then one session measures at
all sizes what was found at each. Rates are in thousands of GFLOPS.
"""

import statistics

from sessions import head, measure, only, options, row, searched

KERNEL = "cltune_kernels::gemm_pipelined"

asked = options(__doc__, budget="100", sizes="128,256,384,512,768,1024,1536,2048,3072,4096", one=1024, seed=0, found="")
sizes = sorted({asked.one, *map(int, asked.sizes.split(","))})
problems = {size: f"m={size},n={size},k={size},epilogue=0" for size in sizes}
names, found = searched(asked, KERNEL, list(problems.values()))
times = measure(asked, KERNEL, list(problems.values()), only(names, found.values()))
one = found[problems[asked.one]]
head(["m = n = k", f"values of {asked.one}", "values of this size", "gain", ", ".join(names)])
gains = []
for size, problem in problems.items():
    each = times[problem][one], times[problem][found[problem]]
    gains.append(each[0] / each[1] - 1)
    rates = [f"{2 * size**3 / time / 1e6:.2f}" for time in each]
    row([size, *rates, f"{100 * gains[-1]:+.1f} %", ", ".join(found[problem])])
row(["mean", "", "", f"{100 * statistics.mean(gains):+.1f} %", ""])
