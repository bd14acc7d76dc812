"""Random tables written by real Hudi, and random filters held against the rows of their full scans."""
