"""Memories as files that leave the house: our JSONL, and the exports of mem0 and LangGraph Store.

Pure: text in, records out, and the other way round. Does not: read or write a store.
``dump``, ``check`` and ``load`` are the doors of our own format, ``read_foreign`` that of others.
"""

from indexing.portable.files import lines_of, read_foreign_file, sniff_file
from indexing.portable.foreign import read_foreign
from indexing.portable.jsonl import check, dump, header_of, load, load_records
from indexing.portable.sniff import sniff
from indexing.portable.talk import Record
from indexing.portable.types import Foreign, ForeignExport, Format, Header, Refused, ScopeCount

__all__ = [
    "Foreign",
    "ForeignExport",
    "Format",
    "Header",
    "Record",
    "Refused",
    "ScopeCount",
    "check",
    "dump",
    "header_of",
    "lines_of",
    "load",
    "load_records",
    "read_foreign",
    "read_foreign_file",
    "sniff",
    "sniff_file",
]
