# python verify.py <trainer> <job.json> <report.json>: what this trainer makes of each of its exports, as judge.py tells it.
# Ends with 3 where the trainer itself cannot be started. A trainer's side (…_side.py) has start(), which imports it,
# and judge_exports(job), which yields cells.
import importlib
import json
import os
import sys
import traceback
from importlib.metadata import version

trainer, job, report = sys.argv[1:4]
with open(job) as file:
    JOB = json.load(file)
side = importlib.import_module(f"{trainer.replace('-', '_')}_side")
try:
    side.start()
except Exception:
    traceback.print_exc()
    os._exit(3)
cells = []
for cell in side.judge_exports(JOB):
    cells.append(cell.report())
    print(".", end="", flush=True)
print()
with open(report, "w") as file:
    json.dump({"version": version(trainer), "cells": cells}, file)
sys.stdout.flush()
os._exit(0)
