"""One study: backends side by side on the same requests, written into one folder that describes itself."""
