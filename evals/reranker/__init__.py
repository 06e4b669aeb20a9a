"""Train, measure and export a cross-encoder of our own; the product does not reach it yet.

Reading order: `texts` (what a pair is), `sources`, `asked`, `talks`, `made` (the data), `overlap`
(nothing of the evaluation sets), `mine` (lists of a positive and hard negatives), `model`,
`batches`, `train`, `export`, then what is exported: `trained` (the file), `graph`, `cross_encoder`
(a `Reranker`), and `measure`. Training and export need the extra ``train``.
"""
