# TRL: SFTTrainer, DPOTrainer and KTOTrainer prepare the rows themselves; only the model is missing.
import types

from judge import make_tokenizer, pieces_of
from rows import chosen, judge_rows, load, refuse_all, templates


def start():
    import trl.trainer.dpo_trainer
    import trl.trainer.kto_trainer
    import trl.trainer.sft_trainer  # noqa: F401


def judge_exports(job):
    for pairs, judge in ((None, sft), ("preference", dpo), ("kto", kto)):
        for export in chosen(job, "trl", pairs=pairs):
            rows = load(job, export)
            for name, template in templates(job):
                if isinstance(rows, Exception):
                    yield refuse_all(job, export, name, rows)
                else:
                    yield judge(job, export, name, rows, make_tokenizer(template))


class Rows(list):
    """A dataset of one row: what the trainers ask of a dataset, without its cache on disk."""

    @property
    def column_names(self):
        return list(self[0])

    format = {"type": None}

    def map(self, function, fn_kwargs=None, remove_columns=None, **_):
        made = [{**row, **function(row, **(fn_kwargs or {}))} for row in self]
        gone = [remove_columns] if isinstance(remove_columns, str) else remove_columns or []
        return Rows({key: value for key, value in row.items() if key not in gone} for row in made)

    def filter(self, function, **_):
        return Rows(row for row in self if function(row))


def prepare(trainer, row, tokenizer, options, *more, **state):
    this = types.SimpleNamespace(_tokenizer=tokenizer, **state)
    settings = types.SimpleNamespace(dataset_num_proc=None, max_length=None, shuffle_dataset=False, **options)
    (made,) = trainer._prepare_dataset(this, Rows([row]), tokenizer, settings, *more, "train")
    return made


def sft(job, export, name, rows, tokenizer):
    from trl.chat_template_utils import get_training_chat_template, has_generation_markers
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling, SFTTrainer

    # rows with a completion of several messages need both masks; of one message, the default is enough
    split = "completion" in rows[0]
    several = any(len(row["completion"]) > 1 for row in rows) if split else True
    twin = None
    if several:
        try:
            twin = None if has_generation_markers(tokenizer.chat_template) else get_training_chat_template(tokenizer)
        except Exception as error:
            if not split:
                return refuse_all(job, export, name, error)
            several = False
    collate = DataCollatorForLanguageModeling(pad_token_id=tokenizer.pad_token_id)

    def render(row):
        options = {"assistant_only_loss": several, "dataset_text_field": "text"}
        state = {"completion_only_loss": split, "chat_template": twin}
        made = prepare(SFTTrainer, row, tokenizer, options, False, None, **state)
        batch = collate([{"input_ids": made["input_ids"], "labels": made["labels"]}])
        return pieces_of(tokenizer, batch["input_ids"][0].tolist(), (batch["labels"][0] != -100).tolist())

    return judge_rows(job, export, name, rows, render)


def dpo(job, export, name, rows, tokenizer):
    from trl.trainer.dpo_trainer import DataCollatorForPreference, DPOTrainer

    collate = DataCollatorForPreference(pad_token_id=tokenizer.pad_token_id)

    def render(row):
        batch = collate([prepare(DPOTrainer, row, tokenizer, {"truncation_mode": "keep_start"})])
        return [both(tokenizer, batch, side) for side in (0, 1)]

    return judge_rows(job, export, name, rows, render)


def kto(job, export, name, rows, tokenizer):
    from trl.trainer.kto_trainer import DataCollatorForUnpairedPreference, KTOTrainer

    collate = DataCollatorForUnpairedPreference(pad_token_id=tokenizer.pad_token_id)
    weights = {"calculate_KL": False, "desirable_weight": 1, "undesirable_weight": 1}

    def render(row):
        return both(tokenizer, collate([prepare(KTOTrainer, row, tokenizer, {}, **weights)]), 0)

    return judge_rows(job, export, name, rows, render)


def both(tokenizer, batch, side):
    length = int(batch["attention_mask"][side].sum())
    tokens = batch["input_ids"][side].tolist()[:length]
    return pieces_of(tokenizer, tokens, batch["completion_mask"][side].tolist()[:length])
