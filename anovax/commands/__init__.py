"""The subcommands of the command line, a file for each family. They parse, call and print; the work is elsewhere."""
