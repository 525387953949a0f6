# The loaders' side of verify-exports: python verify-exports.py <loader> <exports.json> <cache folder>
# Ends with 1 where a loader refuses, loses or changes a row, and with 3 where the loader itself cannot be started.
import json
import os
import sys
import types

loader, listing, cache = sys.argv[1:4]
with open(listing) as file:
    EXPORTS = json.load(file)
problems = []
taken = []

TEMPLATE = (
    "{% for tool in tools or [] %}{{ tool | tojson }}\n{% endfor %}"
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}{{ call.function | tojson }}{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def count(found, export):
    taken.append(found)
    expect(found == export["rows"], export, f"{found} rows came of {export['rows']}")


def expect(condition, export, text):
    if not condition:
        problems.append(f"{export['name']}: {text}")


def chosen(*names, pairs=None, container=None):
    return [
        export
        for export in EXPORTS
        if export["format"] in names and export.get("pairs") == pairs and (container is None or export["file"].endswith(container))
    ]


def load(export):
    import datasets

    kind = "parquet" if export["file"].endswith(".parquet") else "json"
    rows = datasets.load_dataset(kind, data_files=export["file"], cache_dir=cache, split="train")
    count(len(rows), export)
    return rows


def lines(export):
    with open(export["file"], encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def messages_of(row):
    for key in ("messages", "conversations", "prompt"):
        if key in row:
            return row[key]
    return row["input"]["messages"] if isinstance(row["input"], dict) else json.loads(row["input"])["messages"]


def texts(messages):
    return [message.get("content", message.get("value")) for message in messages]


def without_init(*packages):
    """Makes modules of these packages importable without running what stands in their __init__."""
    for package in packages:
        for folder in sys.path:
            path = os.path.join(folder, *package.split("."))
            if os.path.isdir(path):
                module = types.ModuleType(package)
                module.__path__ = [path]
                sys.modules[package] = module
                break


def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pre = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    model = Tokenizer(models.BPE(vocab=letters, merges=[]))
    model.pre_tokenizer = pre
    model.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|end|>", pad_token="<|pad|>")
    made.chat_template = TEMPLATE
    return made


# Each check imports its loader, yields once to say that it has started, and goes on to the rows.


def check_datasets():
    import datasets  # noqa: F401

    yield
    for export in EXPORTS:
        rows = load(export)
        if not export["file"].endswith(".jsonl"):
            continue
        for row, line in zip(rows, lines(export)):
            expect(texts(messages_of(row)) == texts(messages_of(line)), export, "the messages of a row changed")


def check_trl():
    from trl.data_utils import apply_chat_template, is_conversational

    yield
    made = tokenizer()
    for export in chosen("trl") + chosen("trl", pairs="kto") + chosen("trl", pairs="preference"):
        for row in load(export):
            expect(is_conversational(row), export, "a row is not taken for a dialogue")
            if isinstance(row["tools"], str):
                row["tools"] = json.loads(row["tools"])
            text = "".join(value for value in apply_chat_template(row, made).values() if isinstance(value, str))
            for content in texts(messages_of(row)):
                expect(content in text, export, "a text is missing from the template's output")


def check_llamafactory():
    # the package itself would import every plugin for pictures and sound, which readers of text do not need
    without_init("llamafactory", "llamafactory.data")
    from llamafactory.data.converter import get_dataset_converter
    from llamafactory.data.formatter import FunctionFormatter, ToolFormatter
    from llamafactory.data.parser import get_dataset_list
    from llamafactory.hparams.data_args import DataArguments

    yield
    functions = FunctionFormatter(slots=["{{content}}"], tool_format="qwen")
    tools = ToolFormatter(tool_format="qwen")
    names = ("llamafactory", "llamafactory-openai")
    for export in chosen(*names) + chosen("llamafactory", pairs="kto") + chosen("llamafactory", pairs="preference"):
        arguments = DataArguments(dataset_dir=export["folder"])
        attributes = get_dataset_list(["rollout_train"], export["folder"])[0]
        convert = get_dataset_converter(attributes.formatting, attributes, arguments)
        for row in load(export):
            made = convert(row)
            expect(made["_prompt"] and made["_response"], export, "the loader emptied a row")
            if made["_tools"]:
                tools.apply(content=made["_tools"])
            for message in made["_prompt"] + made["_response"]:
                if message["role"] == "function":
                    functions.apply(content=message["content"], thought_words=("<think>", "</think>"))


def check_ms_swift():
    from swift.dataset import load_dataset

    yield
    for pairs in (None, "kto", "preference"):
        for export in chosen("ms-swift", pairs=pairs, container=".jsonl"):
            rows = load_dataset([export["file"]], strict=True, num_proc=1)[0]
            count(len(rows), export)
            for row, line in zip(rows, lines(export)):
                expect(texts(row["messages"]) == texts(line["messages"]), export, "the messages of a row changed")


def check_verl():
    from omegaconf import OmegaConf
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    from verl.utils.dataset.rl_dataset import RLHFDataset

    yield
    made = tokenizer()
    for export in chosen("verl-sft"):
        config = OmegaConf.create({"max_length": 2_000_000, "pad_mode": "no_padding", "ignore_input_ids_mismatch": True})
        rows = MultiTurnSFTDataset([export["file"]], made, config)
        count(len(rows), export)
        for index in range(len(rows)):
            expect(int(rows[index]["loss_mask"].sum()) > 0, export, "a row teaches nothing")
    for export in chosen("verl-rl"):
        config = OmegaConf.create({"max_prompt_length": 2_000_000, "cache_dir": cache, "filter_overlong_prompts_workers": 1})
        rows = RLHFDataset([export["file"]], made, config)
        count(len(rows), export)
        for index in range(len(rows)):
            row = rows[index]
            expect(row["raw_prompt"] and row["tools_kwargs"] and row["interaction_kwargs"]["name"], export, "a row is not whole")


def check_axolotl():
    from axolotl.prompt_strategies.chat_template import load as load_strategy
    from axolotl.utils.dict import DictDefault

    yield
    cfg = DictDefault({"sequence_len": 2_000_000, "chat_template": "tokenizer_default", "train_on_inputs": False})
    source = {"type": "chat_template", "message_field_training": "train", "roles_to_train": ["assistant"]}
    for export in chosen("axolotl"):
        strategy = load_strategy(tokenizer(), cfg, DictDefault(source))
        for row in load(export):
            result = strategy.tokenize_prompt(dict(row))
            expect(any(label != -100 for label in result["labels"]), export, "a row teaches nothing")


check = globals()[f"check_{loader.replace('-', '_')}"]()
try:
    next(check)
except Exception as error:
    print(f"{loader} does not start: {type(error).__name__}: {error}", file=sys.stderr)
    os._exit(3)
for _ in check:
    pass
for problem in sorted(set(problems)):
    print(f"{loader}: {problem}", file=sys.stderr)
print(f"{loader}: {sum(taken)} rows of {len(taken)} exports", flush=True)
os._exit(1 if problems else 0)
