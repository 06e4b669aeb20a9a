"""JSON as the standard has it: text -> value, or a reason that does not repeat the text."""

import json

from indexing.errors import InvalidInput


def parse(raw: str) -> object:
    """Return the value. Raises `InvalidInput` for what is not JSON, or names a field twice."""
    try:
        value: object = json.loads(raw, object_pairs_hook=_fields)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"not JSON: {error.msg}, character {error.pos + 1}") from error
    except ValueError as error:
        raise InvalidInput("not JSON: a number of too many digits") from error
    except RecursionError as error:
        raise InvalidInput("not JSON: nested too deep") from error
    return value


def check_value(value: object) -> None:
    """Raise `InvalidInput` for NaN, infinite numbers and lone surrogates anywhere in a value."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("not valid Unicode (a lone surrogate)") from error
    except ValueError as error:
        raise InvalidInput("a number is NaN or infinite") from error
    except RecursionError as error:
        raise InvalidInput("nested too deep") from error


def _fields(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise InvalidInput("an object names one field twice")
    return made
