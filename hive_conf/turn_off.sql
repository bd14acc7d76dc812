-- No file is skipped in this session from here on: Hudi's listing is used as it is.
SET sargo.enabled=false;
