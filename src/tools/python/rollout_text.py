"""From what a server returned to the text that model and record get: the JSON that Python writes, so no number or
character changes. What JSON cannot carry becomes visible text: NaN and the infinities are the strings "NaN",
"Infinity" and "-Infinity", a lone surrogate is U+FFFD, anything unknown to JSON is its str()."""

import json
import math

ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)
BIGGEST_RESULT = 32 * 1024 * 1024  # characters; what is longer would only burden the parent


def to_text(value):
    try:
        return ENCODER.encode(value)
    except (ValueError, TypeError):  # NaN or an infinity, keys that are no text; or a circle, which fails again
        return ENCODER.encode(clean(value, set()))


def clean(value, around):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if not isinstance(value, (dict, list, tuple)):
        return value
    if id(value) in around:
        raise ValueError("Circular reference detected")
    around.add(id(value))
    if isinstance(value, dict):
        result = {clean_key(key): clean(member, around) for key, member in value.items()}
    else:
        result = [clean(member, around) for member in value]
    around.discard(id(value))
    return result


def clean_key(key):
    key = clean(key, set()) if isinstance(key, float) else key
    return key if key is None or isinstance(key, (str, int, float)) else str(key)


def without_surrogates(text):
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def describe(error):
    return without_surrogates(f"{type(error).__name__}: {error}".rstrip(": "))
