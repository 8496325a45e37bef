"""How the exact solver scales, beside others (`make scale`): see run.py."""
