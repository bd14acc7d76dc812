package io.sargo.spark.buckets;

import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.Seqs;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;

/** The buckets of listed files: their ids begin with the bucket in eight digits. */
final class BucketFiles {
  private static final Pattern ID =
      Pattern.compile("(\\d{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-\\d+)?");

  /** The bytes of each task. */
  private final long[] bytes;

  /** Throws Untouched for a file of no bucket, or of one that the table does not have. */
  BucketFiles(List<PartitionDirectory> directories, int buckets, int tasks) throws Untouched {
    bytes = new long[tasks];
    for (PartitionDirectory directory : directories) {
      for (FileStatusWithMetadata file : Seqs.list(directory.files())) {
        int bucket = bucketOf(file.getPath().getName());
        Untouched.when(bucket < 0 || bucket >= buckets, "a file is of no bucket");
        bytes[bucket % tasks] += file.getLen();
      }
    }
  }

  /** The bucket of a base or log file, or -1. */
  static int bucketOf(String name) {
    Matcher id = ID.matcher(HudiTable.fileId(name));
    return id.matches() ? Integer.parseInt(id.group(1)) : -1;
  }

  long largest() {
    long largest = 0;
    for (long size : bytes) {
      largest = Math.max(largest, size);
    }
    return largest;
  }

  long total() {
    long total = 0;
    for (long size : bytes) {
      total += size;
    }
    return total;
  }
}
