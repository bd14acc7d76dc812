package io.sargo.spark.joins;

import io.sargo.spark.shims.Seqs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BloomFilterMightContain;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.util.sketch.BloomFilter;
import scala.collection.JavaConverters;

/**
 * The condition on a row that it may have one of a join's keys, of Spark's own expressions.
 *
 * <pre>
 *   keys               condition
 *   -----------------  -------------------------------------------------------------------
 *   none               FALSE
 *   400 at most        IN, which Spark compiles into a switch where they are integers
 *   more               a Bloom filter of eight bits a key: some rows in a hundred pass that
 *                      have none. A list would be hashed again in each task
 * </pre>
 */
final class KeyRows {
  private static final int MAX_MEMBERS = 400;
  private static final int BITS = 8;

  private KeyRows() {}

  /** Whether rows can be asked for a key without an error that their join might not have. */
  static boolean canFilter(Expression key) {
    if (key instanceof Cast) {
      Expression from = ((Cast) key).child();
      return from instanceof Attribute
          && from.dataType() instanceof IntegralType
          && key.dataType() instanceof IntegralType
          && from.dataType().defaultSize() <= key.dataType().defaultSize();
    }
    return key instanceof Attribute;
  }

  /** Keys are of Spark's internal form. NULL is none. */
  static Expression condition(Expression key, List<Object> keys) {
    if (keys.size() > MAX_MEMBERS) {
      return mayBeIn(key, keys);
    }
    Set<Object> values = new HashSet<>(keys);
    values.remove(null);
    return values.isEmpty()
        ? Literal.FalseLiteral()
        : new InSet(key, JavaConverters.asScalaSetConverter(values).asScala().toSet());
  }

  private static Expression mayBeIn(Expression key, List<Object> keys) {
    BloomFilter filter = BloomFilter.create(keys.size(), (long) BITS * keys.size());
    Expression hash = hash(new BoundReference(0, key.dataType(), true));
    for (Object one : keys) {
      if (one != null) {
        filter.putLong((long) hash.eval(new GenericInternalRow(new Object[] {one})));
      }
    }
    return new BloomFilterMightContain(new Literal(bytes(filter), DataTypes.BinaryType), hash(key));
  }

  private static Expression hash(Expression key) {
    return new XxHash64(Seqs.of(Collections.singletonList(key)), 42L);
  }

  private static byte[] bytes(BloomFilter filter) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      filter.writeTo(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
