"""The agents: one file per agent class, its tools' arguments, declarations and functions together."""
