"""cmd.exe and PowerShell: what a line would run and what that would do."""
