# ms-swift: its loader and its own templates, in the modes of `swift sft` and `swift rlhf`.
import types

from judge import make_tokenizer, pieces_of
from rows import chosen, judge_rows

TEMPLATES = ("qwen2_5", "qwen3", "qwen3_thinking", "qwen3_coder", "qwen3_5", "deepseek_v3_1", "glm4_5", "llama3_2", "minimax_m2")
# what `swift rlhf` sets by itself
STAGES = ((None, "train", "default", ("",)), ("preference", "rlhf", "last_round", ("chosen_", "rejected_")), ("kto", "kto", "last_round", ("chosen_",)))


def start():
    import swift.dataset
    import swift.template  # noqa: F401


def judge_exports(job):
    from swift.dataset import load_dataset

    for pairs, mode, strategy, sides in STAGES:
        for export in chosen(job, "ms-swift", pairs=pairs):
            if not export["file"].endswith(".jsonl"):
                continue
            try:
                rows = list(load_dataset([export["file"]], strict=True, num_proc=1)[0])
            except Exception as error:
                rows = error
            for template in TEMPLATES:
                yield judge_rows(job, export, template, rows, renderer(template, mode, strategy, sides))


def renderer(template, mode, strategy, sides):
    from swift.template import get_template

    tokenizer = make_tokenizer()
    # what a model's folder would say
    tokenizer.model_info = types.SimpleNamespace(config=None, task_type="causal_lm", max_model_len=10_000_000, model_dir="")
    tokenizer.model_meta = types.SimpleNamespace(is_multimodal=False, template=template, model_type="any")
    made = get_template(tokenizer, template_type=template, loss_scale=strategy)
    made.set_mode(mode)

    def render(row):
        encoded = made.encode(dict(row))
        return [
            pieces_of(tokenizer, encoded[f"{side}input_ids"], [label != -100 for label in encoded[f"{side}labels"]])
            for side in sides
        ]

    return render
