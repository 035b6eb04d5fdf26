"""How functions are called that are written in Python: who is shown the call, and in what it runs."""
