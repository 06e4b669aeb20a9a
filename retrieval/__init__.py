"""Query -> hits: scopes in parallel, each branch's list, fusion, trace. Knows no write path."""
