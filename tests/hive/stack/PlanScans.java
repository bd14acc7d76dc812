import io.sargo.hive.PruningInputFormat;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Scanner;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPLessThan;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.util.ReflectionUtils;
import org.apache.hudi.hadoop.HoodieParquetInputFormat;

/**
 * Plans scans as Hive does: getSplits of the input format, with all folders of the partitions as
 * input paths. Each line of the input is a scan, its settings separated by tabs:
 *
 * <pre>
 *   folders=FILE     a file with the input paths, one a line
 *   format=hudi      or sargo: whose input format
 *   amount=10.0      optional: the filter amount &lt; 10.0
 *   KEY=VALUE        settings of the job
 * </pre>
 *
 * <p>Each line of the output is its seconds, number of splits, their bytes, and a hash of the
 * files' names with their folders.
 */
public final class PlanScans {
  public static void main(String[] arguments) throws Exception {
    JobConf hive = new JobConf(new HiveConf());
    hive.addResource("core-site.xml");
    PrintStream out = System.out;
    System.setOut(System.err); // libraries write to it
    out.println("ready");
    Scanner lines = new Scanner(System.in, "UTF-8");
    while (lines.hasNextLine()) {
      JobConf job = new JobConf(hive);
      for (String setting : lines.nextLine().split("\t")) {
        String[] pair = setting.split("=", 2);
        job.set(pair[0], pair[1]);
      }
      FileInputFormat.setInputPaths(
          job,
          Files.readAllLines(Paths.get(job.get("folders"))).stream()
              .map(Path::new)
              .toArray(Path[]::new));
      if (job.get("amount") != null) {
        setFilter(job, Double.parseDouble(job.get("amount")));
      }
      Class<? extends HoodieParquetInputFormat> format =
          "sargo".equals(job.get("format"))
              ? PruningInputFormat.class
              : HoodieParquetInputFormat.class;
      long start = System.nanoTime();
      InputSplit[] splits = ReflectionUtils.newInstance(format, job).getSplits(job, 1);
      double seconds = (System.nanoTime() - start) / 1e9;
      long bytes = 0;
      String[] paths = new String[splits.length];
      for (int i = 0; i < splits.length; i++) {
        bytes += splits[i].getLength();
        Path path = ((FileSplit) splits[i]).getPath();
        paths[i] = path.getParent().getName() + "/" + path.getName();
      }
      Arrays.sort(paths);
      out.printf("%.4f %d %d %d%n", seconds, splits.length, bytes, Arrays.hashCode(paths));
    }
  }

  private static void setFilter(JobConf job, double bound) {
    ExprNodeDesc column =
        new ExprNodeColumnDesc(TypeInfoFactory.doubleTypeInfo, "amount", "t", false);
    ExprNodeGenericFuncDesc less =
        new ExprNodeGenericFuncDesc(
            TypeInfoFactory.booleanTypeInfo,
            new GenericUDFOPLessThan(),
            Arrays.asList(column, new ExprNodeConstantDesc(bound)));
    job.set(TableScanDesc.FILTER_EXPR_CONF_STR, SerializationUtilities.serializeExpression(less));
    job.set(TableScanDesc.FILTER_TEXT_CONF_STR, less.getExprString());
  }
}
