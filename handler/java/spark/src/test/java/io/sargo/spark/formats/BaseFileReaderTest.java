package io.sargo.spark.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.Seqs;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
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
  private static final StructType COLUMNS =
      new StructType().add("i", DataTypes.IntegerType).add("position", DataTypes.LongType, false);

  /** What readers were asked for, "rows" or "columns" first. */
  private static final List<String> ASKED = new ArrayList<>();

  /** As Hudi's interfaces: other releases have other further arguments. */
  interface Reads extends Serializable {
    Iterator<?> read(PartitionedFile file, StructType columns, String further) throws IOException;

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
    public Iterator<?> read(PartitionedFile file, StructType columns, String further)
        throws IOException {
      ASKED.add((batches == null ? "rows " : "columns ") + further + columns.apply(1).nullable());
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
  private static final class Slice extends AbstractFunction1<String, List<Integer>>
      implements Serializable {
    private static final long serialVersionUID = 1;
    private final Broadcast<Object> other = new Held("no reader");
    private final Broadcast<Object> reader;

    Slice(Object reader) {
      this.reader = new Held(reader);
    }

    @Override
    public List<Integer> apply(String further) {
      assertEquals("no reader", other.value());
      Reads found = (Reads) reader.value();
      assertEquals("more", found.further());
      List<Integer> values = new ArrayList<>();
      try {
        Iterator<?> rows = found.read(null, COLUMNS, further);
        while (rows.hasNext()) {
          values.add(((InternalRow) rows.next()).getInt(0));
        }
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
      return values;
    }
  }

  private static Function1<String, List<Integer>> made(Object rows, Object columns)
      throws Exception {
    Function1<String, List<Integer>> function =
        BaseFileReader.decodingColumns(new Slice(rows), new Slice(columns));
    return SerialCopy.of(function, object -> object); // as an executor has it
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
  void anErrorOfTheReaderIsTold() throws Exception {
    Function1<String, List<Integer>> function =
        made(new Reader(null), new Reader(DataTypes.IntegerType));
    UncheckedIOException error =
        assertThrows(UncheckedIOException.class, () -> function.apply("gone"));
    assertEquals("the file is gone", error.getMessage());
  }

  @Test
  void inTheDriverTheFunctionIsKeptWhoseBroadcastsAreRead() throws Exception {
    Slice rows = new Slice(new Reader(null));
    WeakReference<Slice> weak = new WeakReference<>(rows);
    Function1<String, List<Integer>> function =
        BaseFileReader.decodingColumns(rows, new Slice(new Reader(DataTypes.IntegerType)));
    rows = null;
    for (int i = 0; i < 5; i++) {
      System.gc();
    }
    assertNotNull(weak.get());
    assertEquals(List.of(1, 2), function.apply("as given "));
  }

  @Test
  void functionsWithoutAKnownReaderAreRefused() {
    Slice known = new Slice(new Reader(DataTypes.IntegerType));
    Slice unknown = new Slice("nothing that reads");
    for (Slice[] both : new Slice[][] {{known, unknown}, {unknown, known}}) {
      assertThrows(Untouched.class, () -> BaseFileReader.decodingColumns(both[0], both[1]));
    }
  }
}
