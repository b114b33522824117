"""Compares cltune's 2D convolution with another library's, in turns, as a table.

    python compare.py CONV2D_PROGRAM PEAKS_PROGRAM [--rounds N] [--csv FILE] [WIDTHxHEIGHT...]

The programs are the examples `conv2d` and `peaks` of cltune-kernels; CLTUNE_DEVICE chooses their device.
The other library is cuDNN through PyTorch, in single precision without TF32, where PyTorch has a GPU, else
OpenCV on all cores. A second table has weights that are the products of a column and a row, which cltune finds
out itself; the other library does them as any weights, and as the column and the row. --csv adds a line for each size
to FILE, for benches/roofline/plot.py.
"""

import argparse
import statistics
import subprocess
import time

BATCHES = 5
BATCH_SECONDS = 0.01

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("peaks")
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--csv")
arguments.add_argument("sizes", nargs="*", default=["2048x2048"])
# Intermixed: options may stand between the programs and the sizes.
arguments = arguments.parse_intermixed_args()


def seconds_each(run, wait):
    """The median time of one run, from batches."""

    def batch(count):
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            run()
        wait()
        return (time.perf_counter() - begin) / count

    batch(3)
    count = max(1, min(1000, int(BATCH_SECONDS / batch(1))))
    return statistics.median(batch(count) for _ in range(BATCHES))


def cudnn():
    import torch

    if not torch.cuda.is_available():
        return None
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True

    def prepare(width, height, size):
        picture = torch.rand(1, 1, height, width, device="cuda")
        weights = torch.rand(1, 1, size, size, device="cuda")
        convolve = torch.nn.functional.conv2d
        run = lambda: convolve(picture, weights, padding=size // 2)
        return lambda: seconds_each(run, torch.cuda.synchronize)

    def prepare_separable(width, height, size):
        picture = torch.rand(1, 1, height, width, device="cuda")
        column = torch.rand(1, 1, size, 1, device="cuda")
        row = torch.rand(1, 1, 1, size, device="cuda")
        convolve = torch.nn.functional.conv2d
        half = size // 2
        run = lambda: convolve(convolve(picture, row, padding=(0, half)), column, padding=(half, 0))
        return lambda: seconds_each(run, torch.cuda.synchronize)

    return f"cuDNN {torch.backends.cudnn.version()}", prepare, prepare_separable


def opencv():
    import cv2
    import numpy

    def prepare(width, height, size):
        random = numpy.random.default_rng(0)
        picture = random.random((height, width), dtype=numpy.float32)
        weights = random.random((size, size), dtype=numpy.float32)
        result = numpy.empty_like(picture)
        run = lambda: cv2.filter2D(picture, -1, weights, result, borderType=cv2.BORDER_CONSTANT)
        return lambda: seconds_each(run, lambda: None)

    def prepare_separable(width, height, size):
        random = numpy.random.default_rng(0)
        picture = random.random((height, width), dtype=numpy.float32)
        column, row = (random.random(size, dtype=numpy.float32) for _ in range(2))
        result = numpy.empty_like(picture)
        run = lambda: cv2.sepFilter2D(picture, -1, row, column, result, borderType=cv2.BORDER_CONSTANT)
        return lambda: seconds_each(run, lambda: None)

    return f"OpenCV {cv2.__version__}", prepare, prepare_separable


def first_peer():
    for peer in (cudnn, opencv):
        try:
            found = peer()
        except ImportError:
            continue
        if found:
            return found
    raise SystemExit("compare.py: neither PyTorch with a GPU nor OpenCV is installed")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


measured = dict(line.split() for line in output(arguments.peaks).splitlines())
peak_gflops, peak_gbs = float(measured["peak_gflops"]), float(measured["peak_gbs"])
name, prepare, prepare_separable = first_peer()
print(f"measured at most: {peak_gflops:.0f} GFLOPS, {peak_gbs:.0f} GB/s\n")
print(f"| picture | filter | cltune us | {name} us | {name} / cltune | GFLOPS | of peak | GB/s | of peak |")
print("|---|---|---|---|---|---|---|---|---|")
lines = []
for picture in arguments.sizes:
    width, height = (int(number) for number in picture.split("x"))
    for size in (3, 7, 11):
        peer = prepare(width, height, size)
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            ours.append(float(output(arguments.program, "time", str(width), str(height), str(size))))
            theirs.append(peer() * 1e6)
        us, peer_us = statistics.median(ours), statistics.median(theirs)
        gflops = 2 * size * size * width * height / us / 1e3
        gbs = 8 * width * height / us / 1e3
        print(
            f"| {width} x {height} | {size} x {size} | {us:.1f} | {peer_us:.1f} | {peer_us / us:.2f} "
            f"| {gflops:.0f} | {gflops / peak_gflops:.0%} | {gbs:.0f} | {gbs / peak_gbs:.0%} |",
            flush=True,
        )
        intensity = 2 * size * size / 8
        label = f"{size}x{size} on {width}x{height}"
        lines.append(f"conv2d,{label},{gflops:.1f},{intensity},{peak_gflops},{peak_gbs}")

print("\nWeights that are the products of a column and a row:\n")
print(f"| picture | filter | cltune us | {name}, any weights, us | / cltune | {name}, column and row, us | / cltune |")
print("|---|---|---|---|---|---|---|")
for picture in arguments.sizes:
    width, height = picture.split("x")
    for size in (3, 7, 11):
        peers = [each(int(width), int(height), size) for each in (prepare, prepare_separable)]
        ours, theirs = [], ([], [])
        for _ in range(arguments.rounds):
            ours.append(float(output(arguments.program, "time", width, height, str(size), "separable")))
            for peer, times in zip(peers, theirs):
                times.append(peer() * 1e6)
        us = statistics.median(ours)
        cells = [f"{statistics.median(times):.1f} | {statistics.median(times) / us:.2f}" for times in theirs]
        print(f"| {width} x {height} | {size} x {size} | {us:.1f} | {' | '.join(cells)} |", flush=True)
if arguments.csv:
    with open(arguments.csv, "a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write("kernel,size,gflops,intensity,peak_gflops,peak_gbs\n")
        file.writelines(line + "\n" for line in lines)
