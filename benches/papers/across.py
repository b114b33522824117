"""The best configuration of each device on the other ones: CLTune's table IV with its text, Falch & Elster's figure 1.

    across.py SPACE.csv.gz SPACE.csv.gz...
    across.py ARTIFACT KERNEL DEVICE:PROBLEM:FILE.csv DEVICE:PROBLEM:FILE.csv...

The first form takes recordings of whole spaces of one kernel or of several (those with the same parameters are of the
same kernel), and measures nothing. The first table of each kernel has the best configuration of each recording. A cell
of the second one has which part of the rate of a recording's own best the best of the other recording reaches there.

In the second form ARTIFACT is a program with the kernels, such as the example `imaging` of cltune-kernels, built with
`--features cltune/offline`. KERNEL is the tunable, such as `imaging_box`; DEVICE what `--device` of `cargo cltune`
takes, PROBLEM what `--problem` takes, and FILE.csv what `scripts/bench networks record` recorded of the kernel there.
On each device one session measures the best of all recordings. A cell says how many times as long as the device's own
best the one of the other device takes.
"""

import argparse
import math
import os
import sys

from sessions import head, measure, only, recorded, row


def best(times):
    return min(times, key=times.get)


def matrix(corner, devices, bests, times_on, cell):
    """A row for each device and a column for the best of each."""
    head([corner, *(f"best of {device}" for device in devices)])
    for position, device in enumerate(devices):
        times = times_on(position)
        own = times.get(bests[position], math.inf)
        if own == math.inf:
            sys.exit(f"the best that {device} had does not run there any more: record it again")
        others = (times.get(one, math.inf) for one in bests)
        row([device, *(cell(other / own) if math.isfinite(other) else "fails" for other in others)])


def from_recordings(paths):
    kernels = {}
    for path in paths:
        names, times = recorded(path)
        device = os.path.basename(path).split(".")[0]
        kernels.setdefault(tuple(names), []).append((device, times))
    for names, recordings in kernels.items():
        devices = [device for device, _ in recordings]
        bests = [best(times) for _, times in recordings]
        # A parameter with one value has no say.
        varied = [at for at in range(len(names)) if any(len({one[at] for one in times}) > 1 for _, times in recordings)]
        head(["", *(names[at] for at in varied), "ms"])
        for (device, times), one in zip(recordings, bests):
            row([device, *(one[at] for at in varied), f"{times[one]:.4g}"])
        print()
        matrix("on", devices, bests, lambda position: recordings[position][1], lambda ratio: f"{100 / ratio:.1f} %")
        print()


def on_devices(artifact, kernel, recordings):
    recordings = [recording.split(":") for recording in recordings]
    devices = [device for device, _, _ in recordings]
    spaces = [recorded(path) for _, _, path in recordings]
    names = spaces[0][0]
    bests = [best(times) for _, times in spaces]

    def times_on(position):
        device, problem, _ = recordings[position]
        asked = argparse.Namespace(artifact=artifact, device=device)
        return measure(asked, kernel, [problem], only(names, bests))[problem]

    matrix(f"{kernel} on", devices, bests, times_on, lambda ratio: f"{ratio:.2f}")


if any(":" in argument for argument in sys.argv[1:]):
    on_devices(sys.argv[1], sys.argv[2], sys.argv[3:])
else:
    from_recordings(sys.argv[1:])
