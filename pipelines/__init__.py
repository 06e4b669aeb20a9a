"""Prefect flows and their schedules: thin shells over the functions of the packages on the left.

Prefect's analytics and every other telemetry are switched off before Prefect is imported, here and,
since the variables are inherited, in each server, worker and run that is started from here. Where
no Prefect API is configured, a run starts a private server for itself.
"""

import os
from pathlib import Path

TELEMETRY_OFF = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
}

SETTINGS = {
    **TELEMETRY_OFF,
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_LOGGING_LEVEL": "WARNING",
}

for _name, _value in SETTINGS.items():
    os.environ.setdefault(_name, _value)


def keep_state_in(folder: Path) -> None:
    """Let Prefect keep its own data here; call it before `pipelines.flows` is imported.

    A ``PREFECT_HOME`` or ``PREFECT_API_URL`` that is already set wins.
    """
    if "PREFECT_API_URL" not in os.environ and "PREFECT_HOME" not in os.environ:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["PREFECT_HOME"] = str(folder.resolve())


def keep_quiet() -> None:
    """Let Prefect log nothing here: the caller shows errors itself. A level set outside wins."""
    if os.environ["PREFECT_LOGGING_LEVEL"] == SETTINGS["PREFECT_LOGGING_LEVEL"]:
        os.environ["PREFECT_LOGGING_LEVEL"] = "CRITICAL"
