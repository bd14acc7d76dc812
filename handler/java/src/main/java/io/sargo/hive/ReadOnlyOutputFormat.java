package io.sargo.hive;

import java.io.IOException;
import java.util.Properties;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.FileSinkOperator;
import org.apache.hadoop.hive.ql.io.HiveOutputFormat;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordWriter;
import org.apache.hadoop.util.Progressable;

/** Refuses every write. Only Hudi's writers add rows to a Hudi table. */
public class ReadOnlyOutputFormat implements HiveOutputFormat<Object, Object> {
  static final String WHY =
      "a table STORED BY io.sargo.hive.HudiStorageHandler is read-only: write to it with Hudi";

  @Override
  public FileSinkOperator.RecordWriter getHiveRecordWriter(
      JobConf job,
      Path path,
      Class<? extends Writable> type,
      boolean compressed,
      Properties table,
      Progressable progress)
      throws IOException {
    throw new IOException(WHY);
  }

  @Override
  public RecordWriter<Object, Object> getRecordWriter(
      FileSystem fs, JobConf job, String name, Progressable progress) throws IOException {
    throw new IOException(WHY);
  }

  @Override
  public void checkOutputSpecs(FileSystem fs, JobConf job) throws IOException {
    throw new IOException(WHY);
  }
}
