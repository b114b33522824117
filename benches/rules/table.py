#!/usr/bin/env python3
"""What each part of the selection rule is worth: tables for BENCHMARKS.md.

    cargo cltune rules --message-format json > DEVICE.json    # on each device
    benches/rules/table.py DEVICE.json ...

The first table has a row for each kernel and device, and one for all kernels: the geometric mean over the problems of
which part of the fastest time each rule gives. The second has what the values of every device (columns) do on every other.
"""

import json
import math
import sys
from collections import defaultdict

RULES = [
    "this-problem",
    "other-problem",
    "similar-device",
    "database",
    "database-similar-device",
    "default",
    "first-valid",
]
# What a configuration that fails counts as: the program would get the next rule's.
FAILED = None


def messages(files):
    """The `rule` messages of all files; of the same device, kernel and problem the last file's."""
    found = {}
    for file in files:
        runs = defaultdict(list)
        with open(file) as lines:
            for line in lines:
                if line.startswith("{"):
                    message = json.loads(line)
                    if message["reason"] == "rule":
                        key = (message["kernel"], message["device"], str(message["problem"]))
                        runs[key].append(message)
        found.update(runs)
    return found


def mean(fractions):
    """`84 %`: the geometric mean of those that ran; how many did not."""
    ran = [fraction for fraction in fractions if fraction is not FAILED]
    failed = len(fractions) - len(ran)
    if not ran:
        return "-" if not fractions else "fails"
    percent = 100 * math.exp(sum(map(math.log, ran)) / len(ran))
    return f"{percent:.0f} %" + (f" ({failed} fail)" if failed else "")


def row(cells):
    print("| " + " | ".join(cells) + " |")


def head(cells):
    row(cells)
    print("|" + "---|" * len(cells))


def main():
    runs = messages(sys.argv[1:])
    by_rule, by_source, chosen = defaultdict(list), defaultdict(list), {}
    devices, kernels = [], []
    for (kernel, device, _), rows in runs.items():
        if device not in devices:
            devices.append(device)
        if kernel not in kernels:
            kernels.append(kernel)
        for message in rows:
            if message["rule"]:
                by_rule[kernel, device, message["rule"]].append(message["fraction"])
            if message["rule"] == "similar-device":
                chosen[kernel, device] = message["tuned_on"]
            if message["tuned_on"] and message["rule"] != "other-problem":
                by_source[kernel, device, message["tuned_on"]].append(message["fraction"])
    head(["kernel", "device", *RULES, "the most similar device"])
    for kernel in kernels:
        for device in devices:
            cells = [mean(by_rule[kernel, device, rule]) for rule in RULES]
            row([kernel, device, *cells, chosen.get((kernel, device), "none")])
    for device in devices:
        over_all = [[part for kernel in kernels for part in by_rule[kernel, device, rule]] for rule in RULES]
        row(["all", device, *map(mean, over_all), ""])
    for kernel in kernels:
        print()
        head([f"{kernel} on", *(f"values of {device}" for device in devices)])
        for device in devices:
            row([device, *(mean(by_source[kernel, device, source]) for source in devices)])


if __name__ == "__main__":
    main()
