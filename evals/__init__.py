"""Datasets in BEIR layout, runs of the product and a baseline, measures, reports, benches."""
