package io.sargo.spark.hashing;

import io.sargo.spark.plans.Untouched;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;

/** The hashed columns of a table, in the order of its record key, by their places in a row. */
public final class BucketKey implements Serializable {
  private static final long serialVersionUID = 1;

  private final int[] places;
  private final DataType[] types;
  private final KeyType[] kinds;
  private final String names;

  private BucketKey(int[] places, DataType[] types, KeyType[] kinds, String names) {
    this.places = places;
    this.types = types;
    this.kinds = kinds;
    this.names = names;
  }

  /** Throws Untouched if a row lacks a column, or its type has no certain text. */
  public static BucketKey of(List<String> names, List<Attribute> row) throws Untouched {
    int count = names.size();
    int[] places = new int[count];
    DataType[] types = new DataType[count];
    KeyType[] kinds = new KeyType[count];
    for (int i = 0; i < count; i++) {
      places[i] = placeOf(names.get(i), row);
      types[i] = row.get(places[i]).dataType();
      kinds[i] = KeyType.of(types[i]);
    }
    return new BucketKey(places, types, kinds, String.join(", ", names));
  }

  private static int placeOf(String name, List<Attribute> row) throws Untouched {
    int place = -1;
    for (int i = 0; i < row.size(); i++) {
      if (row.get(i).name().equals(name)) {
        Untouched.when(place >= 0, "two columns are called " + name);
        place = i;
      }
    }
    Untouched.when(place < 0, "the column " + name + " of the key is not read");
    return place;
  }

  public int hash(SpecializedGetters row) {
    int hash = KeyHash.FIRST;
    for (int i = 0; i < places.length; i++) {
      hash =
          row.isNullAt(places[i])
              ? KeyHash.addNull(hash)
              : kinds[i].add(hash, row, places[i], types[i]);
    }
    return hash;
  }

  public int[] places() {
    return places.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BucketKey
        && Arrays.equals(places, ((BucketKey) other).places)
        && Arrays.equals(types, ((BucketKey) other).types);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(places);
  }

  @Override
  public String toString() {
    return names;
  }
}
