# Hugging Face `datasets`: every export must load whole, with its texts unchanged.
import json

from judge import Cell, marks_of
from rows import lines, load, refuse_all


def start():
    import datasets  # noqa: F401


def judge_exports(job):
    for export in job["exports"]:
        rows = load(job, export)
        if isinstance(rows, Exception):
            yield refuse_all(job, export, "any", rows)
            continue
        cell = Cell(export, "any", job["facts"])
        for row in rows:
            cell.judge([(False, "")])
        if export["file"].endswith(".jsonl"):
            for row, line in zip(rows, lines(export)):
                if marks_of(json.dumps(row, default=str)) != marks_of(json.dumps(line)) or not same_texts(row, line):
                    cell.refuse(row, ValueError("a text of the row changed"))
        yield cell


def same_texts(row, line):
    """All strings of the line are in the row, too; members that `datasets` added are empty."""
    return all(text in set(texts(row)) for text in texts(line) if not text.startswith("{"))


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts(member)
