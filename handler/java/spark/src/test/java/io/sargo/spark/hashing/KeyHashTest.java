package io.sargo.spark.hashing;

import static io.sargo.spark.plans.Columns.column;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.spark.plans.Untouched;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** {@code key_hashes.tsv} is written by an implementation that shares no code with this one. */
class KeyHashTest {
  /** A key: its columns, a row of them, and what is expected of it. */
  private static final class Key {
    final List<Attribute> columns = new ArrayList<>();
    final List<Object> values = new ArrayList<>();
    final String expected;

    Key(String line) {
      String[] parts = line.split("\t", -1);
      expected = parts[0];
      for (int i = 1; i < parts.length; i += 2) {
        add(parts[i], parts[i + 1]);
      }
    }

    private void add(String kind, String text) {
      switch (kind) {
        case "null":
          add(DataTypes.StringType, null);
          break;
        case "string":
          add(DataTypes.StringType, UTF8String.fromString(text));
          break;
        case "byte":
          add(DataTypes.ByteType, Byte.valueOf(text));
          break;
        case "short":
          add(DataTypes.ShortType, Short.valueOf(text));
          break;
        case "int":
          add(DataTypes.IntegerType, Integer.valueOf(text));
          break;
        case "long":
          add(DataTypes.LongType, Long.valueOf(text));
          break;
        case "boolean":
          add(DataTypes.BooleanType, Boolean.valueOf(text));
          break;
        case "date":
          add(DataTypes.DateType, Integer.valueOf(text));
          break;
        case "decimal":
          BigDecimal number = new BigDecimal(text);
          add(DataTypes.createDecimalType(38, number.scale()), Decimal.apply(number));
          break;
        default:
          throw new AssertionError(kind);
      }
    }

    private void add(DataType type, Object value) {
      String name = "c" + columns.size();
      columns.add(column(name, type));
      values.add(value);
    }

    InternalRow row() {
      return new GenericInternalRow(values.toArray());
    }

    int hash() throws Untouched {
      List<String> names = new ArrayList<>();
      columns.forEach(column -> names.add(column.name()));
      return BucketKey.of(names, columns).hash(row());
    }
  }

  private static List<Key> keys() throws IOException {
    List<Key> keys = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                KeyHashTest.class.getResourceAsStream("key_hashes.tsv"), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.startsWith("#")) {
          keys.add(new Key(line));
        }
      }
    }
    assertTrue(keys.size() > 250);
    return keys;
  }

  @Test
  void aKeyHashesAsInTheBucketIndex() throws IOException, Untouched {
    for (Key key : keys()) {
      if (!key.expected.contains(":")) {
        assertEquals(
            Integer.parseInt(key.expected), key.hash() & Integer.MAX_VALUE, () -> "" + key.values);
      }
    }
  }

  @Test
  void aRowOfARealTableIsInTheBucketOfItsFile() throws IOException, Untouched {
    int rows = 0;
    for (Key key : keys()) {
      String[] expected = key.expected.split(":");
      if (expected.length == 2) {
        int bucket = KeyHash.bucket(key.hash(), Integer.parseInt(expected[0]));
        assertEquals(Integer.parseInt(expected[1]), bucket, () -> "" + key.values);
        rows++;
      }
    }
    assertTrue(rows > 20);
  }

  /** What shuffles the other side of a join computes the same number as the check of a row. */
  @Test
  void aShuffleFindsTheBucketThatTheCheckExpects() throws IOException, Untouched {
    for (Key key : keys()) {
      List<Expression> bound = new ArrayList<>();
      for (int i = 0; i < key.columns.size(); i++) {
        bound.add(
            new org.apache.spark.sql.catalyst.expressions.BoundReference(
                i, key.columns.get(i).dataType(), true));
      }
      Object partition = new BucketPartitioning(bound, 19).partitionIdExpression().eval(key.row());
      assertEquals(KeyHash.bucket(key.hash(), 19), partition, () -> "" + key.values);
    }
  }

  @Test
  void keysOneToFourAreInTheBucketsOfHudisOwnTests() {
    for (int i = 1; i <= 4; i++) {
      int hash = KeyHash.add(KeyHash.FIRST, UTF8String.fromString("" + i));
      assertEquals(i + 3, KeyHash.bucket(hash, 19));
    }
  }

  @Test
  void aTypeWithoutACertainTextIsRefused() {
    DataType[] types = {
      DataTypes.TimestampType, DataTypes.DoubleType, DataTypes.FloatType, DataTypes.BinaryType
    };
    for (DataType type : types) {
      assertThrows(Untouched.class, () -> KeyType.of(type));
    }
  }
}
