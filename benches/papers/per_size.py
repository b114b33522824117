"""Values tuned at one size against values tuned for each size: Lin et al. 2025, figure 15.

    per_size.py --artifact FILE [--device DEVICE] [--budget 100] [--sizes 128,...,4096] [--one 1024]

A search for each size, as many evaluations with the same seed. Then one session measures, at each size, what was found
there and what was found at the one size; and what the kernel without double buffers, `gemm_classic`, does with values of
a search at the one size. Rates are in thousands of GFLOPS.
"""

import statistics

from sessions import head, measure, note, options, row, session

KERNELS = {"cltune_kernels::gemm_classic": "", "cltune_kernels::gemm_pipelined": ",epilogue=0"}
CLASSIC, PIPELINED = KERNELS

asked = options(__doc__, budget="100", sizes="128,256,384,512,768,1024,1536,2048,3072,4096", one=1024, seed=0)
sizes = [int(size) for size in asked.sizes.split(",")]


def problem(kernel, size):
    return f"m={size},n={size},k={size}{KERNELS[kernel]}"


def searched(kernel, of_sizes):
    """The parameters, and what a search chose for each size."""
    note(f"{kernel}: searches for {', '.join(map(str, of_sizes))}")
    at = (asked.artifact, kernel, asked.device, [problem(kernel, size) for size in of_sizes])
    names, _, chosen = session(*at, "--budget", asked.budget, "--seed", str(asked.seed))
    return names, {size: chosen[problem(kernel, size)] for size in of_sizes}


def measured(kernel, names, found):
    """The times at all sizes of what was found."""
    problems = [problem(kernel, size) for size in sizes]
    times = measure(asked.artifact, kernel, asked.device, problems, names, found.values())
    return {size: times[problem(kernel, size)] for size in sizes}


names, found = searched(PIPELINED, sorted({*sizes, asked.one}))
times = measured(PIPELINED, names, found)
classic_names, classic = searched(CLASSIC, [asked.one])
classic_times = measured(CLASSIC, classic_names, classic)

one = f"values of {asked.one}"
head(["m = n = k", f"one buffer, {one}", one, "values of this size", "gain", "gain over one buffer"])
gains, gains_over_classic = [], []
for size in sizes:
    each = (classic_times[size][classic[asked.one]], times[size][found[asked.one]], times[size][found[size]])
    gains.append(each[1] / each[2] - 1)
    gains_over_classic.append(each[0] / each[2] - 1)
    rates = [f"{2 * size**3 / time / 1e6:.2f}" for time in each]
    row([size, *rates, f"{100 * gains[-1]:+.1f} %", f"{100 * gains_over_classic[-1]:+.1f} %"])
means = [f"{100 * statistics.mean(of):+.1f} %" for of in (gains, gains_over_classic)]
row(["mean", "", "", "", *means])
print()
head(["m = n = k", "values"])
for size, best in found.items():
    row([size, ", ".join(best)])
row([f"{asked.one}, one buffer", ", ".join(classic[asked.one])])
