"""Measures cltune and its peers on definitions of spaces and prints a Markdown table.

    compare.py REPEATS DEFINITION.json...

Each build is a process of its own; a peer that takes more than LIMIT_SECONDS or LIMIT_BYTES once is
not repeated.
"""
import json
import os
import resource
import statistics
import subprocess
import sys

LIMIT_SECONDS = 40
LIMIT_BYTES = 10 << 30
HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = ["kernel-tuner", "pyatf"]


def command(tool, file):
    if tool == "cltune":
        program = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release/cargo-cltune")
        return [program, "cltune", "space", file, "--sample", "1", "--format", "json"]
    return [sys.executable, os.path.join(HERE, "peer.py"), tool, file]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def measure(tool, file, repeats):
    results = []
    for _ in range(repeats):
        try:
            done = subprocess.run(
                command(tool, file),
                capture_output=True,
                timeout=LIMIT_SECONDS,
                preexec_fn=limit_memory,
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0:
            print(f"{tool} {file}: {done.stderr.decode()[-200:]}", file=sys.stderr)
            return None
        results.append(json.loads(done.stdout.splitlines()[-1]))
    return {key: statistics.median(r[key] for r in results) for key in ("valid", "build_seconds", "peak_bytes")}


def cell(result, expected):
    if result is None:
        return "gave up"
    wrong = "" if result["valid"] == expected else f" (counts {int(result['valid'])})"
    return f"{result['build_seconds'] * 1e3:.2f} / {result['peak_bytes'] / 1e6:.0f}{wrong}"


def main():
    repeats = int(sys.argv[1])
    print("| space | valid | cltune | Kernel Tuner | pyATF | faster peer over cltune |")
    print("|---|---|---|---|---|---|")
    for file in sys.argv[2:]:
        with open(file) as opened:
            definition = json.load(opened)
        ours = measure("cltune", file, repeats)
        peers = [measure(tool, file, repeats) for tool in PEERS]
        right = [p for p in peers if p is not None and p["valid"] == definition["valid_count"]]
        ratio = "-"
        if right and ours:
            ratio = f"{min(p['build_seconds'] for p in right) / ours['build_seconds']:.1f}"
        cells = [cell(result, definition["valid_count"]) for result in [ours, *peers]]
        print(f"| {definition['name']} | {definition['valid_count']:.4g} | {' | '.join(cells)} | {ratio} |", flush=True)


main()
