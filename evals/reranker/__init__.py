"""Train, measure and export the cross-encoder that ships (`retrieval.rerank.built_in`).

Reading order: `texts` (what a pair is), `sources`, `asked`, `talks`, `made` (the data), `overlap`
(nothing of the evaluation sets), `mine` (lists of a positive and hard negatives), `model`,
`batches`, `train`, `calibrate`, `export`, then `candidates` and `measure`. Training and export need
the extra ``train``.
"""
