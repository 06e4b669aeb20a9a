"""Query and passages -> how well each passage answers, from a model that reads both together.

Reading order: `types` (what a reranker is), `windows` (long texts), `cross_encoder`, `onnx`,
`vendors`, `endpoint`, `late` (the models), `trained`, `graph`, `built_in` (the one that ships),
`speed`, `cache`, `stage` (all of it within a time budget), `order` (scores -> ranking).
"""
