"""Tables of what tuning found and what it gained over the default, from a lockfile.

    python3 benches/values/table.py kernels/cltune.lock [PART-OF-KERNEL]...

One table for each device; times in microseconds, of the kernel alone.
"""

import sys
import tomllib

with open(sys.argv[1], "rb") as file:
    lockfile = tomllib.load(file)
wanted = sys.argv[2:]


def size(problem):
    """`2048`, `4096 x 128 x 4096`, or names with values where a problem is no product."""
    if set(problem) == {"m", "n", "k"}:
        sides = [problem["m"], problem["n"], problem["k"]]
        return str(sides[0]) if len(set(sides)) == 1 else " x ".join(map(str, sides))
    return ", ".join(f"{name} {value}" for name, value in problem.items())


def time(micros):
    return f"{micros:.3g}" if micros < 100 else f"{micros:.0f}"


for device in lockfile["device"]:
    rows = []
    for kernel in lockfile["kernel"]:
        name = kernel["name"].split("::")[-1]
        if wanted and not any(part in name for part in wanted):
            continue
        entries = [entry for entry in kernel["tuned"] if entry["device"] == device["id"]]
        entries.sort(key=lambda entry: list(entry["problem"].values()))
        for entry in entries:
            default = entry.get("default_us")
            gained = f"{default / entry['time_us']:.1f}x" if default else "-"
            values = ", ".join(str(value).lower() for value in entry["values"])
            rows.append([
                f"`{name}`", size(entry["problem"]), time(default) if default else "-",
                time(entry["time_us"]), gained, values,
            ])
    if not rows:
        continue
    print(f"{device['name']} ({device['platform']}), driver {device['driver']}\n")
    print("| kernel | problem | default | tuned | gained | values |\n|---|---|---|---|---|---|")
    previous = None
    for row in rows:
        kernel = "" if row[0] == previous else row[0]
        previous = row[0]
        print("| " + " | ".join([kernel] + row[1:]) + " |")
    print()
