-- A table of its own beside the one that Hudi's Hive sync made, read-only, with nothing to keep in step when partitions are
-- added: Hudi lists them. The partition columns are ordinary columns here. Replace the columns and the location.
-- Dropping it leaves Hudi's files alone; without EXTERNAL it is refused.
CREATE EXTERNAL TABLE ${hivevar:table} (
  `_hoodie_commit_time` string, `_hoodie_commit_seqno` string, `_hoodie_record_key` string,
  `_hoodie_partition_path` string, `_hoodie_file_name` string,
  id bigint, k int, name string, amount double, price decimal(10,2), d date, ts bigint, maybe bigint, version int,
  dt string)
STORED BY 'io.sargo.hive.HudiStorageHandler'
LOCATION '${hivevar:location}';
-- Optional, for all queries on it: another sidecar, or the read-optimised view of a MERGE_ON_READ table.
--   ALTER TABLE ... SET TBLPROPERTIES ('sargo.sidecar.address' = 'host:10950', 'sargo.view' = 'read_optimized');
