"""What the conformance runners share. Standard library and NumPy only."""
