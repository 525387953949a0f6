# Reading exports with the real `datasets`, and what the sides have in common.
import json
import os

from judge import Cell


def chosen(job, *formats, pairs=None):
    return [export for export in job["exports"] if export["format"] in formats and export.get("pairs") == pairs]


def load(job, export):
    """The rows as `datasets` gives them, or the error with which it refuses the file."""
    import datasets

    kind = "parquet" if export["file"].endswith(".parquet") else "json"
    try:
        return list(datasets.load_dataset(kind, data_files=export["file"], cache_dir=job["cache"], split="train"))
    except Exception as error:
        return error


def templates(job):
    for name, path in job["templates"].items():
        with open(path, encoding="utf-8") as file:
            yield name, file.read()


def judge_rows(job, export, template, rows, render):
    """render(row) gives the pieces of a row, or several lists of them (chosen and rejected)."""
    if isinstance(rows, Exception):
        return refuse_all(job, export, template, rows)
    cell = Cell(export, template, job["facts"])
    for row in rows:
        try:
            made = render(row)
        except Exception as error:
            cell.refuse(row, error)
            continue
        sides = made if made and isinstance(made[0], list) else [made]
        judged = [cell.judge(pieces) for pieces in sides]
        cell.compare(row, *(set().union(*sets) for sets in zip(*judged)))
    return cell


def refuse_all(job, export, template, error):
    cell = Cell(export, template, job["facts"])
    for _ in range(export["rows"]):
        cell.refuse({}, error)
    return cell


def lines(export):
    with open(export["file"], encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def files_beside(export, ending):
    return [os.path.join(export["folder"], name) for name in sorted(os.listdir(export["folder"])) if name.endswith(ending)]
