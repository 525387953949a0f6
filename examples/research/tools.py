"""A plain function is a tool: its type hints and its docstring are the schema."""

from datetime import date


def days_between(first: str, second: str) -> int:
    """Counts the days from one day to another.

    Args:
        first: the earlier day, as YYYY-MM-DD
        second: the later day, as YYYY-MM-DD
    """
    return (date.fromisoformat(second) - date.fromisoformat(first)).days
