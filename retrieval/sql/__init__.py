"""Analytical questions -> one validated, read-only SELECT over declared tables -> its answer.

Reading order: `schema` (what is declared), `intent` (what a question asks), `times`, `understand`
(question -> intent), `build` (intent -> sqlglot tree), `guard` (what may run), `run`.
"""
