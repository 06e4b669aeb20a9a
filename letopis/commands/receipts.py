"""`letopis receipts` and `letopis audit`: what was forgotten and changed, without what it was."""

from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer

from letopis.commands.options import Json, SessionId, User, settings_of
from letopis.console import FAILED, out, print_json, say

commands = typer.Typer(name="receipts", no_args_is_help=True, help="Proofs of what was forgotten.")
log = typer.Typer()


@commands.command("list")
def list_receipts(context: typer.Context, as_json: Json = False) -> None:
    """List the receipts, oldest first."""
    from configs.stores import build_catalog
    from indexing.receipts import Receipts
    from letopis.show.receipts import receipt_record, receipts_table

    with closing(build_catalog(settings_of(context))) as catalog:
        found = Receipts(catalog.database).all()
    if as_json:
        print_json([receipt_record(receipt) for receipt in found])
    elif found:
        out.print(receipts_table(found))
    else:
        out.print("no receipts")


@commands.command("show")
def show_receipt(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The receipt's number.")],
    as_json: Json = False,
) -> None:
    """Show one receipt."""
    from configs.stores import build_catalog
    from indexing.errors import InvalidInput
    from indexing.receipts import Receipts
    from letopis.show.receipts import receipt_record, receipt_view

    with closing(build_catalog(settings_of(context))) as catalog:
        receipt = Receipts(catalog.database).get(number)
    if receipt is None:
        raise InvalidInput(f"there is no receipt {number}")
    if as_json:
        print_json(receipt_record(receipt))
    else:
        out.print(receipt_view(receipt))


@commands.command("verify")
def verify_receipts(context: typer.Context, as_json: Json = False) -> None:
    """Check that no receipt was changed, taken out, moved or cut off.

    Exit code 1 names the first bad one.
    """
    from configs.stores import build_catalog
    from indexing.receipts import Receipts

    with closing(build_catalog(settings_of(context))) as catalog:
        found = Receipts(catalog.database).verify()
    if as_json:
        print_json(asdict(found))
    elif found.ok:
        out.print(f"{found.count} receipts, each as it was written", highlight=False)
    if not found.ok:
        say(f"receipt {found.first_bad}: {found.reason}", style="red")
        raise typer.Exit(FAILED)


@log.command()
def audit(
    context: typer.Context,
    user: User = None,
    session: SessionId = None,
    limit: Annotated[int, typer.Option("--limit", help="How many, the newest first.")] = 100,
    as_json: Json = False,
) -> None:
    """Show who changed, forgot, imported or exported memories, and when.

    Without --user everybody's. An event names people and memories by
    digests, and holds no text.
    """
    from configs.stores import build_catalog
    from letopis.forgetting import events_of
    from letopis.show.receipts import event_record, events_table
    from letopis.targets import given_scope

    scope = given_scope(user, session)
    with closing(build_catalog(settings_of(context))) as catalog:
        found = events_of(catalog, scope, limit)
    if as_json:
        print_json([event_record(event) for event in found])
    elif found:
        out.print(events_table(found))
    else:
        out.print("no events")
