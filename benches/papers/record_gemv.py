"""Records the space of a matrix-vector product, `blas_gemv`, for `cargo cltune simulate`.

    record_gemv.py --artifact FILE --out SPACE.csv.gz [--device DEVICE] [--budget 100000] [--size 4096]

Configurations are drawn at random, none twice: a budget that is smaller than the space leaves a sample of it.
"""

import csv
import gzip
import math

from sessions import options, session

asked = options(__doc__, budget="100000", size=4096, out="gemv.csv.gz")
problem = f"m={asked.size},n={asked.size},lda={asked.size}"
how = ("--strategy", "random", "--budget", asked.budget)
names, times, _ = session(asked, "cltune_kernels::blas_gemv", [problem], *how)
with gzip.open(asked.out, "wt", encoding="utf-8", newline="") as file:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow([*names, "time_ms"])
    for values, time in times[problem].items():
        rows.writerow([*values, f"{time / 1000:.6g}" if math.isfinite(time) else ""])
