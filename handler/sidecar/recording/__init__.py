"""What is kept and told of answers: reports, sums for the page, the log of filters, metrics, and audits of skips."""
