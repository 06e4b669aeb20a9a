"""Train, measure and export the cross-encoder that ships with the product.

Reading order: `texts` (what a pair is), `sources`, `asked`, `talks`, `made` (the data), `overlap`
(nothing of the evaluation sets), `mine` (lists of a positive and hard negatives), `model`,
`batches`, `train`, `export`, `measure`. Needs the extra ``train``; the product does not.
"""
