"""What a statement is about, by rules: a text -> the slot that it fills, or none.

``subject_of`` is the door; a later statement with the same key replaces the earlier one.
"""

from indexing.subjects.derive import subject_of
from indexing.subjects.types import Subject
from indexing.subjects.words import fold

__all__ = ["Subject", "fold", "subject_of"]
