"""Exported memory stores: adapters that read them, rules that prune them, and their union with a package."""
