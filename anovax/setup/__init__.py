"""From a clone to a running assistant: weights, wheels, system packages, bundles. Standard library only."""
