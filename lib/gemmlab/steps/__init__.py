"""What a kernel is: its facts, its text, the passages that chapters show, a changed copy of it."""
