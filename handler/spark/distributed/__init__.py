"""The same evaluator as a Spark job, for statistics that do not fit one machine."""
