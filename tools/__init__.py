"""What keeps the course up to date and tries it: `python -m tools.<name> --help`, from here up.

coverage: the table of systems. execute, refresh: the chapters. ring_findings: what a widget quotes.
evidence: what a GPU says, recorded. mutants, fuzz: long trials of the simulator.
"""
