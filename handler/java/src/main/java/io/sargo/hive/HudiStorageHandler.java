package io.sargo.hive;

import io.sargo.client.Settings;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.hive.metastore.DefaultHiveMetaHook;
import org.apache.hadoop.hive.metastore.HiveMetaHook;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe;
import org.apache.hadoop.hive.ql.metadata.DefaultStorageHandler;
import org.apache.hadoop.hive.ql.metadata.HiveStoragePredicateHandler;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.TableDesc;
import org.apache.hadoop.hive.serde2.AbstractSerDe;
import org.apache.hadoop.hive.serde2.Deserializer;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputFormat;

/**
 * RFC-27's storage handler: {@code CREATE EXTERNAL TABLE t (...) STORED BY
 * 'io.sargo.hive.HudiStorageHandler' LOCATION '...'}.
 *
 * <p>The handler pushes the whole predicate down and returns the whole predicate as the residual,
 * so Hive checks every row that it reads. The table has no partitions in Hive. Hudi's partition
 * columns are ordinary columns, and conditions on them are part of the filter.
 */
public class HudiStorageHandler extends DefaultStorageHandler
    implements HiveStoragePredicateHandler {

  @Override
  @SuppressWarnings("rawtypes") // Hive's signature
  public Class<? extends InputFormat> getInputFormatClass() {
    return HudiInputFormat.class;
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Class<? extends OutputFormat> getOutputFormatClass() {
    return ReadOnlyOutputFormat.class;
  }

  @Override
  public Class<? extends AbstractSerDe> getSerDeClass() {
    return ParquetHiveSerDe.class;
  }

  @Override
  public DecomposedPredicate decomposePredicate(
      JobConf job, Deserializer deserializer, ExprNodeDesc predicate) {
    if (!(predicate instanceof ExprNodeGenericFuncDesc)) {
      return null;
    }
    DecomposedPredicate both = new DecomposedPredicate();
    both.pushedPredicate = (ExprNodeGenericFuncDesc) predicate.clone();
    both.residualPredicate = (ExprNodeGenericFuncDesc) predicate;
    return both;
  }

  @Override
  public void configureInputJobProperties(TableDesc table, Map<String, String> job) {
    Properties properties = table.getProperties();
    for (String name : properties.stringPropertyNames()) {
      // The Parquet reader of Hive 3.1.3 takes the columns from the job, not from the table.
      if (name.equals("columns")
          || name.equals("columns.types")
          || name.startsWith(Settings.PREFIX)) {
        job.put(name, properties.getProperty(name));
      }
    }
  }

  @Override
  public HiveMetaHook getMetaHook() {
    return new DeclarationHook();
  }

  /** Refuses declarations that would let a statement change or delete Hudi's files. */
  private static final class DeclarationHook extends DefaultHiveMetaHook {
    @Override
    public void preCreateTable(Table table) throws MetaException {
      Map<String, String> properties = table.getParameters();
      if (!"EXTERNAL_TABLE".equals(table.getTableType())) {
        throw new MetaException(
            "CREATE EXTERNAL TABLE: Hive would delete the files of a managed Hudi table with it");
      }
      if (properties != null && "true".equalsIgnoreCase(properties.get("external.table.purge"))) {
        throw new MetaException(
            "external.table.purge: Hive would delete Hudi's files with the table");
      }
      if (table.getPartitionKeysSize() > 0) {
        throw new MetaException(
            "PARTITIONED BY: declare Hudi's partition columns as ordinary columns");
      }
    }

    @Override
    public void preInsertTable(Table table, boolean overwrite) throws MetaException {
      throw new MetaException(ReadOnlyOutputFormat.WHY);
    }

    @Override
    public void commitInsertTable(Table table, boolean overwrite) {}

    @Override
    public void rollbackInsertTable(Table table, boolean overwrite) {}

    @Override
    public void rollbackCreateTable(Table table) {}

    @Override
    public void commitCreateTable(Table table) {}

    @Override
    public void preDropTable(Table table) {}

    @Override
    public void rollbackDropTable(Table table) {}

    @Override
    public void commitDropTable(Table table, boolean deleteData) {}
  }
}
