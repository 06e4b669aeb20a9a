"""`letopis status`: where the memory lives and what it holds."""

from typing import Any

import typer

from letopis.commands.options import Json, settings_of
from letopis.console import out, print_json

commands = typer.Typer()


@commands.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Show where the memory lives, what it holds, and which databases it can ask."""
    from configs.stores import build_catalog, build_store
    from letopis.show.tables import status_table

    settings = settings_of(context)
    build_store(settings).close()
    catalog = build_catalog(settings)
    record: dict[str, Any] = {
        "data_dir": str(settings.data_dir.expanduser()),
        "store": settings.store or "embedded",
        "sources": catalog.counts(),
        "dead_letters": len(catalog.dead()),
        "databases": {},
    }
    catalog.close()
    if settings.sql.sources:  # what asks databases takes a while to load
        from configs.sql import source_states

        record["databases"] = source_states(settings)
    if as_json:
        print_json(record)
    else:
        out.print(status_table(record))
