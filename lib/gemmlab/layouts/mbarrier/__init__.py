"""The mbarrier and a ring of stages that uses it: its rules, a run of it, and both in words."""
