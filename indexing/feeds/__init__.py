"""Where documents come from: files, JSONL records, SQL queries, web pages. What is done: `sync`."""
