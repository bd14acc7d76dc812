package io.sargo.spark;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceCreationResult;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceReadInfo;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonFilterPushdownResult;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScan;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScanBuilder;
import org.apache.spark.sql.execution.datasources.v2.python.PythonTable;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Function1;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Map;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * Gives every scan of a Sargo table a read plan of its own, with pruned columns and a note in
 * EXPLAIN.
 *
 * <p>In Spark 4.1 to 4.3 all scans of one relation share the plan of the scan that pushed its
 * filters last, which loses rows. See {@code own_scans.py}.
 *
 * <p>The class is a factory of optimizer rules for {@code SparkSessionExtensions.injectPreCBORule}.
 * Janino compiles this file when a session starts, and it compiles no lambdas.
 */
public class OwnScans extends AbstractFunction1 {
  public Object apply(Object session) {
    return new OwnScansRule();
  }
}

/** Replaces the table of every Sargo relation by an {@link OwnTable}, before filters are pushed. */
class OwnScansRule extends Rule {
  public TreeNode apply(TreeNode plan) {
    return ((LogicalPlan) plan).transform(new ToOwnTable());
  }
}

class ToOwnTable extends AbstractPartialFunction {
  public boolean isDefinedAt(Object node) {
    if (!(node instanceof DataSourceV2Relation)) {
      return false;
    }
    Object table = ((DataSourceV2Relation) node).table();
    return table.getClass() == PythonTable.class
        && ((PythonTable) table).name().toLowerCase().startsWith("sargo");
  }

  public Object applyOrElse(Object node, Function1 otherwise) {
    if (!isDefinedAt(node)) {
      return otherwise.apply(node);
    }
    DataSourceV2Relation relation = (DataSourceV2Relation) node;
    SessionSettings.check(relation.options());
    PythonTable table = (PythonTable) relation.table();
    Object[] parts = new Object[relation.productArity()];
    for (int i = 0; i < parts.length; i++) {
      Object part = relation.productElement(i);
      parts[i] =
          part == table
              ? new OwnTable(OwnTable.sourceOf(table), table.name(), table.schema())
              : part;
    }
    return relation.makeCopy(parts);
  }
}

/**
 * Refuses settings of the session that Hudi's reader takes for read options: the Python reader does
 * not see them, and would read other rows than Hudi does.
 */
class SessionSettings {
  /** Each setting with its value that changes nothing; {@code scan_plans.py} fills in the list. */
  private static final String[] SETTINGS = "@SETTINGS@".split(";");

  static void check(CaseInsensitiveStringMap options) {
    for (int i = 0; i < SETTINGS.length; i++) {
      String[] setting = SETTINGS[i].split("=", 2);
      if (!options.containsKey(setting[0])) {
        check(setting[0], setting[0], setting[1]);
        check("spark." + setting[0], setting[0], setting[1]);
      }
    }
  }

  private static void check(String name, String option, String harmless) {
    String value = SQLConf.get().getConfString(name, "");
    if (!value.isEmpty() && !value.equalsIgnoreCase(harmless)) {
      throw new IllegalArgumentException(
          "setting "
              + name
              + "="
              + value
              + " of the session: format(\"sargo\") takes options alone, give .option(\""
              + option
              + "\", ...) as the rows are to be read");
    }
  }
}

class OwnTable extends PythonTable {
  private final PythonDataSourceV2 source;
  private final String format;

  OwnTable(PythonDataSourceV2 source, String format, StructType schema) {
    super(source, format, schema);
    this.source = source;
    this.format = format;
  }

  static PythonDataSourceV2 sourceOf(PythonTable table) {
    try {
      Field field = PythonTable.class.getDeclaredField("ds");
      field.setAccessible(true);
      return (PythonDataSourceV2) field.get(table);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return new OwnScanBuilder(source, format, schema(), options);
  }
}

/**
 * Collects filters and columns, and plans the read in Python once, in {@link #build}. Spark still
 * applies all filters.
 */
class OwnScanBuilder extends PythonScanBuilder implements SupportsPushDownRequiredColumns {
  private final PythonDataSourceV2 source;
  private final String format;
  private final StructType schema;
  private final CaseInsensitiveStringMap options;
  private Filter[] filters = new Filter[0];
  private StructType required;

  OwnScanBuilder(
      PythonDataSourceV2 source,
      String format,
      StructType schema,
      CaseInsensitiveStringMap options) {
    super(source, format, schema, options);
    this.source = source;
    this.format = format;
    this.schema = schema;
    this.options = options;
    this.required = schema;
  }

  public Filter[] pushFilters(Filter[] pushed) {
    filters = pushed;
    return pushed;
  }

  public Filter[] pushedFilters() {
    return new Filter[0];
  }

  /**
   * Prunes whole columns, never parts of a struct. Keeps at least one column, because rows are
   * counted by its values.
   */
  public void pruneColumns(StructType wanted) {
    Set names = new HashSet(Arrays.asList((Object[]) wanted.fieldNames()));
    List kept = new ArrayList();
    for (int i = 0; i < schema.fields().length; i++) {
      if (names.contains(schema.fields()[i].name())) {
        kept.add(schema.fields()[i]);
      }
    }
    if (kept.isEmpty() && schema.fields().length > 0) {
      kept.add(schema.fields()[0]);
    }
    required = new StructType((StructField[]) kept.toArray(new StructField[0]));
  }

  public Scan build() {
    PythonDataSourceCreationResult created =
        source.getOrCreateDataSourceInPython(format, options, new Some(schema));
    PythonDataSourceReadInfo info = null;
    if (filters.length > 0) {
      Option result = source.source().pushdownFiltersInPython(created, required, filters);
      if (result.isDefined()) {
        info = ((PythonFilterPushdownResult) result.get()).readInfo();
      }
    }
    if (info == null) {
      info = source.source().createReadInfoInPython(created, required, false);
    }
    PythonDataSourceV2 own = new PythonDataSourceV2();
    own.setShortName(format);
    own.setReadInfo(info);
    return new OwnScan(own, format, required, options, filters, OwnScan.noteOf(info));
  }
}

class OwnScan extends PythonScan {
  private static final Pattern NOTE = Pattern.compile("file slices kept: \\d+ of \\d+");
  private final Filter[] filters;
  private final String note;

  OwnScan(
      PythonDataSourceV2 source,
      String format,
      StructType schema,
      CaseInsensitiveStringMap options,
      Filter[] filters,
      String note) {
    super(source, format, schema, options, new Filter[0]);
    this.filters = filters;
    this.note = note;
  }

  /**
   * The note of the Python reader, such as {@code file slices kept: 3 of 40}; each partition's
   * bytes contain it.
   */
  static String noteOf(PythonDataSourceReadInfo info) {
    if (info.partitions().isEmpty()) {
      return "";
    }
    Matcher note =
        NOTE.matcher(new String((byte[]) info.partitions().head(), StandardCharsets.ISO_8859_1));
    return note.find() ? note.group() : "";
  }

  public String description() {
    return note.isEmpty() ? super.description() : "(" + note + ")";
  }

  private static Map plus(Map metadata, String name, String value) {
    return (Map) metadata.updated(name, value);
  }

  public Map getMetaData() {
    Map metadata = super.getMetaData();
    return note.isEmpty()
        ? metadata
        : plus(plus(metadata, "Sargo", note), "PrunedWith", Arrays.toString(filters));
  }
}
