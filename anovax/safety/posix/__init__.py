"""POSIX shells: what a line would run, by a real grammar, and what that would do."""
