"""Where in graphs something is."""
