"""Compares cltune's box filter, ray casting and stereo matching with other libraries', in turns, as a table.

    python compare.py IMAGING_PROGRAM [--rounds N] [--pixels N] [--voxels N]

The program is the example `imaging` of cltune-kernels; CLTUNE_DEVICE chooses its device. Where PyTorch has a GPU, the
other library is PyTorch: `avg_pool2d` and `conv2d` for the box filter, absolute differences of shifted pictures under
`avg_pool2d` for the stereo matching, `grid_sample` (nearest) and a cumulative product for the ray casting. Where
OpenCV is installed, it is OpenCV on all cores: `boxFilter` and `StereoBM`. --pixels is the side of the pictures, of
the box filter's twice as many (1024); --voxels that of the volume (512). Stereo matching has windows of 9 x 9 and 64
disparities. --torch DEVICE takes PyTorch there, `cpu` for a look at whether its results are right.
"""

import argparse
import math
import os
import statistics
import subprocess
import tempfile
import time

BATCHES = 5
BATCH_SECONDS = 0.01
SIZE = 5
WINDOW = 9
DISPARITIES = 64

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--pixels", type=int, default=1024)
arguments.add_argument("--voxels", type=int, default=512)
arguments.add_argument("--torch", default="cuda")
arguments = arguments.parse_args()
PIXELS, VOXELS = arguments.pixels, arguments.voxels


def seconds_each(run, wait):
    """The median time of one run, from batches."""

    def batch(count):
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            run()
        wait()
        return (time.perf_counter() - begin) / count

    batch(1)
    count = max(1, min(1000, int(BATCH_SECONDS / batch(1))))
    return statistics.median(batch(count) for _ in range(BATCHES))


def output(*command):
    return subprocess.run([arguments.program, *map(str, command)], check=True, capture_output=True, text=True).stdout


def good(found, known):
    """The part of the disparities that are within one of the known ones."""
    return sum(abs(int(a) - int(b)) <= 1 for a, b in zip(found, known)) / len(known)


def pictures(folder):
    files = [open(os.path.join(folder, name), "rb") for name in ("left", "right", "known")]
    contents = [file.read() for file in files]
    for file in files:
        file.close()
    return contents


def opencv(folder):
    import cv2
    import numpy

    name = f"OpenCV {cv2.__version__}"
    picture = numpy.random.default_rng(0).random((2 * PIXELS, 2 * PIXELS), dtype=numpy.float32)
    result = numpy.empty_like(picture)
    blur = lambda: cv2.boxFilter(picture, -1, (SIZE, SIZE), result, borderType=cv2.BORDER_REPLICATE)
    left, right, known = pictures(folder)
    left, right = (numpy.frombuffer(of, numpy.uint8).reshape(PIXELS, PIXELS) for of in (left, right))
    # Its filters would make a comparison of other work: no normalisation, no rejection of weak matches.
    matcher = cv2.StereoBM.create(DISPARITIES, WINDOW)
    matcher.setPreFilterCap(63)
    matcher.setTextureThreshold(0)
    matcher.setUniquenessRatio(0)
    match = lambda: matcher.compute(left, right)
    # Sixteenths of a pixel.
    print(f"{name} finds {good(match().ravel() / 16, known):.1%} of the known disparities")
    nothing = lambda: None
    yield "box filter", f"{name} boxFilter", lambda: seconds_each(blur, nothing)
    yield "stereo matching", f"{name} StereoBM", lambda: seconds_each(match, nothing)


def pytorch(folder):
    import torch

    device = torch.device(arguments.torch)
    is_gpu = device.type == "cuda"
    if is_gpu and not torch.cuda.is_available():
        return
    functional = torch.nn.functional
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    wait = torch.cuda.synchronize if is_gpu else lambda: None
    timed = lambda run: lambda: seconds_each(run, wait)
    name = f"PyTorch {torch.__version__}"

    picture = torch.rand(1, 1, 2 * PIXELS, 2 * PIXELS, device=device)
    weights = torch.full((1, 1, SIZE, SIZE), 1 / SIZE**2, device=device)
    pool = lambda: functional.avg_pool2d(picture, SIZE, 1, SIZE // 2)
    yield "box filter", f"{name} avg_pool2d", timed(pool)
    convolve = lambda: functional.conv2d(picture, weights, padding=SIZE // 2)
    yield "box filter", f"{name} conv2d", timed(convolve)

    left, right, known = pictures(folder)
    as_floats = lambda of: torch.tensor(list(of), dtype=torch.float32, device=device).reshape(PIXELS, PIXELS)
    left, right = as_floats(left), as_floats(right)
    # Beyond the left edge there is the nearest pixel.
    padded = functional.pad(right[None, None], (DISPARITIES - 1, 0, 0, 0), mode="replicate")[0, 0]

    def match():
        shifted = padded.unfold(1, PIXELS, 1).flip(1).permute(1, 0, 2)
        return functional.avg_pool2d((left - shifted).abs()[:, None], WINDOW, 1, WINDOW // 2).argmin(0)

    print(f"{name} finds {good(match().flatten().tolist(), known):.1%} of the known disparities")
    yield "stereo matching", f"{name} avg_pool2d", timed(match)

    with open(os.path.join(folder, "phantom"), "rb") as file:
        volume = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).to(device)
    volume = volume.reshape(1, 1, VOXELS, VOXELS, VOXELS).float()
    table = (torch.arange(256, device=device) * 1e-5)[:, None].repeat(1, 4)
    yaw, pitch = 0.6, 0.2
    diagonal = math.sqrt(3) * VOXELS
    vector = lambda *of: torch.tensor(of, dtype=torch.float32, device=device)
    right_of = vector(math.cos(yaw), 0, -math.sin(yaw))
    away = vector(math.cos(pitch) * math.sin(yaw), math.sin(pitch), math.cos(pitch) * math.cos(yaw))
    below = vector(-math.sin(pitch) * math.sin(yaw), math.cos(pitch), -math.sin(pitch) * math.cos(yaw))
    at = (torch.arange(PIXELS, device=device) - (PIXELS - 1) / 2) * (diagonal / PIXELS)
    start = at[:, None, None] * below + at[None, :, None] * right_of - diagonal / 2 * away
    steps = math.ceil(diagonal)
    # As many samples of all rays at once as take about a gigabyte.
    block = max(1, 2**26 // PIXELS**2)

    def cast():
        colour = torch.zeros(PIXELS, PIXELS, 4, device=device)
        transparency = torch.ones(PIXELS, PIXELS, device=device)
        for first in range(0, steps, block):
            numbers = torch.arange(first, min(first + block, steps), device=device)
            grid = (start[None] + numbers[:, None, None, None] * away) * (2 / VOXELS)
            found = functional.grid_sample(volume, grid[None], mode="nearest", align_corners=False)[0, 0]
            samples = table[found.long()]
            through = torch.cumprod(1 - samples[..., 3], 0)
            before = torch.cat([torch.ones_like(through[:1]), through[:-1]]) * transparency
            colour += (before[..., None] * samples).sum(0)
            transparency *= through[-1]
        return colour

    yield "ray casting", f"{name} grid_sample", timed(cast)


with tempfile.TemporaryDirectory() as folder:
    output("pair", PIXELS, PIXELS, folder)
    output("phantom", VOXELS, folder)
    peers = []
    for peer in (opencv, pytorch):
        try:
            peers.extend(peer(folder))
        except ImportError:
            continue
    ours = {
        "box filter": (f"{2 * PIXELS} x {2 * PIXELS}, {SIZE} x {SIZE}", ("box", 2 * PIXELS, 2 * PIXELS, SIZE)),
        "stereo matching": (
            f"{PIXELS} x {PIXELS}, {WINDOW} x {WINDOW}, {DISPARITIES}",
            ("stereo", PIXELS, PIXELS, WINDOW, DISPARITIES),
        ),
        "ray casting": (f"{PIXELS} x {PIXELS} of {VOXELS}^3", ("raycast", PIXELS, VOXELS)),
    }
    print("| kernel | problem | cltune us | peer | peer us | peer / cltune |\n|---|---|---|---|---|---|")
    for kernel, (problem, command) in ours.items():
        mine = [peer for peer in peers if peer[0] == kernel]
        times = [[] for _ in range(1 + len(mine))]
        for _ in range(arguments.rounds):
            times[0].append(float(output("time", *command)))
            for peer, column in zip(mine, times[1:]):
                column.append(peer[2]() * 1e6)
        us, *others = (statistics.median(column) for column in times)
        for peer, other in zip(mine, others):
            print(f"| {kernel} | {problem} | {us:.1f} | {peer[1]} | {other:.1f} | {other / us:.2f} |", flush=True)
        if not mine:
            print(f"| {kernel} | {problem} | {us:.1f} | none | | |", flush=True)
