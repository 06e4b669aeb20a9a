"""Declared operations of agents: runs, tool calls, alerts."""

from evals.sql.shop import said
from retrieval.sql.schema import Dimension, Measure, Reference, Source, Table

_RUNS = Table(
    "runs",
    said("запуск, запускал, запускался, прогон, запускали, execution, run, ran"),
    tenant_column="owner",
    time_column="started_at",
    time_format="timestamp",
    measures=(
        Measure(
            "cost",
            "cost",
            said(
                "стоимость, стоил, расход, потратил, потрачено, деньги, денег, "
                "дорогой, spent, spend, spending, money"
            ),
            unit="USD",
        ),
        Measure("tokens", "tokens", said("токен, token")),
        Measure(
            "minutes",
            "minutes",
            said(
                "длительность, продолжительность, время работы, долгий, длился, "
                "duration, run time, runtime"
            ),
            "avg",
            "min",
        ),
    ),
    dimensions=(
        Dimension(
            "agent",
            "agent",
            said("агент"),
            {
                "researcher": said(
                    "исследователь, агент-исследователь, researcher agent, research agent"
                ),
                "coder": said("кодер, программист, агент-программист, coder agent, coding agent"),
                "planner": said("планировщик, агент-планировщик, planner agent, planning agent"),
            },
        ),
        Dimension(
            "outcome",
            "outcome",
            said("исход, результат, result"),
            {
                "success": said(
                    "успешный, успешно, удачный, завершился успешно, successful, succeeded, succeed"
                ),
                "failed": said(
                    "неудачный, неуспешный, провалился, провальный, упавший, упал, failure, fail"
                ),
                "aborted": said("прерванный, прерван, остановленный, stopped, abort"),
            },
        ),
    ),
)
_CALLS = Table(
    "calls",
    said(
        "вызов, вызов инструмента, обращение к инструменту, вызывал, "
        "вызывался, tool call, invocation, called"
    ),
    time_column="called_at",
    time_format="timestamp",
    measures=(
        Measure(
            "latency",
            "latency_ms",
            said("задержка, время отклика, медленный, latency, response time"),
            "avg",
            "ms",
        ),
    ),
    dimensions=(
        Dimension(
            "tool",
            "tool",
            said("инструмент"),
            {
                "search": said("поиск, инструмент поиска, search tool"),
                "browser": said("браузер, browser tool"),
                "calculator": said("калькулятор, calculator tool"),
                "database": said("база данных, БД, база, database tool"),
            },
        ),
        Dimension(
            "status",
            "status",
            said("статус"),
            {
                "ok": said("успешный, успешно, successful, succeeded"),
                "error": said(
                    "ошибка, с ошибкой, ошибался, завершился ошибкой, падал, упал, "
                    "упавший, failed, fail, failure, with an error"
                ),
                "timeout": said("таймаут, с таймаутом, по таймауту, timed out, time out"),
            },
        ),
    ),
    references=(Reference("run_id", "runs"),),
)
_ALERTS = Table(
    "alerts",
    said("алерт, оповещение, тревога, срабатывание, alarm"),
    tenant_column="owner",
    time_column="raised_at",
    time_format="epoch",
    dimensions=(
        Dimension(
            "severity",
            "severity",
            said("важность, серьёзность, критичность, уровень, level"),
            {
                "low": said("низкий, низкой важности"),
                "medium": said("средней важности, среднего уровня"),
                "high": said("высокий, высокой важности"),
                "critical": said("критический, критичный"),
            },
        ),
        Dimension(
            "service",
            "service",
            said("сервис, служба"),
            {
                "api": said("апи"),
                "billing": said("биллинг"),
                "auth": said("авторизация, authentication"),
            },
        ),
        Dimension(
            "state",
            "state",
            said("состояние, статус, status"),
            {
                "active": said("активный, незакрытый, открытый, open"),
                "resolved": said("решённый, решён, закрытый, закрыт, closed"),
            },
        ),
    ),
)


def ops(url: str) -> Source:
    """Return the operations of agents: runs, tool calls, alerts; times in UTC."""
    return Source("ops", url, (_RUNS, _CALLS, _ALERTS))
