package io.sargo.spark;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.python.PythonUtils;
import org.apache.spark.sql.execution.datasources.FileStatusCache;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.JavaConverters;
import scala.collection.mutable.Buffer;

/**
 * Parquet files whose sizes are known, so that Spark need not list them.
 *
 * <p>Without it Spark looks for each file twice, and for more than 32 files in a job of its own.
 * Janino compiles this file when files are read for the first time, and it compiles no generics and
 * no lambdas. The constructors of Spark differ in a type by version, so they are found by their
 * number of parameters.
 */
public class KnownFiles {
  private static final int PARAMETERS = 7;

  /** The relation of these files, as the Parquet source of Spark makes it with a given schema. */
  public Object relation(Object session, String lines, String schema, Map options)
      throws Exception {
    KnownSizes known = new KnownSizes(lines);
    Object roots = ((Buffer) JavaConverters.asScalaBufferConverter(known.roots).asScala()).toSeq();
    Object given = PythonUtils.toScalaMap(options);
    Option none = Option.empty();
    Object index =
        constructor(InMemoryFileIndex.class)
            .newInstance(new Object[] {session, roots, given, none, known, none, none});
    StructType columns = (StructType) ((StructType) DataType.fromJson(schema)).asNullable();
    return constructor(HadoopFsRelation.class)
        .newInstance(
            new Object[] {
              index, new StructType(), columns, none, new ParquetFileFormat(), given, session
            });
  }

  private static Constructor constructor(Class of) {
    Constructor[] all = of.getConstructors();
    for (int i = 0; i < all.length; i++) {
      if (all[i].getParameterTypes().length == PARAMETERS) {
        return all[i];
      }
    }
    throw new IllegalStateException(of.getName());
  }
}

/** What Spark would list. */
class KnownSizes extends FileStatusCache {
  private final Map files = new ConcurrentHashMap();
  final List roots = new ArrayList();

  /** A line for each file: its size, the time of its last change in milliseconds, its path. */
  KnownSizes(String lines) {
    String[] parts = lines.split("\n");
    for (int i = 0; i < parts.length; i++) {
      String[] file = parts[i].split("\t", 3);
      Path path = new Path(file[2]);
      FileStatus status =
          new FileStatus(
              Long.parseLong(file[0]), false, 1, 128L << 20, Long.parseLong(file[1]), path);
      files.put(path, new FileStatus[] {status});
      roots.add(path);
    }
  }

  public Option getLeafFiles(Path path) {
    return Option.apply(files.get(path));
  }

  public void putLeafFiles(Path path, FileStatus[] leafFiles) {
    files.put(path, leafFiles);
  }

  /** What Spark calls when it is told that files changed: it lists them from then on. */
  public void invalidateAll() {
    files.clear();
  }
}
