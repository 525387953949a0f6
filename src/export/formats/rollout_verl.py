# Rows of `rollout export --format verl-sft` for verl's SFT trainer:
#   data.custom_cls.path=rollout_verl.py data.custom_cls.name=RolloutDataset
# The whole row is rendered at once by the tokenizer's chat template, with arguments and schemas as objects, and only
# messages with `loss` are learnt. Needs a fast tokenizer.
import json

import pandas
import torch


class RolloutDataset(torch.utils.data.Dataset):
    def __init__(self, parquet_files, tokenizer, config, processor=None, max_samples=-1):
        files = [parquet_files] if isinstance(parquet_files, str) else list(parquet_files)
        rows = pandas.concat([pandas.read_parquet(file) for file in files])
        self.rows = rows if max_samples is None or max_samples < 0 else rows.iloc[:max_samples]
        self.tokenizer = tokenizer
        self.config = config or {}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows.iloc[index]
        messages = [message_of(message) for message in row["messages"]]
        tools = [tool_of(tool) for tool in row["tools"]] if row["tools"] is not None else []
        thinks = bool(row["enable_thinking"])
        more = {"enable_thinking": thinks, "thinking": thinks, **(self.config.get("apply_chat_template_kwargs") or {})}
        text, spans = self.render(messages, tools or None, more)
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = torch.tensor(encoded["input_ids"], dtype=torch.long)
        learnt = [any(start < b and a < end for start, end in spans) for a, b in encoded["offset_mapping"]]
        return self.fit(ids, torch.tensor(learnt, dtype=torch.long))

    def render(self, messages, tools, more):
        """The row's text, and the places in it that are learnt."""

        def apply(given, **flags):
            return self.tokenizer.apply_chat_template(given, tools=tools, tokenize=False, **more, **flags)

        flags = [message.pop("loss", False) for message in messages]
        text = apply(messages)
        spans = []
        for index in (index for index, flag in enumerate(flags) if flag):
            start = shared(text, apply(messages[:index], add_generation_prompt=True))
            end = len(text) if index == len(messages) - 1 else shared(text, apply(messages[: index + 1]))
            if end <= start:  # a template that writes the last message in another way: find where another reply would end
                other = [*messages[:index], {"role": "assistant", "content": "\x01"}, *messages[index + 1 :]]
                end = len(text) - shared(text[::-1], apply(other)[::-1])
                closing = self.tokenizer.eos_token or ""
                end += len(closing) if text.startswith(closing, end) else 0
            spans.append((start, end))
        return text, spans

    def fit(self, ids, mask):
        limit = self.config.get("max_length", 1024)
        if len(ids) > limit:
            cut = self.config.get("truncation", "error")
            if cut == "error":
                raise ValueError(f"a row of {len(ids)} tokens is longer than max_length={limit}")
            keep = slice(-limit, None) if cut == "left" else slice(limit)
            ids, mask = ids[keep], mask[keep]
        places = torch.arange(len(ids), dtype=torch.long)
        if self.config.get("pad_mode", "right") == "no_padding":
            return {"input_ids": ids, "position_ids": places, "loss_mask": mask}
        missing = limit - len(ids)
        filler = self.tokenizer.pad_token_id or 0
        pad = torch.nn.functional.pad
        return {
            "input_ids": pad(ids, (0, missing), value=filler),
            "attention_mask": pad(torch.ones_like(ids), (0, missing)),
            "position_ids": pad(places, (0, missing)),
            "loss_mask": pad(mask, (0, missing)),
        }


def message_of(row):
    message = {key: value for key, value in row.items() if value is not None}
    if "tool_calls" in message:
        message["tool_calls"] = [with_parsed(call, "arguments") for call in message["tool_calls"]]
    if "reasoning_content" in message:  # some templates look for it under another name
        message["thinking"] = message["reasoning_content"]
    return message


def tool_of(row):
    return with_parsed(row, "parameters")


def with_parsed(row, member):
    named = {key: value for key, value in row["function"].items() if value is not None}
    named[member] = json.loads(named[member])
    return {**{key: value for key, value in row.items() if value is not None}, "function": named}


def shared(a, b):
    """How many characters two texts share at the start."""
    length = min(len(a), len(b))
    if a[:length] == b[:length]:
        return length
    low, high = 0, length
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle)
    return low
