package io.sargo.spark.formats;

import io.sargo.spark.plans.Untouched;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.Function1;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/**
 * What reads base files for Hudi's merge of log files: rows, which are decoded by columns.
 *
 * <p>Hudi decodes the base file of a slice with log files row by row. Its reader of COPY_ON_WRITE
 * tables decodes columns, and returns batches. This one takes the rows of these batches. Where
 * Hudi's reader returns no batches or an error, or a column has another type than asked for, the
 * file is read by rows. The function that reads a slice has its reader in a broadcast: this stands
 * in its place, and goes where the function goes.
 */
final class BaseFileReader extends Broadcast<Object> {
  private static final long serialVersionUID = 1;

  private static final String READ = "read";

  private final Broadcast<?> byRows;
  private final Broadcast<?> byColumns;
  private transient Object reader;

  private BaseFileReader(Broadcast<?> byRows, Broadcast<?> byColumns) {
    super(byRows.id(), ClassTag$.MODULE$.apply(Object.class));
    this.byRows = byRows;
    this.byColumns = byColumns;
  }

  /**
   * A function of Hudi that reads a slice by rows, but decodes base files as another function does
   * that returns batches. Throws Untouched where they have no readers of files that are known.
   */
  static <A, B> Function1<A, B> decodingColumns(Function1<A, B> rows, Function1<?, ?> batches)
      throws Untouched {
    Object[] ofRows = Lambdas.captured(rows);
    Optional<Object> byColumns =
        Arrays.stream(Lambdas.captured(batches)).filter(BaseFileReader::isReader).findFirst();
    Untouched.when(
        !byColumns.isPresent() || Arrays.stream(ofRows).noneMatch(BaseFileReader::isReader),
        "Hudi reads files by other means");
    return Lambdas.capturing(
        rows,
        Arrays.stream(ofRows)
            .map(
                one ->
                    isReader(one)
                        ? new BaseFileReader((Broadcast<?>) one, (Broadcast<?>) byColumns.get())
                        : one)
            .toArray());
  }

  private static boolean isReader(Object object) {
    return object instanceof Broadcast
        && interfaceOf(((Broadcast<?>) object).value().getClass()).isPresent();
  }

  /** What Hudi calls a reader of files: SparkColumnarFileReader, in 1.0 SparkParquetReader. */
  private static Optional<Class<?>> interfaceOf(Class<?> type) {
    for (Class<?> of = type; of != null; of = of.getSuperclass()) {
      for (Class<?> one : of.getInterfaces()) {
        if (Arrays.stream(one.getMethods()).anyMatch(BaseFileReader::reads)) {
          return Optional.of(one);
        }
      }
    }
    return Optional.empty();
  }

  private static boolean reads(Method method) {
    Class<?>[] types = method.getParameterTypes();
    return method.getName().equals(READ)
        && Iterator.class.isAssignableFrom(method.getReturnType())
        && types.length > 2
        && types[0] == PartitionedFile.class
        && types[1] == StructType.class
        && types[2] == StructType.class;
  }

  @Override
  public synchronized Object getValue() {
    if (reader == null) {
      Object rows = byRows.value();
      Class<?> of = interfaceOf(rows.getClass()).orElseThrow(IllegalStateException::new);
      reader =
          Proxy.newProxyInstance(
              of.getClassLoader(),
              new Class<?>[] {of},
              (proxy, method, arguments) -> called(rows, method, arguments));
    }
    return reader;
  }

  private Object called(Object rows, Method method, Object[] arguments) {
    boolean isPlain = reads(method) && ((StructType) arguments[2]).isEmpty();
    Object decoded = isPlain ? decodedColumns(method, arguments) : null;
    return decoded == null ? invoked(rows, method, arguments) : decoded;
  }

  /**
   * The rows of a file without partition columns, or null where it is to be read by rows, which
   * tells its errors, too.
   */
  private Iterator<InternalRow> decodedColumns(Method method, Object[] arguments) {
    Object[] nullable = arguments.clone();
    StructType columns = nullable((StructType) arguments[1]);
    nullable[1] = columns;
    try {
      Iterator<ColumnarBatch> batches =
          BegunBatches.of((Iterator<?>) invoked(byColumns.value(), method, nullable), columns);
      return batches == null ? null : new BatchRows(batches, columns);
    } catch (RuntimeException e) {
      Untouched.log("a base file is decoded row by row: " + e, String.valueOf(arguments[0]));
      return null;
    }
  }

  /** Reading by columns, a column that no file has must be nullable: the position of a row is. */
  private static StructType nullable(StructType columns) {
    StructType all = new StructType();
    for (StructField field : columns.fields()) {
      all = all.add(new StructField(field.name(), field.dataType(), true, field.metadata()));
    }
    return all;
  }

  private static Object invoked(Object object, Method method, Object[] arguments) {
    try {
      return method.invoke(object, arguments);
    } catch (InvocationTargetException e) {
      Throwable cause = e.getCause();
      if (cause instanceof Error) {
        throw (Error) cause;
      }
      if (cause instanceof IOException) {
        throw new UncheckedIOException(cause.getMessage(), (IOException) cause);
      }
      throw cause instanceof RuntimeException
          ? (RuntimeException) cause
          : new IllegalStateException(cause.getMessage(), cause);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void doUnpersist(boolean blocking) {}

  @Override
  public void doDestroy(boolean blocking) {}
}
