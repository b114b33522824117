"""Tells what the balance rule of Lin et al. 2025 (equation 8) is worth: the best configuration within and outside.

    cargo cltune -p cltune-kernels --kernel gemm_pipelined
    cargo cltune export -p cltune-kernels --kernel gemm_pipelined --format csv
    python3 benches/gemm/balance.py [--device FIGURES] target/cltune/export/*gemm-pipelined-*.csv

Computing a tile takes as long as copying it where MWG * NWG / (MWG + NWG) is a number that follows from the device's
FIGURES for one compute unit, a clock: fused multiply-adds, bytes of global memory, bytes of local memory. An H200's
are 128,18.4,128 (4.8 TB/s, 132 units, 1980 MHz). Within the rule is what is at most a factor of two from that.
"""

import argparse
import csv
import re

SIZE_OF_FLOAT = 4
WITHIN = 2.0

arguments = argparse.ArgumentParser()
arguments.add_argument("--device", default="128,18.4,128")
arguments.add_argument("files", nargs="+")
arguments = arguments.parse_args()

products, of_global, of_local = (float(figure) for figure in arguments.device.split(","))
# MWG * NWG * KWG / products = KWG * (MWG + NWG) * SIZE_OF_FLOAT * (1 / of_global + 1 / of_local)
balance = products * SIZE_OF_FLOAT * (1 / of_global + 1 / of_local)
print(f"Computing and copying take the same where MWG * NWG / (MWG + NWG) = {balance:.1f}\n")


def times(name):
    """The microseconds of what is within the rule and of what is not."""
    sides = {True: [], False: []}
    with open(name, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["time_ms"]:
                continue
            rows, columns = int(row["MWG"]), int(row["NWG"])
            ratio = rows * columns / (rows + columns) / balance
            sides[1 / WITHIN <= ratio <= WITHIN].append(1e3 * float(row["time_ms"]))
    return sides[True], sides[False]


def best(measured):
    return f"{min(measured):.1f} ({len(measured)} configurations)" if measured else "-"


def size(name):
    return [int(number) for number in re.search(r"-m(\d+)-n(\d+)-k(\d+)", name).groups()]


print("| m x n x k | best within, us | best outside, us |\n|---|---|---|")
for name in sorted(arguments.files, key=size):
    within, outside = times(name)
    print(f"| {' x '.join(map(str, size(name)))} | {best(within)} | {best(outside)} |")
