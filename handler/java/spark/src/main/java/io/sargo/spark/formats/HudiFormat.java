package io.sargo.spark.formats;

import io.sargo.spark.plans.Untouched;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.lang.reflect.Field;
import java.util.Arrays;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;

/** What Hudi's format says of itself, by the names of its fields: no class of Hudi is named. */
final class HudiFormat {
  /** What the names of the class begin with in the releases that were tested. */
  private static final String CLASS =
      "org.apache.spark.sql.execution.datasources.parquet.HoodieFileGroupReaderBased";

  private static final String MERGES = "isMOR";

  /** Hudi 1.0 repeats the answer that it gave first, here that of a table with log files. */
  private static final String HAS_ANSWERED = "supportBatchCalled";

  private HudiFormat() {}

  /** Whether this is Hudi's format of a snapshot of a table that has log files. */
  static boolean mergesLogs(FileFormat format) {
    return format.getClass().getName().startsWith(CLASS)
        && format instanceof ParquetFileFormat
        && is(format, MERGES)
        && !is(format, "isBootstrap")
        && !is(format, "isIncremental");
  }

  /**
   * The same format as Hudi makes it of a table without log files, which returns batches of rows.
   * Throws Untouched where Hudi's class is not as expected.
   */
  static ParquetFileFormat withoutLogs(FileFormat format) throws Untouched {
    try {
      ParquetFileFormat copy = (ParquetFileFormat) copy(format);
      field(copy, MERGES).setBoolean(copy, false);
      if (has(copy, HAS_ANSWERED)) {
        field(copy, HAS_ANSWERED).setBoolean(copy, false);
      }
      return copy;
    } catch (IOException | ReflectiveOperationException | RuntimeException e) {
      throw new Untouched("Hudi's format is not as expected: " + e);
    }
  }

  private static boolean is(FileFormat format, String name) {
    try {
      return field(format, name).getBoolean(format);
    } catch (ReflectiveOperationException | RuntimeException e) {
      return !name.equals(MERGES); // then it is left as it is
    }
  }

  private static boolean has(FileFormat format, String name) {
    return Arrays.stream(format.getClass().getDeclaredFields())
        .anyMatch(field -> field.getName().equals(name));
  }

  private static Field field(FileFormat format, String name) throws NoSuchFieldException {
    Field field = format.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  private static Object copy(Object object) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    }
    ClassLoader loader = object.getClass().getClassLoader();
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())) {
          @Override
          protected Class<?> resolveClass(ObjectStreamClass found)
              throws IOException, ClassNotFoundException {
            try {
              return Class.forName(found.getName(), false, loader);
            } catch (ClassNotFoundException e) {
              return super.resolveClass(found);
            }
          }
        }) {
      return in.readObject();
    }
  }
}
