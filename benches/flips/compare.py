"""How often another comparison of the same configurations chooses another one, beside the predicted flip rates.

    python3 benches/flips/compare.py CARGO_CLTUNE ARTIFACT SESSIONS BUDGET [OPTION of tune...]

A search finds configurations to compare; sessions that have only these then compare them again and again. In the
current folder, to which journals are written. The options name the device, the kernel and the problem.
"""

import collections
import itertools
import json
import pathlib
import statistics
import subprocess
import sys


def tune(command, options):
    """The message that ends a session."""
    command = [*command, *options, "--message-format", "json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in output.splitlines()]
    return next(message for message in messages if message["reason"] == "finished")


def journal():
    """The first and the last line of the journal of the session that just ended."""
    newest = max(pathlib.Path().glob("**/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
    lines = newest.read_text().splitlines()
    return json.loads(lines[0]), json.loads(lines[-1])


def only(names, finalists):
    """The constraint that leaves these configurations."""
    def of(name, value):
        if isinstance(value, bool):
            return name if value else f"!{name}"
        return f'{name} == "{value}"' if isinstance(value, str) else f"{name} == {value}"

    each = [" && ".join(of(*part) for part in zip(names, finalist["values"])) for finalist in finalists]
    return " || ".join(f"({one})" for one in each)


def main():
    program, artifact, sessions, budget, *options = sys.argv[1:]
    command = [program, "cltune", "tune", "--artifact", artifact, "--lockfile", "cltune.lock", "--fresh",
               "--no-warm-start", "--soundness", "off", *options]
    tune(command, ["--budget", budget])
    head, end = journal()
    again = ["--strategy", "full", "--constraint", only(head["params"], end["finalists"])]
    choices, predicted, regrets, sampled = [], [], [], []
    for _ in range(int(sessions)):
        finished = tune(command, again)
        _, end = journal()
        choices.append(tuple(finished["values"]))
        sampled.append({tuple(of["values"]): of["samples_us"] for of in end["finalists"]})
        predicted.append(finished["flip_rate"])
        regrets.append(finished["regret"])
        print(f"{finished['time_us']:.2f} us, flip rate {100 * finished['flip_rate']:.1f} %, {finished['values']}",
              flush=True)
    medians = [{values: statistics.median(times) for values, times in of.items()} for of in sampled]
    # Sessions that compared the same two: one that first measured the other's choice far too slow has not.
    pairs = [(a, b) for a, b in itertools.permutations(range(len(choices)), 2)
             if choices[b] in medians[a] and choices[a] in medians[b]]
    flips = [choices[a] != choices[b] for a, b in pairs]
    costs = [max(0, medians[a][choices[b]] / medians[a][choices[a]] - 1) for a, b in pairs]
    print(f"{len(choices)} sessions, {len(set(choices))} choices; {len(pairs)} of {len(choices) * (len(choices) - 1)} "
          f"pairs compared each other's")
    print(f"another choice in {100 * statistics.mean(flips):.1f} % of these pairs; flip rates predicted "
          f"{100 * statistics.mean(predicted):.1f} %")
    print(f"the other's choice takes {100 * statistics.mean(costs):.2f} % more; regrets predicted "
          f"{100 * statistics.mean(regrets):.2f} %")
    apart(choices, sampled)


def difference(first, second):
    """By how much the second takes longer, of medians."""
    return statistics.median(second) / statistics.median(first) - 1


def apart(choices, sampled):
    """By how much the two that were chosen most differ, from session to session and within one."""
    most = [values for values, _ in collections.Counter(choices).most_common(2)]
    both = [[of[values] for values in most] for of in sampled if all(values in of for values in most)]
    if len(most) < 2 or len(both) < 2:
        return
    between, within = [], []
    for first, second in both:
        half = len(first) // 2
        between.append(difference(first, second))
        within.append((difference(first[:half], second[:half]) - difference(first[half:], second[half:])) / 2)
    print(f"the two that were chosen most differ by {100 * statistics.mean(between):.2f} %, with a standard deviation of "
          f"{100 * statistics.stdev(between):.2f} % between sessions; halves of a session's rounds say "
          f"{100 * statistics.pstdev(within, 0):.2f} %")


main()
