package io.sargo.spark.formats;

import io.sargo.spark.plans.Untouched;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.Function1;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * What reads base files for Hudi's merge of log files: rows, which are decoded by columns.
 *
 * <p>Hudi decodes the base file of a slice with log files row by row. Its reader of COPY_ON_WRITE
 * tables decodes columns, and returns batches. This one takes the rows of these batches. Where
 * Hudi's reader returns no batches, or a column has another type than asked for, the file is read
 * by rows. The function that reads a slice has its reader in a broadcast: this stands in its place,
 * and goes where the function goes.
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
   * A copy of a function of Hudi that reads a slice by rows, which decodes base files as another
   * function does that returns batches. Throws Untouched where one of them has no reader of files
   * that is known.
   */
  static <A, B> Function1<A, B> decodingColumns(Function1<A, B> rows, Function1<?, ?> batches)
      throws Untouched, IOException, ClassNotFoundException {
    List<Broadcast<?>> byColumns = new ArrayList<>();
    SerialCopy.of(
        batches,
        object -> {
          if (isReader(object)) {
            byColumns.add((Broadcast<?>) object);
          }
          return object;
        });
    Untouched.when(byColumns.isEmpty(), "Hudi reads batches by other means");
    List<Object> stay = new ArrayList<>(byColumns);
    Function1<A, B> copy =
        SerialCopy.of(
            rows,
            object -> {
              if (!isReader(object) || stay.stream().anyMatch(one -> one == object)) {
                return object;
              }
              Broadcast<?> byRows =
                  SerialCopy.of(
                      (Broadcast<?>) object, one -> one); // what replaces an object cannot have it
              stay.add(byRows);
              return new BaseFileReader(byRows, byColumns.get(0));
            });
    Untouched.when(stay.size() == byColumns.size(), "Hudi reads rows by other means");
    return new Copied<>(rows, copy);
  }

  /**
   * In the driver a copy keeps the function that it was made of: Spark removes a broadcast when
   * what it returned for it is collected, and a copy of a broadcast is something else.
   */
  private static final class Copied<A, B> extends AbstractFunction1<A, B> implements Serializable {
    private static final long serialVersionUID = 1;

    @SuppressWarnings("unused") // it is there to be kept
    private final transient Function1<A, B> original;

    private final Function1<A, B> copy;

    Copied(Function1<A, B> original, Function1<A, B> copy) {
      this.original = original;
      this.copy = copy;
    }

    @Override
    public B apply(A argument) {
      return copy.apply(argument);
    }
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
        && types.length > 1
        && types[0] == PartitionedFile.class
        && types[1] == StructType.class;
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
    if (reads(method)) {
      Object[] nullable = arguments.clone();
      StructType columns = nullable((StructType) arguments[1]);
      nullable[1] = columns;
      Iterator<ColumnarBatch> batches =
          BegunBatches.of((Iterator<?>) invoked(byColumns.value(), method, nullable), columns);
      if (batches != null) {
        return new BatchRows(batches);
      }
    }
    return invoked(rows, method, arguments);
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
