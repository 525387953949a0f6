# verl: the SFT trainer's dataset, which is the class that stands beside the export if there is one (data.custom_cls).
import shutil

from judge import Cell, make_tokenizer, pieces_of
from rows import chosen, files_beside, judge_rows, load, refuse_all, templates


def start():
    import verl.utils.dataset.multiturn_sft_dataset
    import verl.utils.dataset.rl_dataset  # noqa: F401


def judge_exports(job):
    for export in chosen(job, "verl-sft"):
        for name, template in templates(job):
            yield sft(job, export, name, make_tokenizer(template))
    for export in chosen(job, "verl-rl"):
        yield rl(job, export)


def sft(job, export, name, tokenizer):
    from omegaconf import OmegaConf

    settings = OmegaConf.create({"max_length": 10_000_000, "pad_mode": "no_padding", "truncation": "error"})
    try:
        dataset = dataset_class(export)(parquet_files=[export["file"]], tokenizer=tokenizer, config=settings)
    except Exception as error:
        return refuse_all(job, export, name, error)

    rows = load(job, export)
    place = {id(row): index for index, row in enumerate(rows)}

    def render(row):
        made = dataset[place[id(row)]]
        return pieces_of(tokenizer, made["input_ids"].tolist(), made["loss_mask"].tolist())

    return judge_rows(job, export, name, rows, render)


def dataset_class(export):
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    from verl.utils.import_utils import load_extern_object

    ours = files_beside(export, "rollout_verl.py")
    return load_extern_object(ours[0], "RolloutDataset") if ours else MultiTurnSFTDataset


def rl(job, export):
    """Rows of the RL dataset are prompts: nothing is in the loss, but each must arrive whole."""
    from omegaconf import OmegaConf
    from verl.utils.dataset.rl_dataset import RLHFDataset

    template = "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    cell = Cell(export, "any", job["facts"])
    # the dataset replaces the list of files it is given and writes beside them
    copy = shutil.copy(export["file"], job["cache"])
    config = {"max_prompt_length": 10_000_000, "cache_dir": job["cache"], "filter_overlong_prompts_workers": 1}
    rows = RLHFDataset([copy], make_tokenizer(template), OmegaConf.create(config))
    for index in range(len(rows)):
        row = rows[index]
        try:
            assert row["raw_prompt"] and row["tools_kwargs"] and row["interaction_kwargs"]["name"], "a row is not whole"
            cell.judge([(False, "".join(message["content"] for message in row["raw_prompt"]))])
        except Exception as error:
            cell.refuse(row, error)
    return cell
