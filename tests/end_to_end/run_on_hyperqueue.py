"""Runs a script for each entry of a JSON array as a task of HyperQueue, as `hq submit --from-json`.

    python3 run_on_hyperqueue.py ENTRIES.json SCRIPT [ARGUMENTS...]

Prints how many tasks failed; exit code 1 where one did.
"""

import json
import sys
from pathlib import Path

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

entries = json.loads(Path(sys.argv[1]).read_text())
job = Job(max_fails=None, default_workdir=Path.cwd())
for entry in entries:
    job.program(sys.argv[2:], env={"HQ_ENTRY": json.dumps(entry)})
with LocalCluster(worker_config=WorkerConfig(cores=2)) as cluster:
    client = cluster.client()
    submitted = client.submit(job)
    client.wait_for_jobs([submitted], raise_on_error=False)
    failed = client.get_failed_tasks(submitted)
    print(f"failed: {len(failed)} of {len(entries)}")
    for task in failed.values():
        print(task.error)
sys.exit(1 if failed else 0)
