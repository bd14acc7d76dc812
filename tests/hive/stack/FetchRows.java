import java.io.PrintStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.Properties;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.CompilationOpContext;
import org.apache.hadoop.hive.ql.exec.FetchOperator;
import org.apache.hadoop.hive.ql.exec.OperatorFactory;
import org.apache.hadoop.hive.ql.exec.TableScanOperator;
import org.apache.hadoop.hive.ql.io.HiveInputFormat;
import org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat;
import org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.FetchWork;
import org.apache.hadoop.hive.ql.plan.TableDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPLessThan;
import org.apache.hadoop.hive.serde2.ColumnProjectionUtils;
import org.apache.hadoop.hive.serde2.objectinspector.InspectableObject;
import org.apache.hadoop.hive.serde2.objectinspector.StructObjectInspector;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.JobConf;

/**
 * Reads a table as a fetch task of Hive does, without a server: Hive's FetchOperator asks the input
 * format for splits and rows, and pushes the filter of its table scan into the job.
 *
 * <pre>
 *   FetchRows INPUT_FORMAT LOCATION SIDECAR BOUND LISTING
 *                               prints of the rows with id &lt; BOUND: count, sum of ids
 * </pre>
 *
 * <p>It counts the rows that the format gives and the condition passes, as Hive filters them again.
 */
public final class FetchRows {
  @SuppressWarnings("unchecked")
  public static void main(String[] arguments) throws Exception {
    JobConf job = new JobConf(new HiveConf());
    job.set("sargo.sidecar.address", arguments[2]);
    job.set("sargo.sidecar.timeout.ms", "30000");
    job.set("hoodie.file.group.reader.enabled", "false");
    ColumnProjectionUtils.setReadAllColumns(job);
    job.set("sargo.listing", arguments[4]);
    long bound = Long.parseLong(arguments[3]);

    Properties properties = new Properties();
    properties.setProperty("name", "default.t");
    properties.setProperty("columns", "id");
    properties.setProperty("columns.types", "bigint");
    properties.setProperty("location", arguments[1]);
    properties.setProperty("serialization.lib", ParquetHiveSerDe.class.getName());
    Class<? extends InputFormat<?, ?>> format =
        (Class<? extends InputFormat<?, ?>>) Class.forName(arguments[0]);
    TableDesc table = new TableDesc(format, MapredParquetOutputFormat.class, properties);

    ExprNodeDesc column = new ExprNodeColumnDesc(TypeInfoFactory.longTypeInfo, "id", "t", false);
    ExprNodeGenericFuncDesc less =
        new ExprNodeGenericFuncDesc(
            TypeInfoFactory.booleanTypeInfo,
            new GenericUDFOPLessThan(),
            Arrays.asList(column, new ExprNodeConstantDesc(bound)));
    TableScanDesc scan = new TableScanDesc("t", null);
    scan.setFilterExpr(less);
    scan.setNeededColumnIDs(Collections.singletonList(0));
    scan.setNeededColumns(Collections.singletonList("id"));
    FetchWork work = new FetchWork(new Path(arguments[1]), table);
    TableScanOperator source =
        (TableScanOperator) (Object) OperatorFactory.get(new CompilationOpContext(), scan);
    work.setSource(source);
    HiveInputFormat.pushFiltersAndAsOf(job, source, null); // as FetchTask does

    long rows = 0;
    long sum = 0;
    PrintStream out = System.out;
    System.setOut(System.err); // libraries write to it
    FetchOperator fetch = new FetchOperator(work, job);
    for (InspectableObject row; (row = fetch.getNextRow()) != null; ) {
      StructObjectInspector inspector = (StructObjectInspector) row.oi;
      Object value = inspector.getStructFieldData(row.o, inspector.getStructFieldRef("id"));
      long id = Long.parseLong(value.toString());
      if (id < bound) {
        rows++;
        sum += id;
      }
    }
    out.println(rows + " " + sum);
  }
}
