package io.sargo.spark.hashing;

import io.sargo.spark.plans.Untouched;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/**
 * The types of columns that have one text in a record key, and how {@link KeyHash} adds a value.
 */
enum KeyType {
  STRING("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.add(hash, row.getUTF8String(column));
    }
  },
  BYTE("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.add(hash, row.getByte(column));
    }
  },
  SHORT("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.add(hash, row.getShort(column));
    }
  },
  INT("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.add(hash, row.getInt(column));
    }
  },
  LONG("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.add(hash, row.getLong(column));
    }
  },
  BOOLEAN("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.add(hash, row.getBoolean(column));
    }
  },
  DATE("addDate") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      return KeyHash.addDate(hash, row.getInt(column));
    }
  },
  DECIMAL("add") {
    @Override
    int add(int hash, SpecializedGetters row, int column, DataType type) {
      DecimalType decimal = (DecimalType) type;
      return KeyHash.add(hash, row.getDecimal(column, decimal.precision(), decimal.scale()));
    }
  };

  /** The method of {@link KeyHash} that adds a value. */
  final String method;

  KeyType(String method) {
    this.method = method;
  }

  /** The hash with the value of a row's column, which is not NULL. */
  abstract int add(int hash, SpecializedGetters row, int column, DataType type);

  /** Throws Untouched for a type whose text differs by how a row was written, or has no text. */
  static KeyType of(DataType type) throws Untouched {
    if (type.equals(DataTypes.StringType)) { // of the binary collation
      return STRING;
    }
    if (type.equals(DataTypes.ByteType)) {
      return BYTE;
    }
    if (type.equals(DataTypes.ShortType)) {
      return SHORT;
    }
    if (type.equals(DataTypes.IntegerType)) {
      return INT;
    }
    if (type.equals(DataTypes.LongType) || type.equals(DataTypes.TimestampNTZType)) {
      return LONG;
    }
    if (type.equals(DataTypes.BooleanType)) {
      return BOOLEAN;
    }
    if (type.equals(DataTypes.DateType)) {
      return DATE;
    }
    if (type instanceof DecimalType) {
      return DECIMAL;
    }
    throw new Untouched("a key of type " + type.sql() + " has no certain text in Hudi");
  }
}
