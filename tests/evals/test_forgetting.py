"""The cost of forgetting is measured on what is really forgotten."""

from configs.settings import Settings
from evals.forgetting import measure, table


def test_each_share_is_forgotten_whole() -> None:
    settings = Settings.model_construct(busy_timeout=5.0)
    costs = measure(settings, users=5, shares=(3, 20), whole=60)
    assert [(cost.own, cost.whole, cost.left) for cost in costs] == [(3, 60, 0), (20, 60, 0)]
    assert all(cost.remove > 0 and cost.megabytes > 0 for cost in costs)
    assert table(costs).row_count == 2
