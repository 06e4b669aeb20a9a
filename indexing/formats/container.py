"""A ZIP container of an office document or a book: checked before anything in it is unpacked."""

import io
import zipfile
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from indexing.errors import SourceError
from indexing.limits import Limits

MOST_FILES = 20_000
PROPERTIES = "docProps/core.xml"
"""Where an Office document states its title."""
TITLE = "{http://purl.org/dc/elements/1.1/}title"


class Container:
    """The files in a container. Raises `SourceError` when opened past its limits, or damaged."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise SourceError(f"damaged container: {type(error).__name__}") from error
        self.names = frozenset(self._archive.namelist())
        if len(self.names) > MOST_FILES:
            raise SourceError(f"a container of {len(self.names):,} files")
        limits.check_unpacked(sum(file.file_size for file in self._archive.infolist()))
        if any(file.flag_bits & 1 for file in self._archive.infolist()):
            raise SourceError("encrypted: it asks for a password; save it without one")

    def read(self, name: str) -> bytes:
        """Return a file's bytes. Raises `SourceError` where it is missing or damaged."""
        if name not in self.names:
            raise SourceError(f"damaged container: {name} is missing")
        try:
            return self._archive.read(name)
        except Exception as error:
            raise SourceError(f"damaged container: {type(error).__name__} in {name}") from error

    def xml(self, name: str) -> Element:
        """Return the root of an XML file; one that declares entities is refused."""
        try:
            root: Element = fromstring(self.read(name))
        except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
            raise SourceError(f"damaged container: {type(error).__name__} in {name}") from error
        return root

    def title(self, name: str) -> str:
        """Return the title that a file of metadata states; empty where there is no such file."""
        return (self.xml(name).findtext(f".//{TITLE}") or "") if name in self.names else ""
