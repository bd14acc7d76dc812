"""Tests of the decoder: real filters of five Hive versions, made-up hostile ones, and their translations."""
