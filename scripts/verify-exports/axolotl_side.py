# Axolotl, `type: chat_template`, with the settings that docs/export.md names.
from judge import make_tokenizer, pieces_of
from rows import chosen, judge_rows, load, templates

PASSED_ON = ("role", "content", "reasoning_content", "tool_calls", "tool_call_id", "name")
SOURCE = {
    "type": "chat_template",
    "message_field_training": "train",
    "roles_to_train": ["assistant"],
    "message_property_mappings": {name: name for name in PASSED_ON},
}


def start():
    import axolotl.prompt_strategies.chat_template  # noqa: F401


def judge_exports(job):
    from axolotl.prompt_strategies.chat_template import load as load_strategy
    from axolotl.utils.dict import DictDefault

    for export in chosen(job, "axolotl"):
        rows = load(job, export)
        for name, template in templates(job):
            tokenizer = make_tokenizer(template)
            settings = {"sequence_len": 10_000_000, "chat_template": "tokenizer_default", "train_on_inputs": False}
            strategy = load_strategy(tokenizer, DictDefault(settings), DictDefault(SOURCE))

            def render(row):
                made = strategy.tokenize_prompt({key: [value] for key, value in row.items()})
                kept = [label != -100 for label in made["labels"][0]]
                return pieces_of(tokenizer, made["input_ids"][0], kept)

            yield judge_rows(job, export, name, rows, render)
