package io.sargo.spark.hudi;

import org.apache.hadoop.fs.Path;

/** Tables in {@code file:/w/t}, without an index of Hudi. */
public final class HudiTables {
  public static final Path BASE = new Path("file:/w/t");
  public static final HudiTable COW = new HudiTable(BASE, false, false);
  public static final HudiTable MOR = new HudiTable(BASE, true, true);

  private HudiTables() {}
}
