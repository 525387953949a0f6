# LLaMA-Factory: its converter, its own templates and the processors of its SFT, DPO and KTO stages.
import os
import sys
import types
from copy import deepcopy
from importlib.machinery import ModuleSpec

from judge import make_tokenizer, pieces_of
from rows import chosen, judge_rows, load

TEMPLATES = ("qwen", "qwen3", "qwen3_nothink", "deepseek3", "deepseekr1", "glm4_moe", "llama3", "minimax2", "mistral", "gpt_oss")
FORMATS = ("llamafactory", "llamafactory-openai")
SETTINGS = {"preserve_thinking": True, "cutoff_len": 10_000_000}


def start():
    # the packages themselves would import every plugin for pictures and sound, which readers of text do not need
    for package in ("llamafactory", "llamafactory.data"):
        module = types.ModuleType(package)
        module.__path__ = [os.path.join(folder, *package.split(".")) for folder in sys.path]
        sys.modules[package] = module
    sys.modules["torchaudio"] = types.ModuleType("torchaudio")
    sys.modules["torchaudio"].__spec__ = ModuleSpec("torchaudio", None)
    import llamafactory.data.converter
    import llamafactory.data.processor.feedback
    import llamafactory.data.processor.pairwise
    import llamafactory.data.processor.supervised  # noqa: F401


def judge_exports(job):
    from llamafactory.data.processor.feedback import FeedbackDatasetProcessor
    from llamafactory.data.processor.pairwise import PairwiseDatasetProcessor
    from llamafactory.data.processor.supervised import SupervisedDatasetProcessor

    stages = (
        (None, SupervisedDatasetProcessor, ("",)),
        ("preference", PairwiseDatasetProcessor, ("chosen_", "rejected_")),
        ("kto", FeedbackDatasetProcessor, ("",)),
    )
    for pairs, processor, sides in stages:
        for export in chosen(job, *FORMATS, pairs=pairs):
            rows = load(job, export)
            for template in TEMPLATES:
                yield judge_rows(job, export, template, rows, renderer(export, template, processor, sides))


def renderer(export, template, processor, sides):
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.parser import get_dataset_list
    from llamafactory.data.template import TEMPLATES as KNOWN
    from llamafactory.hparams.data_args import DataArguments

    # rows by reply: only the last message is learnt
    arguments = DataArguments(dataset_dir=export["folder"], mask_history=export.get("unroll") == "step", **SETTINGS)
    attributes = get_dataset_list(["rollout_train"], export["folder"])[0]
    convert = get_dataset_converter(attributes.formatting, attributes, arguments)
    tokenizer = make_tokenizer()
    chosen_template = deepcopy(KNOWN[template])
    chosen_template.preserve_thinking = arguments.preserve_thinking
    process = processor(template=chosen_template, tokenizer=tokenizer, processor=None, data_args=arguments)

    def render(row):
        made = process.preprocess_dataset({key: [value] for key, value in convert(row).items()})
        if not made[f"{sides[0]}input_ids"]:
            raise ValueError("the loader dropped the row")
        return [
            pieces_of(tokenizer, made[f"{side}input_ids"][0], [label != -100 for label in made[f"{side}labels"][0]])
            for side in sides
        ]

    return render
