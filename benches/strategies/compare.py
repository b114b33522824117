"""Runs the strategies of cltune and of Kernel Tuner on recorded spaces and prints Markdown tables.

    compare.py REPEATS SPACE.csv.gz...
    compare.py over-time REPEATS SPACE.csv.gz...

Over time: the score of `simulate --score-over-time`, which scores the runs of both; peers get the same
budget of time, with the recorded times to compile and to run. Strategies whose own time is much longer
than an evaluation (ann, bayes-lin, bayes_opt) are left out.

Otherwise, for one run: after k evaluations (each distinct configuration counts once, failures count) the
fraction of the optimum is the best time of the space over the best found, 0 while nothing has
succeeded, and loss is 1 - fraction. Over runs: mean, and 10th percentile of the fraction. Over spaces: the plain mean,
each space weighing the same.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from peer import read

POINTS = [20, 50, 100, 200]
PEERS = [
    "random_sample",
    "simulated_annealing",
    "genetic_algorithm",
    "pso",
    "diff_evo",
    "bayes_opt",
    "greedy_ils",
    "adaptive_tabu_greywolf",
    "hybrid_vndx",
]
# Ours, and what Kernel Tuner has of the same kind.
PAIRS = [
    ("random", "random_sample"),
    ("annealing", "simulated_annealing"),
    ("genetic", "genetic_algorithm"),
    ("pso", "pso"),
    ("differential-evolution", "diff_evo"),
    ("bayes", "bayes_opt"),
    ("local", "greedy_ils"),
]
OVER_TIME = ["auto", "random", "genetic", "pso", "differential-evolution", "local", "annealing"]
PEERS_OVER_TIME = [
    "adaptive_tabu_greywolf",
    "hybrid_vndx",
    "genetic_algorithm",
    "pso",
    "diff_evo",
    "simulated_annealing",
    "dual_annealing",
    "greedy_ils",
    "random_sample",
]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "release/cargo-cltune")


def simulate(strategy, *arguments):
    command = [PROGRAM, "cltune", "simulate", "--strategy", strategy, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def scores(*arguments):
    """By strategy, what `simulate --score-over-time` says."""
    done = simulate(*arguments, "--score-over-time", "--format", "json")
    if done.returncode != 0:
        sys.exit(done.stderr)
    return {line["strategy"]: line for line in map(json.loads, done.stdout.splitlines())}


def over_time(repeats, spaces):
    budgets = [space["budget_s"] for space in scores("random", "--repeats", "1", *spaces)["random"]["spaces"]]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as runs:
        for space, budget in zip(spaces, budgets):
            command = [sys.executable, os.path.join(HERE, "peer.py"), space, str(repeats), f"{budget}s"]
            done = subprocess.run(command + PEERS_OVER_TIME, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for line in done.stdout.splitlines():
                result = json.loads(line)
                if "error" in result:
                    print(f"{space}: {result['strategy']}: {result['error']}", file=sys.stderr)
                else:
                    print(line, file=runs)
            print(f"{space} done by Kernel Tuner", file=sys.stderr)
        runs.flush()
        strategies = [part for name in OVER_TIME[1:] for part in ("--strategy", name)]
        arguments = ["--repeats", str(repeats), "--runs", runs.name, *strategies, *spaces]
        found = scores(OVER_TIME[0], *arguments)
    names = [space["space"] for space in found["random"]["spaces"]]
    rows = []
    for strategy, of in sorted(found.items(), key=lambda item: -item[1]["score"]["mean"]):
        if len(of["spaces"]) < len(spaces):
            print(f"{strategy} failed on some space and is left out", file=sys.stderr)
            continue
        per_space = [f"{space['score']['mean']:.2f}" for space in of["spaces"]]
        own = sum(space["strategy_s"] for space in of["spaces"]) / sum(budgets)
        name = strategy if strategy.startswith("Kernel Tuner") else f"`{strategy}`"
        rows.append([name, f"{of['score']['mean']:.3f} ({of['score']['deviation']:.3f})", *per_space, f"{100 * own:.2f} %"])
    table(["strategy", "score", *(name.replace("_", " ") for name in names), "own time"], rows)
    table(["space", "budget, s", "evaluations of random search"], [
        [space["space"].replace("_", " "), f"{space['budget_s']:.0f}", str(space["random_evaluations"])]
        for space in found["random"]["spaces"]
    ])


def our_strategies(space):
    """All there are: the answer to a name that no strategy has."""
    listed = re.search(r"there are: ([a-z, -]+)", simulate("?", space).stderr)
    return listed.group(1).split(", ")


def ours(strategy, repeats, spaces):
    """For each space, for each of POINTS, mean and 10th percentile."""
    budget = ["--budget", str(POINTS[-1])]
    done = simulate(strategy, "--repeats", str(repeats), *budget, "--format", "json", *spaces)
    if done.returncode != 0:
        sys.exit(f"{strategy}: {done.stderr}")
    results = json.loads(done.stdout)["spaces"]
    return [[(at["mean"], at["percentile10"]) for at in space["figures"]] for space in results]


def percentile(values, part):
    ordered = sorted(values)
    at = part * (len(ordered) - 1)
    below = ordered[int(at)]
    above = ordered[min(int(at) + 1, len(ordered) - 1)]
    return below + (above - below) * (at - int(at))


def figures(runs, best):
    found = []
    for point in POINTS:
        fractions = []
        for run in runs:
            times = [time for time in run[:point] if time is not None]
            fractions.append(best / min(times) if times else 0.0)
        found.append((sum(fractions) / len(fractions), percentile(fractions, 0.1)))
    return found


def theirs(repeats, spaces):
    """For each strategy what `ours` says of one; those that failed are reported and left out."""
    all_spaces = {strategy: [] for strategy in PEERS}
    for space in spaces:
        _, times, _ = read(space)
        best = min(time for time in times.values() if time is not None)
        command = [sys.executable, os.path.join(HERE, "peer.py"), space, str(repeats), str(POINTS[-1]), *PEERS]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in done.stdout.splitlines():
            result = json.loads(line)
            if "error" in result:
                print(f"{space}: {result['strategy']}: {result['error']}", file=sys.stderr)
            else:
                all_spaces[result["strategy"]].append(figures(result["runs"], best))
    return {name: spaces_of for name, spaces_of in all_spaces.items() if len(spaces_of) == len(spaces)}


def over_spaces(per_space):
    """Losses, then 10th percentiles, each at POINTS."""
    count = len(per_space)
    losses = [1 - sum(space[at][0] for space in per_space) / count for at in range(len(POINTS))]
    low = [sum(space[at][1] for space in per_space) / count for at in range(len(POINTS))]
    return losses, low


def table(header, rows):
    print(f"\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def ratios(our_losses, their_losses):
    return [f"{a / b:.2f}" if b > 0 else "-" for a, b in zip(our_losses, their_losses)]


def main():
    if sys.argv[1] == "over-time":
        return over_time(int(sys.argv[2]), sys.argv[3:])
    repeats, spaces = int(sys.argv[1]), sys.argv[2:]
    names = [f"loss @{point}" for point in POINTS]
    rows = {}
    for strategy in our_strategies(spaces[0]):
        rows[f"`{strategy}`"] = over_spaces(ours(strategy, repeats, spaces))
        print(f"{strategy} done", file=sys.stderr)
    peers = {name: over_spaces(per_space) for name, per_space in theirs(repeats, spaces).items()}
    rows.update({f"Kernel Tuner {name}": result for name, result in peers.items()})
    table(
        ["strategy", *names, *(f"p10 @{point}" for point in POINTS)],
        [
            [name, *(f"{value:.3f}" for value in losses + low)]
            for name, (losses, low) in sorted(rows.items(), key=lambda row: row[1][0][2])
        ],
    )
    least = [min(losses[at] for losses, _ in peers.values()) for at in range(len(POINTS))]
    auto = rows["`auto`"][0]
    compared = [["`auto` over the best of Kernel Tuner at each", *ratios(auto, least)]]
    for strategy, peer in PAIRS:
        if peer in peers:
            compared.append([f"`{strategy}` over {peer}", *ratios(rows[f"`{strategy}`"][0], peers[peer][0])])
    table(["ours over theirs", *names], compared)


if __name__ == "__main__":
    main()
