"""Kernel Tuner on cltune's classic matrix multiplication: how long a number of random configurations
takes, without verification.

    python kernel_tuner_peer.py KERNEL.cl SIZE COUNT PLATFORM

PLATFORM is a part of an OpenCL platform's name. Prints one JSON object.
"""

import json
import sys
import time

import numpy
import pyopencl
from kernel_tuner import tune_kernel

BEGIN = time.perf_counter()
kernel, size, count, name = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

parameters = {
    "MWG": [16, 32, 64, 128],
    "NWG": [16, 32, 64, 128],
    "KWG": [16, 32],
    "MDIMC": [8, 16, 32],
    "NDIMC": [8, 16, 32],
    "MDIMA": [8, 16, 32],
    "NDIMB": [8, 16, 32],
    "KWI": [2, 8],
    "VWM": [1, 2, 4, 8],
    "VWN": [1, 2, 4, 8],
    "STRM": [0, 1],
    "STRN": [0, 1],
    "SA": [0, 1],
    "SB": [0, 1],
}
restrictions = [
    "KWG % KWI == 0",
    "MWG % (MDIMC * VWM) == 0",
    "NWG % (NDIMC * VWN) == 0",
    "MWG % (MDIMA * VWM) == 0",
    "NWG % (NDIMB * VWN) == 0",
    "KWG % ((MDIMC * NDIMC) // MDIMA) == 0",
    "KWG % ((MDIMC * NDIMC) // NDIMB) == 0",
    "MDIMC * NDIMC <= 1024",
]

names = [platform.name for platform in pyopencl.get_platforms()]
platform = next(i for i, found in enumerate(names) if name.lower() in found.lower())
draw = numpy.random.default_rng(1)
matrix = lambda: draw.uniform(-1, 1, size * size).astype(numpy.float32)
side = numpy.int32(size)
arguments = [side, side, side, matrix(), matrix(), numpy.zeros(size * size, numpy.float32)]
results, _ = tune_kernel(
    "gemm_classic",
    kernel,
    (size, size),
    arguments,
    parameters,
    grid_div_x=["MWG"],
    grid_div_y=["NWG"],
    block_size_names=["MDIMC", "NDIMC", "unused"],
    restrictions=restrictions,
    lang="OpenCL",
    platform=platform,
    strategy="random_sample",
    strategy_options={"max_fevals": count},
    quiet=True,
    verbose=False,
)
times = [result["time"] for result in results if isinstance(result["time"], (int, float))]
print(
    json.dumps(
        {
            "seconds": time.perf_counter() - BEGIN,
            "configurations": len(results),
            "best_us": 1e3 * min(times) if times else None,
        }
    )
)
