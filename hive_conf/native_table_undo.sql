-- Undo native_table.sql: Hudi's own input format again (of the merged view of a MERGE_ON_READ table:
-- org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat). Nothing else was changed.
--   beeline --hivevar table=db.trips --hivevar partitions=dt -f native_table_undo.sql
ALTER TABLE ${hivevar:table} SET FILEFORMAT
  INPUTFORMAT 'org.apache.hudi.hadoop.HoodieParquetInputFormat'
  OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat'
  SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe';
ALTER TABLE ${hivevar:table} PARTITION (${hivevar:partitions}) SET FILEFORMAT
  INPUTFORMAT 'org.apache.hudi.hadoop.HoodieParquetInputFormat'
  OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat'
  SERDE 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe';
