-- Let a Hudi table that Hudi's Hive sync registered skip files. Run it with the names in place:
--   beeline --hivevar table=db.trips -f native_table.sql
-- A partition has an input format of its own in the metastore, so a partitioned table needs the second statement too
-- (--hivevar partitions=dt, or all its partition columns: partitions=year,month), and Hudi's sync gives partitions that it
-- adds later the table's. The merged view of a MERGE_ON_READ table (its _rt table) takes
-- io.sargo.hive.PruningRealtimeInputFormat instead; its _ro table takes this one.
ALTER TABLE ${hivevar:table} SET FILEFORMAT
  INPUTFORMAT 'io.sargo.hive.PruningInputFormat'
  OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat'
  SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe';
ALTER TABLE ${hivevar:table} PARTITION (${hivevar:partitions}) SET FILEFORMAT
  INPUTFORMAT 'io.sargo.hive.PruningInputFormat'
  OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat'
  SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe';
