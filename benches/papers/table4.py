"""The best parameters of CLTune's four devices (table IV) on another device: `gemm_classic`, which has them.

    table4.py --artifact FILE [--device DEVICE] [--budget 300] [--size 2048] [--found FILE.json]

A search on the device finds the device's own best; then one session measures it with the four published ones.
"""

import math

from sessions import head, measure, only, options, row, searched

KERNEL = "cltune_kernels::gemm_classic"
# Nugteren & Codreanu 2015, table IV, in the order of the tunable's parameters.
PUBLISHED = {
    "Tesla K40m": (128, 128, 16, 16, 16, 32, 16, 8, 2, 1, 1, 0, 1, 1),
    "GeForce GTX480": (64, 64, 32, 8, 16, 32, 32, 8, 2, 2, 1, 0, 1, 1),
    "Radeon HD7970": (128, 128, 32, 16, 16, 32, 32, 2, 4, 4, 0, 1, 1, 1),
    "Iris 5100": (64, 64, 16, 8, 8, 8, 16, 8, 4, 4, 1, 1, 1, 1),
}

asked = options(__doc__, budget="300", size=2048, seed=0, found="")
problem = f"m={asked.size},n={asked.size},k={asked.size}"
names, found = searched(asked, KERNEL, [problem])
bests = {"this device": found[problem]}
bests |= {device: tuple(map(str, values)) for device, values in PUBLISHED.items()}
times = measure(asked, KERNEL, [problem], only(names, bests.values()))[problem]
own = times[found[problem]]
head(["best of", *names, "us", "of this device's rate"])
for device, best in bests.items():
    time = times.get(best, math.inf)
    reached = [f"{time:.1f}", f"{100 * own / time:.0f} %"] if math.isfinite(time) else ["fails", "-"]
    row([device, *best, *reached])
