package io.sargo.spark.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.Seqs;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Function1;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

class BaseFileReaderTest {
  private static final StructType COLUMNS = new StructType().add("i", DataTypes.IntegerType, false);

  /** What readers were asked for, "rows" or "columns" first. */
  private static final List<String> ASKED = new ArrayList<>();

  /** As Hudi's interfaces: other releases have other further arguments. */
  interface Reads extends Serializable {
    Iterator<?> read(PartitionedFile file, StructType columns, StructType partition, String further)
        throws IOException;

    default String further() {
      return "more";
    }
  }

  private static final class Reader implements Reads {
    private static final long serialVersionUID = 1;
    private final DataType batches;

    Reader(DataType batches) {
      this.batches = batches;
    }

    @Override
    public Iterator<?> read(
        PartitionedFile file, StructType columns, StructType partition, String further)
        throws IOException {
      ASKED.add((batches == null ? "rows " : "columns ") + further + columns.apply(0).nullable());
      if (further.equals("unknown encoding ") && batches != null) {
        throw new UnsupportedOperationException("of an encoding");
      }
      if (further.equals("gone")) {
        throw new FileNotFoundException("the file is gone");
      }
      return batches == null
          ? Seqs.of(List.<InternalRow>of(new GenericInternalRow(new Object[] {-1}))).iterator()
          : new RefilledBatches(batches, 2);
    }
  }

  private static final class Held extends Broadcast<Object> {
    private static final long serialVersionUID = 1;
    private final Object value;

    Held(Object value) {
      super(7, ClassTag$.MODULE$.apply(Object.class));
      this.value = value;
    }

    @Override
    public Object getValue() {
      return value;
    }

    @Override
    public void doUnpersist(boolean blocking) {}

    @Override
    public void doDestroy(boolean blocking) {}
  }

  /** As a function of Hudi that reads a slice. */
  private static Function1<String, List<Integer>> slice(Object ofReader) {
    Broadcast<Object> other = new Held("no reader");
    Broadcast<Object> reader = new Held(ofReader);
    return (Function1<String, List<Integer>> & Serializable)
        further -> {
          assertEquals("no reader", other.value());
          return values((Reads) reader.value(), further);
        };
  }

  private static List<Integer> values(Reads reader, String further) {
    assertEquals("more", reader.further());
    List<Integer> values = new ArrayList<>();
    try {
      Iterator<?> rows = reader.read(null, COLUMNS, new StructType(), further);
      while (rows.hasNext()) {
        values.add(((InternalRow) rows.next()).getInt(0));
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return values;
  }

  /** The function as an executor has it. */
  @SuppressWarnings("unchecked")
  private static Function1<String, List<Integer>> made(Object rows, Object columns)
      throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new ObjectOutputStream(bytes)
        .writeObject(BaseFileReader.decodingColumns(slice(rows), slice(columns)));
    return (Function1<String, List<Integer>>)
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
  }

  @BeforeEach
  void askAnew() {
    ASKED.clear();
  }

  @Test
  void aFileIsDecodedByColumnsWhichMayBeMissing() throws Exception {
    assertEquals(
        List.of(1, 2),
        made(new Reader(null), new Reader(DataTypes.IntegerType)).apply("as given "));
    assertEquals(List.of("columns as given true"), ASKED);
  }

  @Test
  void aFileOfAnotherTypeIsDecodedByRows() throws Exception {
    assertEquals(
        List.of(-1), made(new Reader(null), new Reader(DataTypes.ByteType)).apply("as given "));
    assertEquals(List.of("columns as given true", "rows as given false"), ASKED);
  }

  @Test
  void rowsInsteadOfBatchesAreLeftForThoseOfTheOtherReader() throws Exception {
    assertEquals(List.of(-1), made(new Reader(null), new Reader(null)).apply("as given "));
    assertEquals(List.of("rows as given true", "rows as given false"), ASKED);
  }

  @Test
  void aFileThatCannotBeDecodedByColumnsIsDecodedByRows() throws Exception {
    assertEquals(
        List.of(-1),
        made(new Reader(null), new Reader(DataTypes.IntegerType)).apply("unknown encoding "));
    assertEquals(List.of("columns unknown encoding true", "rows unknown encoding false"), ASKED);
  }

  @Test
  void anErrorOfTheReaderIsTold() throws Exception {
    Function1<String, List<Integer>> function =
        made(new Reader(null), new Reader(DataTypes.IntegerType));
    UncheckedIOException error =
        assertThrows(UncheckedIOException.class, () -> function.apply("gone"));
    assertEquals("the file is gone", error.getMessage());
  }

  @Test
  void inTheDriverTheBroadcastsThatAreReadAreThoseThatSparkReturned() throws Exception {
    Function1<?, ?> rows = slice(new Reader(null));
    Function1<?, ?> batches = slice(new Reader(DataTypes.IntegerType));
    Function1<?, ?> function = BaseFileReader.decodingColumns(rows, batches);
    List<WeakReference<Object>> broadcasts = new ArrayList<>();
    for (Function1<?, ?> one : List.of(rows, batches)) {
      broadcasts.add(new WeakReference<>(Lambdas.captured(one)[1]));
    }
    broadcasts.add(new WeakReference<>(Lambdas.captured(rows)[0]));
    rows = null;
    batches = null;
    for (int i = 0; i < 5; i++) {
      System.gc(); // Spark removes a broadcast when the object is collected
    }
    broadcasts.forEach(one -> assertNotNull(one.get()));
    assertNotNull(function);
    Reference.reachabilityFence(function);
  }

  @Test
  void functionsWithoutAKnownReaderAreRefused() {
    Function1<?, ?> known = slice(new Reader(DataTypes.IntegerType));
    Function1<?, ?> unknown = slice("nothing that reads");
    Function1<?, ?> ofAClass =
        new AbstractFunction1<String, String>() {
          @Override
          public String apply(String argument) {
            return argument;
          }
        };
    for (Function1<?, ?> other : List.of(unknown, ofAClass)) {
      assertThrows(Untouched.class, () -> BaseFileReader.decodingColumns(known, other));
      assertThrows(Untouched.class, () -> BaseFileReader.decodingColumns(other, known));
    }
  }
}
