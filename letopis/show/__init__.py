"""What people see (Rich tables and progress) and what machines get (plain records)."""
