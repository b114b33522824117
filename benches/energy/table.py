"""The winners by time, by energy and by their product, with what each takes.

    python3 benches/energy/table.py FOLDER

Reads what `cargo cltune tune --message-format json` wrote with each objective: `time.jsonl`, `energy.jsonl` and
`energy-delay.jsonl`. The winner by time was tuned without its energy, which is that of the search by energy, where the
same configuration was measured once more. Of several devices there is a table for each.
"""

import json
import pathlib
import sys

OBJECTIVES = ("time", "energy", "energy-delay")


def messages(folder, objective):
    """The messages of a session, by their reason."""
    by_reason = {}
    for line in (folder / f"{objective}.jsonl").read_text().splitlines():
        message = json.loads(line)
        by_reason.setdefault(message["reason"], []).append(message)
    return by_reason


def measured(sessions, device, values):
    """The energy of a configuration as it was first measured in a search, where it was."""
    for objective in OBJECTIVES[1:]:
        for message in sessions[objective].get("configuration", []):
            if message["device"] == device and message["values"] == values and "energy" in message:
                return message["energy"]
    return None


def part(value):
    """A part as a percentage."""
    return "-" if value is None else f"{100 * value:.2f} %"


def main():
    folder = pathlib.Path(sys.argv[1])
    sessions = {objective: messages(folder, objective) for objective in OBJECTIVES}
    for idle in sessions["energy"]["idle-power"]:
        device = idle["device"]
        print(f"{device}: idle power {idle['watts']:.2f} W, {idle['source']}, "
              f"which advances every {1000 * idle['period_s']:.1f} ms or more often")
        print(f"{'objective':>13} {'time us':>11} {'energy mJ':>11} {'mJ ms':>11} {'power W':>8} {'launches':>9} "
              f"{'error':>7} {'spread':>7} {'flips':>7} {'evaluated':>9}  configuration")
        for objective in OBJECTIVES:
            for end in sessions[objective].get("finished", []):
                if end["device"] != device:
                    continue
                first = measured(sessions, device, end["values"])
                joules = end["energy_j"] or (first and first["joules"])
                time_us = end["time_us"]
                energy = ["-", "-", "-"]
                if joules:
                    product = joules * time_us
                    energy = [f"{1000 * joules:.4f}", f"{product:.4f}", f"{1e6 * joules / time_us:.1f}"]
                launches, error = (first["launches"], first["uncertainty"]) if first else ("-", None)
                print(f"{objective:>13} {time_us:>11.3f} {energy[0]:>11} {energy[1]:>11} {energy[2]:>8} {launches:>9} "
                      f"{part(error):>7} {part(end['spread']):>7} {part(end['flip_rate']):>7} {end['evaluated']:>9}  "
                      f"{end['values']}")
    print("\nThe error is the counter's largest, for so many launches; the spread is of the objective, in the comparison "
          "of the finalists.")


main()
