"""The SQL that Spark tests itself with, over tables of Hudi."""
