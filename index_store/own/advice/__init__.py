"""Which own index is worth its bytes: samples, selectivity scores and simulated layouts.

Imports all other folders of ``own``.
"""
