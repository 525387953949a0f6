"""Plain functions as tools: npx rollout multi … --tools examples/tools/text_tools.py"""

import re
from typing import Literal


def count_words(text: str, unit: Literal["words", "characters"] = "words") -> dict:
    """Counts how long a text is.

    Args:
        text: the text to count in
        unit: what to count
    """
    return {"unit": unit, "count": len(text.split()) if unit == "words" else len(text)}


def find_dates(text: str) -> list[str]:
    """Finds all dates such as 2026-03-02 in a text."""
    return re.findall(r"\b\d{4}-\d{2}-\d{2}\b", text)
