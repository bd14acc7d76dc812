package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.client.KeepAll;
import io.sargo.client.KeepAll.Reason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Properties;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.CompilationOpContext;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.exec.TableScanOperator;
import org.apache.hadoop.hive.ql.exec.Utilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.PartitionDesc;
import org.apache.hadoop.hive.ql.plan.TableDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPAnd;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPEqual;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TextInputFormat;
import org.junit.jupiter.api.AfterEach;

/** A job with a plan as Hive 4 makes it. */
abstract class PlannedJob {
  static final ExprNodeGenericFuncDesc A_1 = equal(column("a"), 1), A_2 = equal(column("a"), 2);

  JobConf job = new JobConf(false);

  @AfterEach
  void forgetThePlan() {
    Utilities.clearWorkMap(job);
  }

  static ExprNodeGenericFuncDesc function(GenericUDF function, ExprNodeDesc... arguments) {
    return new ExprNodeGenericFuncDesc(
        TypeInfoFactory.booleanTypeInfo, function, new ArrayList<>(Arrays.asList(arguments)));
  }

  static ExprNodeGenericFuncDesc equal(ExprNodeDesc column, int value) {
    return function(new GenericUDFOPEqual(), column, new ExprNodeConstantDesc(value));
  }

  static ExprNodeColumnDesc column(String name) {
    return new ExprNodeColumnDesc(TypeInfoFactory.intTypeInfo, name, "t", false);
  }

  static ExprNodeColumnDesc partitionColumn(String name) {
    return new ExprNodeColumnDesc(TypeInfoFactory.intTypeInfo, name, "t", true);
  }

  static String text(ExprNodeGenericFuncDesc filter) {
    return SerializationUtilities.serializeExpression(filter);
  }

  /** A scan of a plan: its alias, what it filters by, and the folders that it reads. */
  record Scan(String alias, ExprNodeGenericFuncDesc filter, String... folders) {
    Operator<?> operator() {
      TableScanOperator operator = new TableScanOperator(new CompilationOpContext());
      TableScanDesc desc = new TableScanDesc();
      desc.setFilterExpr(filter);
      operator.setConf(desc);
      return operator;
    }
  }

  /** Puts a plan with these scans into the job, as Hive's planner does. */
  final MapWork plan(Scan... scans) {
    MapWork work = new MapWork();
    for (Scan scan : scans) {
      work.getAliasToWork().put(scan.alias, scan.operator());
      for (String folder : scan.folders) {
        work.addPathToAlias(new Path("file:" + folder), scan.alias);
      }
    }
    job.set("hive.exec.plan", "file:/plans/1");
    Utilities.setMapWork(job, work);
    return work;
  }

  final void filterOfTheJob(ExprNodeGenericFuncDesc filter) {
    job.set(TableScanDesc.FILTER_EXPR_CONF_STR, text(filter));
    job.set(TableScanDesc.FILTER_TEXT_CONF_STR, filter.getExprString());
    job.set("sarg.pushdown", "a search argument");
  }

  static TableScanDesc scan(MapWork work, String alias) {
    return (TableScanDesc) work.getAliasToWork().get(alias).getConf();
  }

  static ExprNodeGenericFuncDesc and(ExprNodeDesc left, ExprNodeDesc right) {
    return function(new GenericUDFOPAnd(), left, right);
  }

  /** Gives every alias the table of its first folder, with these columns. */
  static void described(MapWork work, String columns) {
    work.getPathToAliases()
        .forEach(
            (path, aliases) ->
                aliases.forEach(
                    alias -> {
                      PartitionDesc table = table("HudiInputFormat", "snapshot");
                      table.getTableDesc().getProperties().setProperty("columns", columns);
                      work.getAliasToPartnInfo().put(alias, table);
                    }));
  }

  static PartitionDesc table(String format, String view) {
    PartitionDesc table = new PartitionDesc();
    table.setInputFileFormatClass(
        format.equals("TextInputFormat") ? TextInputFormat.class : HudiInputFormat.class);
    TableDesc desc = new TableDesc();
    desc.setProperties(new Properties());
    desc.getProperties().setProperty("sargo.view", view);
    table.setTableDesc(desc);
    return table;
  }

  static FileSplit split() {
    return new FileSplit(new Path("file:/t/dt=1/a.parquet"), 0, 1, new String[0]);
  }

  /** Why the job has no filter that may be used. */
  final Reason whyNot() {
    return assertThrows(KeepAll.class, () -> FilterScope.filterOf(job)).reason;
  }
}
