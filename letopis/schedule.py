"""`letopis schedule`: run the flows by the clock until stopped, once, or only list them."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import pipelines
from configs.settings import Settings
from letopis.flow import join_prefect, prefect_needed, state_folder
from pipelines.counts import counts_of
from pipelines.plans import Plan, plans

Say = Callable[[str], None]


def plan_records(chosen: Sequence[Plan]) -> list[dict[str, Any]]:
    """Return the plans as records."""
    return [
        {"deployment": plan.label, "runs": plan.times, "parameters": dict(plan.parameters)}
        for plan in chosen
    ]


def plan_table(chosen: Sequence[Plan]) -> Table:
    """Return the plans as a table."""
    table = Table("deployment", "runs")
    for plan in chosen:
        table.add_row(Text(plan.label), Text(plan.times))
    return table


def list_plans(settings: Settings, out: Console, as_json: bool) -> None:
    """Print what would be scheduled; nothing is started."""
    chosen = plans(settings)
    if as_json:
        print(json.dumps(plan_records(chosen), ensure_ascii=False, indent=2))  # noqa: T201
    else:
        out.print(plan_table(chosen))


def serve_plans(settings: Settings, out: Console, say: Say, as_json: bool) -> None:
    """Serve until stopped; say where the UI is as soon as runs can start.

    The ready message is one line of JSON, or a table and a line.
    """
    pipelines.keep_state_in(state_folder(settings))
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    os.environ["LETOPIS_DATA_DIR"] = str(settings.data_dir.expanduser().resolve())
    with prefect_needed():
        from pipelines.schedule import serve

    def ready(ui: str, chosen: Sequence[Plan]) -> None:
        if as_json:
            record = {"ui": ui, "deployments": plan_records(chosen)}
            print(json.dumps(record, ensure_ascii=False), flush=True)  # noqa: T201
        else:
            out.print(plan_table(chosen))
            say(f"ready: the flows run by the clock; see them at {ui} (Ctrl-C stops)")

    say("starting Prefect")
    serve(settings, state_folder(settings).resolve(), ready)
    say("stopped: what was indexed stays")


def run_plans_once(settings: Settings, say: Say) -> dict[str, Any]:
    """Run everything that is scheduled once, one after the other; return a report each."""
    pipelines.keep_quiet()
    join_prefect(settings)
    with prefect_needed():
        from pipelines.run import run_once

    return run_once(settings, [plan for plan in plans(settings) if plan.every is not None], say)


def print_reports(reports: dict[str, Any], out: Console, as_json: bool) -> bool:
    """Print what each flow did; return whether something is in the dead letters."""
    records = {label: counts_of(report) for label, report in reports.items()}
    if as_json:
        print(json.dumps(records, ensure_ascii=False, indent=2))  # noqa: T201
    else:
        table = Table("deployment", "what it did")
        for label, counts in records.items():
            told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
            table.add_row(Text(label), Text(told or "nothing to do"))
        out.print(table)
    return any(record.get("dead") for record in records.values())
