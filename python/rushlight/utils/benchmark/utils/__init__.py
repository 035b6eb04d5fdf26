"""What measures, what was measured, and tables of it."""
