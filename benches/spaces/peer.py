"""Builds one space with a peer, as its user would, and prints one JSON object.

    peer.py kernel-tuner|pyatf DEFINITION.json

Time: from parameters and restrictions to a space that knows its size. Peak memory: of the process.
"""
import ast
import json
import resource
import sys
import time


def values(parameter):
    if "values" in parameter:
        return list(parameter["values"])
    first, last, step = parameter["range"]
    return list(range(first, last + 1, step))


def kernel_tuner(definition):
    from kernel_tuner.searchspace import Searchspace

    parameters = {p["name"]: values(p) for p in definition["parameters"]}
    restrictions = list(definition["restrictions"])
    start = time.perf_counter()
    # The limit on threads per block is part of the definitions' restrictions where it applies.
    space = Searchspace(parameters, restrictions, max_threads=sys.maxsize)
    return space.size, time.perf_counter() - start


def pyatf(definition):
    from pyatf import TP, Interval, Set
    from pyatf.search_space import SearchSpace

    order = [p["name"] for p in definition["parameters"]]
    # A constraint belongs to the last of its parameters.
    of = {name: [] for name in order}
    for text in definition["restrictions"]:
        named = {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
        of[max(named, key=order.index)].append((text, named))
    start = time.perf_counter()
    parameters = []
    for parameter in definition["parameters"]:
        name = parameter["name"]
        domain = Interval(*parameter["range"]) if "range" in parameter else Set(*parameter["values"])
        constraint = None
        if of[name]:
            named = set().union(*(n for _, n in of[name])) | {name}
            body = " and ".join(f"({text})" for text, _ in of[name])
            constraint = eval(f"lambda {', '.join(sorted(named))}: {body}")
        parameters.append(TP(name, domain, constraint))
    space = SearchSpace(*parameters, verbosity=0)
    return space.constrained_size, time.perf_counter() - start


def main():
    with open(sys.argv[2]) as file:
        definition = json.load(file)
    build = {"kernel-tuner": kernel_tuner, "pyatf": pyatf}[sys.argv[1]]
    valid, seconds = build(definition)
    # Linux counts in KiB.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"valid": valid, "build_seconds": seconds, "peak_bytes": peak}))


main()
