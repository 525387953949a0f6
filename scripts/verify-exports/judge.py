# What a trainer would learn from a row, told from the text it makes of it: each text of the records has a mark
# (marks.mjs), and a trainer's side hands over the row as pieces, each in the loss or not.
import json
import re
from collections import Counter
from decimal import Decimal

MARK = re.compile(r"~#(\d+)#~")
# How templates that do not write JSON show one argument.
ARGUMENT = [
    re.compile(r"<parameter=(?P<key>[^>\n]+)>\n(?P<value>.*?)\n</parameter>\s*", re.S),
    re.compile(r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>\s*", re.S),
    re.compile(r'<parameter name="(?P<key>[^"]*)">(?P<value>.*?)</parameter>\s*', re.S),
    re.compile(r'<｜DSML｜parameter name="(?P<key>[^"]*)" string="\w+">(?P<value>.*?)</｜DSML｜parameter>\s*', re.S),
]


class Number(str):
    """A number as it is written. Equal if it has the same value and is whole in both or in neither."""

    def __eq__(self, other):
        return isinstance(other, Number) and self.whole == other.whole and Decimal(self) == Decimal(other)

    @property
    def whole(self):
        return self.lstrip("-").isdigit()


READER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=Number, strict=False)


class Cell:
    """One export under one template."""

    def __init__(self, export, template, facts):
        self.export, self.template, self.facts = export, template, facts
        self.rows = 0
        self.refused = Counter()
        self.counts = Counter()
        self.learnt = Counter()
        self.present, self.lost_with_rows = set(), set()
        self.examples = {}

    def refuse(self, row, error):
        # without what is special to this row
        text = re.split(r"[\[{]|\n", f"{type(error).__name__}: {str(error).strip()}")[0]
        self.refused[text[:120].strip()] += 1
        self.lost_with_rows |= self._replies(marks_of(as_text(row)))

    def judge(self, pieces):
        """pieces: [(in the loss, text), …] in the order of the tokens."""
        self.rows += 1
        whole = "".join(text for _, text in pieces)
        loss = "\n\0\n".join(text for on, text in pieces if on)
        learnt, shown = marks_of(loss), marks_of(whole)
        replies = self._replies(learnt, "answer", "call")
        self.present |= self._replies(shown)
        self.learnt.update(self._replies(learnt, "answer", "call"))
        for kind in ("user", "system", "tool", "tool-list"):
            self.counts[f"{kind} learnt"] += any(self.facts[mark]["kind"] == kind for mark in learnt)
        self._judge_replies(replies, loss)
        self._judge_json(whole, shown)
        return shown, {self.facts[mark].get("turn") for mark in learnt}

    def compare(self, row, shown, turns):
        """What of a row's texts was not shown at all; of reasoning only that of the turn which is learnt."""
        lost = [self.facts[mark] for mark in marks_of(as_text(row)) - shown]
        self.counts["tools lost"] += any(fact["kind"] == "tool-list" for fact in lost)
        self.counts["texts lost"] += any(fact["kind"] not in ("tool-list", "reasoning") for fact in lost)
        self.counts["reasoning cut"] += any(fact["kind"] == "reasoning" and fact["turn"] in turns for fact in lost)

    def _judge_json(self, whole, shown):
        for mark in shown:
            kind = self.facts[mark]["kind"]
            if kind == "call":
                self._count("calls", judge_call(whole, mark, self.facts[mark]["arguments"]), whole, mark)
            elif kind == "tool-list":
                self._count("tools", judge_tool(whole, mark, self.facts[mark]["parameters"]), whole, mark)

    def _count(self, what, verdict, whole, mark):
        self.counts[what] += 1
        self.counts[f"{what} {verdict}"] += 1
        if verdict != "exact":
            at = whole.find(f"~#{mark}#~")
            self.examples.setdefault(f"{what} {verdict}", whole[max(0, at - 60) : at + 240])

    def _judge_replies(self, replies, loss):
        for mark, fact in self.facts.items():
            if fact.get("reply") not in replies:
                continue
            if fact["kind"] == "reasoning":
                self.counts["reasoning"] += 1
                self.counts["reasoning kept"] += holds(loss, fact["text"])
            else:
                self.counts["said"] += 1
                whole = f"~#{mark}#~" in loss and (fact["kind"] == "call" or holds(loss, fact["text"]))
                self.counts["said whole"] += whole

    def _replies(self, marks, *kinds):
        found = (self.facts[mark] for mark in marks)
        return {fact["reply"] for fact in found if "reply" in fact and (not kinds or fact["kind"] in kinds)}

    def report(self):
        times = {}
        for fact in self.facts.values():
            if "reply" in fact:
                times[fact["reply"]] = fact["records"]
        single = not self.export.get("pairs")
        missed = self.present - set(self.learnt) - self.lost_with_rows
        return {
            "name": self.export["name"],
            "template": self.template,
            "rows": self.export["rows"],
            "taken": self.rows,
            "refused": dict(self.refused),
            **self.counts,
            "examples": self.examples,
            "missed": len(missed) if single else 0,
            "again": sum(max(0, count - times[reply]) for reply, count in self.learnt.items()) if single else 0,
        }


def as_text(row):
    return json.dumps(row, ensure_ascii=False, default=str)


def marks_of(text):
    return set(MARK.findall(text))


def holds(text, part):
    return part.strip() in text


def judge_call(whole, mark, expected):
    """exact, changed, or twice: encoded as JSON two times"""
    expected = READER.decode(expected)
    verdicts = set()
    for found in re.finditer(re.escape(f"~#{mark}#~"), whole):
        before = whole[: found.start()]
        if before.endswith('\\"'):
            verdicts.add("twice")
        elif before.endswith('"') and not before.endswith('="'):
            verdicts.add("exact" if read_json(whole, before.rfind("{")) == expected else "changed")
        else:
            verdicts.add("exact" if same_arguments(read_arguments(whole, found.start()), expected) else "changed")
    return next(verdict for verdict in ("twice", "changed", "exact") if verdict in verdicts)


def read_arguments(whole, at):
    for pattern in ARGUMENT:
        around = (match for match in pattern.finditer(whole, max(0, at - 200), at + 200))
        start = next((match.start() for match in around if match.start() < at < match.end()), None)
        if start is None:
            continue
        given = {}
        while match := pattern.match(whole, start):
            given[match["key"]] = match["value"]
            start = match.end()
        return given
    return {}


def same_arguments(given, expected):
    if given.keys() != expected.keys():
        return False
    return all(
        given[key] == value if isinstance(value, str) and not isinstance(value, Number) else read_json(given[key], 0) == value
        for key, value in expected.items()
    )


def judge_tool(whole, mark, expected):
    """exact, changed, twice, or prose: the template shows tools in words of its own"""
    expected = READER.decode(expected)
    at = whole.find(f"~#{mark}#~")
    before = whole[:at]
    if before.endswith('\\"'):
        return "twice"
    function = read_json(whole, before.rfind("{"))
    if isinstance(function, dict) and "parameters" in function:
        given = function["parameters"]
        return "twice" if isinstance(given, str) else "exact" if given == expected else "changed"
    # the schema may follow the description
    after = read_json(whole, whole.find("{", at, at + 400))
    if isinstance(after, dict) and after.get("type") == "object" and "properties" in after:
        return "exact" if after == expected else "changed"
    return "prose" if all(key in whole[at:] for key in expected.get("properties", {})) else "changed"


def read_json(text, at):
    if at < 0:
        return None
    try:
        return READER.raw_decode(text, at)[0]
    except ValueError:
        return None


def pieces_of(tokenizer, tokens, kept):
    """Runs of tokens that are in the loss or not, as text."""
    pieces, run, last = [], [], None
    for token, on in zip(tokens, kept):
        if run and bool(on) != last:
            pieces.append((last, tokenizer.decode(run)))
            run = []
        run.append(token)
        last = bool(on)
    if run:
        pieces.append((last, tokenizer.decode(run)))
    return pieces


def make_tokenizer(template=None):
    """One token for each byte: no vocabulary can be downloaded, and this one changes nothing."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    model = Tokenizer(models.BPE(vocab=letters, merges=[]))
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    model.decoder = decoders.ByteLevel()
    names = {"eos_token": "<|im_end|>", "pad_token": "<|pad|>", "bos_token": "<|begin|>"}
    made = PreTrainedTokenizerFast(tokenizer_object=model, clean_up_tokenization_spaces=False, **names)
    made.chat_template = template
    return made
