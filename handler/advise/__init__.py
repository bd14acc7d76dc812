"""Which own index a workload would profit from: workload, candidates, ranking, and what-if layouts."""
