package io.sargo.spark.buckets;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.RuntimeConfig;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.collection.JavaConverters;

/**
 * The options about a table's index, from a relation's options, its catalog entry or the session.
 * Without them there are no buckets.
 */
final class BucketOptions {
  private static final String TYPE = "hoodie.index.type";

  private static final String[] NAMES = {
    TYPE,
    "hoodie.index.bucket.engine",
    "hoodie.bucket.index.num.buckets",
    "hoodie.bucket.index.hash.field",
    "hoodie.bucket.index.partition.expressions",
    "hoodie.bucket.index.partition.rule.type"
  };

  private BucketOptions() {}

  /** The options; null if they tell of no bucket index. */
  static Map<String, String> of(LogicalRelation scan, RuntimeConfig session) {
    Map<String, String> found = new TreeMap<>();
    for (String name : NAMES) {
      for (String key : new String[] {"spark." + name, name}) {
        String value = session.get(key, null);
        if (value != null) {
          found.put(name, value);
        }
      }
    }
    if (scan.catalogTable().isDefined()) {
      CatalogTable table = scan.catalogTable().get();
      take(table.properties(), found);
      take(table.storage().properties(), found);
    }
    take(((HadoopFsRelation) scan.relation()).options(), found);
    return "BUCKET".equalsIgnoreCase(found.get(TYPE)) ? found : null;
  }

  private static void take(
      scala.collection.immutable.Map<String, String> options, Map<String, String> into) {
    JavaConverters.mapAsJavaMapConverter(options)
        .asJava()
        .forEach(
            (key, value) -> {
              String name = key.toLowerCase(Locale.ROOT);
              for (String option : NAMES) {
                if (option.equals(name)) {
                  into.put(option, value);
                }
              }
            });
  }
}
