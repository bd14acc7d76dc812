package io.sargo.spark.scans;

import static io.sargo.spark.plans.Columns.column;
import static io.sargo.spark.scans.Slices.plain;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.client.FakeSidecar;
import io.sargo.client.ReplyBytes;
import io.sargo.spark.hudi.HudiTables;
import io.sargo.spark.question.GivenSettings;
import io.sargo.spark.question.SessionSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.Rand;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two slices, of which a sidecar skips the first. */
class NarrowedIndexTest {
  private static final byte[] NAMES =
      "a_0_1.parquet\nb_0_1.parquet".getBytes(StandardCharsets.UTF_8);
  private static final Expression P = column("p", DataTypes.IntegerType);
  private static final Expression C = column("c", DataTypes.IntegerType);

  private final Slices.Index hudi =
      new Slices.Index(1, plain("/w/t/a_0_1.parquet", "/w/t/b_0_1.parquet"));
  private FakeSidecar sidecar;

  private static Expression is(Expression column, int value) {
    return new EqualTo(column, new Literal(value, DataTypes.IntegerType));
  }

  private NarrowedIndex index(byte[] answer) throws IOException {
    sidecar = new FakeSidecar(FakeSidecar.answering(answer));
    SessionSettings settings =
        GivenSettings.of(
            Map.of(
                "spark.sargo.sidecar.address",
                sidecar.address(),
                "spark.sargo.sidecar.timeout.ms",
                "20000"));
    Query query = new Query(settings, "3.5.5", "me", () -> "spark-app-1");
    return new NarrowedIndex(hudi, new Scan(query, HudiTables.COW, null));
  }

  private NarrowedIndex skippingTheFirst() throws IOException {
    return index(ReplyBytes.answer(1, NAMES, 2, 1, 1).frame());
  }

  @AfterEach
  void stop() throws IOException {
    sidecar.close();
  }

  @Test
  void anAnswerNarrowsWhatHudiListsForThePartitionFiltersAlone() throws IOException {
    NarrowedIndex index = skippingTheFirst();
    assertEquals(
        List.of("b_0_1.parquet"), Slices.files(index.list(List.of(is(P, 1)), List.of(is(C, 7)))));
    assertEquals(List.of("1 0"), hudi.asked);
    String request = new String(sidecar.lastRequest, StandardCharsets.UTF_8);
    assertTrue(request.contains("\"name\":\"c\"") && !request.contains("\"name\":\"p\""));
    assertTrue(request.contains("spark-legacy") && request.contains("spark-app-1"));
  }

  @Test
  void withoutAConditionHudiListsByItself() throws IOException {
    NarrowedIndex index = skippingTheFirst();
    assertEquals(2, Slices.files(index.list(List.of(is(P, 1)), List.of())).size());
    assertEquals(List.of("1 0"), hudi.asked);
    assertEquals(0, sidecar.requests.get());
  }

  @Test
  void aConditionThatIsForeseenIsAskedOnce() throws IOException {
    NarrowedIndex index = skippingTheFirst();
    assertNull(index.summary());
    assertEquals(12345, index.sizeInBytes());
    assertArrayEquals(new String[] {"all"}, index.inputFiles());
    index.foresee(List.of(is(C, 7), is(P, 1)));
    assertEquals("Sargo: 1 of 2 file slices", index.summary());
    assertEquals(100, index.sizeInBytes());
    assertArrayEquals(new String[] {"file:/w/t/b_0_1.parquet"}, index.inputFiles());
    assertEquals(1, Slices.files(index.list(List.of(is(P, 1)), List.of(is(C, 7)))).size());
    assertEquals(1, sidecar.requests.get());
    index.refresh();
    assertEquals(12345, index.sizeInBytes());
  }

  @Test
  void equalScansOfAPlanAskOnce() throws IOException {
    NarrowedIndex one = skippingTheFirst();
    NarrowedIndex other = one.narrowedBy(List.of(is(C, 7)));
    one.list(List.of(), List.of(is(C, 7)));
    assertEquals(1, Slices.files(other.list(List.of(), List.of())).size());
    assertEquals(1, sidecar.requests.get());
  }

  @Test
  void aConditionOnAPartitionAndAnotherColumnNarrowsThoughSparkDoesNotHandItOn()
      throws IOException {
    Expression either = new Or(is(P, 1), is(C, 7));
    NarrowedIndex index = skippingTheFirst().under(List.of(either, is(P, 2), is(C, 8)));
    index.foresee(List.of(either));
    assertEquals("Sargo: 1 of 2 file slices", index.summary());
    assertEquals(1, Slices.files(index.list(List.of(), List.of())).size());
    assertEquals(List.of("0 0"), hudi.asked);
    String request = new String(sidecar.lastRequest, StandardCharsets.UTF_8);
    assertTrue(request.contains("\"name\":\"c\"") && request.contains("\"name\":\"p\""));
    assertEquals(1, sidecar.requests.get());
  }

  @Test
  void aConditionOnAPartitionAndAnotherColumnIsPartOfWhatTheScanIs() throws IOException {
    NarrowedIndex index = skippingTheFirst();
    Expression either = new Or(is(P, 1), is(C, 7));
    assertEquals(index.under(List.of(either)), index.under(List.of(is(C, 1), either)));
    assertNotEquals(index, index.under(List.of(either)));
    assertEquals(index, index.under(List.of(is(P, 1), is(C, 7))));
    assertEquals(index, index.under(List.of(new Or(is(P, 1), drawn()))));
    NarrowedIndex narrowed = index.under(List.of(either)).narrowedBy(List.of(is(C, 7)));
    assertNotEquals(index.narrowedBy(List.of(is(C, 7))), narrowed);
  }

  private static Expression drawn() {
    return new LessThan(new Rand(new Literal(5L, DataTypes.LongType)), C);
  }

  @Test
  void aWrongAnswerLeavesTheScanToHudiWithItsOwnFilters() throws IOException {
    NarrowedIndex index = index(ReplyBytes.answer(1, NAMES, 3, 1, 1).frame());
    index.foresee(List.of(is(C, 7)));
    assertEquals("Sargo: nothing skipped (wrong answer)", index.summary());
    assertEquals(12345, index.sizeInBytes());
    assertEquals(2, Slices.files(index.list(List.of(), List.of(is(C, 7)))).size());
    assertEquals(List.of("0 0", "0 1"), hudi.asked);
    assertEquals(1, sidecar.requests.get());
  }

  @Test
  void scansThatAreNarrowedByOtherKeysAreNotEqual() throws IOException {
    NarrowedIndex index = skippingTheFirst();
    Query query = new Query(null, "3.5.5", "me", () -> "");
    NarrowedIndex same =
        new NarrowedIndex(new Slices.Index(1), new Scan(query, HudiTables.COW, null));
    assertEquals(index, same);
    assertEquals(index.hashCode(), same.hashCode());
    assertNotEquals(index, index.narrowedBy(List.of(is(C, 7))));
    assertEquals(index.narrowedBy(List.of(is(C, 7))), same.narrowedBy(List.of(is(C, 7))));
    assertNotEquals(index.narrowedBy(List.of(is(C, 7))), index.narrowedBy(List.of(is(C, 8))));
    assertNotEquals(
        index, new NarrowedIndex(new Slices.Index(2), new Scan(query, HudiTables.COW, null)));
  }
}
