"""C = (A + B)(A - B) by PyTorch with blocks by hand, on one GPU and on all, with a memory limit for each.

    python peer.py SIZE LIMIT_BYTES [ROUNDS]

Single precision without TF32, from pinned host memory to pinned host memory. Each GPU has a thread with three
streams: to the device, products, and back. A tile of C stays on the device while panels of A and B stream through
two sets of buffers; A + B and A - B are computed for each panel. Tiles are taken from a queue, so that GPUs share
them dynamically. The tile is the largest of SIZE / 1, 2, 3, 4, 6, 8, ... that fits; several depths of panels are
tried and the best counts.
"""

import queue
import statistics
import sys
import threading
import time

try:
    import torch
except ImportError:
    print("peer: PyTorch is not installed", file=sys.stderr)
    sys.exit(0)

size, limit = int(sys.argv[1]), int(sys.argv[2])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
gpus = torch.cuda.device_count()
torch.backends.cuda.matmul.allow_tf32 = False


def need(tile, depth):
    """Bytes: two tiles, and per panel set the parts of A and B for both sides, with two temporaries."""
    return 4 * (2 * tile * tile + 2 * 4 * tile * depth + 2 * tile * depth)


def fitting(depth):
    for parts in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64):
        tile = -(-size // parts)
        # At least one tile for each GPU.
        if parts * parts >= gpus and need(tile, depth) <= limit:
            return tile
    return None


def worker(gpu, tiles, host, tile, depth):
    a, b, c = host
    torch.cuda.set_device(gpu)
    up, compute, down = (torch.cuda.Stream(gpu) for _ in range(3))
    shapes = [(tile, depth), (tile, depth), (depth, tile), (depth, tile)]
    sets = [[torch.empty(shape, device=gpu) for shape in shapes] for _ in range(2)]
    left, right = torch.empty((tile, depth), device=gpu), torch.empty((depth, tile), device=gpu)
    outputs = [torch.empty((tile, tile), device=gpu) for _ in range(2)]
    arrived = [torch.cuda.Event() for _ in range(2)]
    used = [torch.cuda.Event() for _ in range(2)]
    sent = [torch.cuda.Event() for _ in range(2)]
    step = 0
    for count in range(1 << 30):
        try:
            row, column = tiles.get_nowait()
        except queue.Empty:
            break
        rows, columns = min(tile, size - row), min(tile, size - column)
        output = outputs[count % 2][:rows, :columns]
        with torch.cuda.stream(compute):
            compute.wait_event(sent[count % 2])
            output.zero_()
        for k in range(0, size, depth):
            deep = min(depth, size - k)
            at = step % 2
            blocks = sets[at]
            with torch.cuda.stream(up):
                up.wait_event(used[at])
                for position, matrix in ((0, a), (1, b)):
                    blocks[position][:rows, :deep].copy_(
                        matrix[row : row + rows, k : k + deep], non_blocking=True
                    )
                for position, matrix in ((2, a), (3, b)):
                    blocks[position][:deep, :columns].copy_(
                        matrix[k : k + deep, column : column + columns], non_blocking=True
                    )
                arrived[at].record(up)
            with torch.cuda.stream(compute):
                compute.wait_event(arrived[at])
                torch.add(blocks[0][:rows, :deep], blocks[1][:rows, :deep], out=left[:rows, :deep])
                torch.sub(
                    blocks[2][:deep, :columns], blocks[3][:deep, :columns], out=right[:deep, :columns]
                )
                output.addmm_(left[:rows, :deep], right[:deep, :columns])
                used[at].record(compute)
            step += 1
        with torch.cuda.stream(down):
            down.wait_event(used[(step - 1) % 2])
            c[row : row + rows, column : column + columns].copy_(output, non_blocking=True)
            sent[count % 2].record(down)
    torch.cuda.synchronize(gpu)


def run(devices, host, tile, depth):
    tiles = queue.Queue()
    for row in range(0, size, tile):
        for column in range(0, size, tile):
            tiles.put((row, column))
    begin = time.perf_counter()
    threads = [
        threading.Thread(target=worker, args=(gpu, tiles, host, tile, depth)) for gpu in devices
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begin


if gpus == 0:
    print("peer: PyTorch sees no GPU", file=sys.stderr)
    sys.exit(0)
host = [torch.empty((size, size), pin_memory=True) for _ in range(3)]
for matrix, seed in zip(host[:2], (1, 2)):
    matrix.uniform_(-0.5, 0.5, generator=torch.Generator().manual_seed(seed))
work = 2.0 * size**3
for devices in [[0]] + ([list(range(gpus))] if gpus > 1 else []):
    best = None
    for depth in (512, 1024, 2048, 4096):
        depth = min(depth, size)
        tile = fitting(depth)
        if tile is None:
            continue
        run(devices, host, tile, depth)
        seconds = statistics.median(run(devices, host, tile, depth) for _ in range(rounds))
        if best is None or seconds < best[0]:
            best = (seconds, tile, depth)
    if best is None:
        print(f"PyTorch, {size} x {size}: no blocks fit {limit / 1e6:.0f} MB")
        continue
    seconds, tile, depth = best
    print(
        f"PyTorch, {size} x {size}, at most {limit / 1e6:.0f} MB, GPUs {devices}: "
        f"{work / seconds / 1e12:.2f} TFLOPS (tiles of {tile}, panels of {depth})",
        flush=True,
    )
a, b, c = host
rows = torch.arange(0, size, max(1, size // 8))[:8]
right = (a[rows].double() + b[rows].double()) @ (a[:, :8].double() - b[:, :8].double())
error = (c[rows, :8].double() - right).abs().max().item()
print(f"PyTorch: largest error at some places {error:.1e}")
