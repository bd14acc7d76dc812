import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.DriverFactory;
import org.apache.hadoop.hive.ql.IDriver;
import org.apache.hadoop.hive.ql.QueryPlan;
import org.apache.hadoop.hive.ql.exec.FetchTask;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.exec.TableScanOperator;
import org.apache.hadoop.hive.ql.exec.Task;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.MapredWork;
import org.apache.hadoop.hive.ql.session.SessionState;

/**
 * What Hive pushes down into the scan of a table for each of many conditions: its own Driver
 * compiles the query, and the filter of the plan's table scan is serialized as Hive does it for
 * hive.io.filter.expr.serialized.
 *
 * <p>First argument: where the answers go. Standard input: the statement that makes table t, then a
 * condition a line, both in Base64. Answers, a line each: the word and its text in Base64. "filter"
 * BASE64 EXPRESSION; "none" when the scan has no filter; "empty" when Hive plans no scan at all;
 * "error" WHY.
 */
public class FilterOf {
  public static void main(String[] arguments) throws Exception {
    HiveConf conf = new HiveConf();
    conf.set("hive.execution.engine", "mr");
    SessionState session = new SessionState(conf);
    SessionState.start(session);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (PrintWriter out =
        new PrintWriter(
            (Writer)
                new OutputStreamWriter(
                    new FileOutputStream(arguments[0]), StandardCharsets.UTF_8))) {
      run(conf, decoded(in.readLine()));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        out.println(answer(conf, decoded(line)));
      }
    }
    System.exit(0);
  }

  private static void run(HiveConf conf, String statement) throws Exception {
    IDriver driver = DriverFactory.newDriver(conf);
    driver.run(statement);
    driver.close();
  }

  private static String answer(HiveConf conf, String condition) {
    IDriver driver = null;
    try {
      driver = DriverFactory.newDriver(conf);
      Object response = driver.compileAndRespond("SELECT * FROM t WHERE " + condition);
      QueryPlan plan = driver.getPlan();
      if (plan == null) {
        return "error " + encoded(String.valueOf(response));
      }
      List<TableScanOperator> scans = new ArrayList<>();
      ofTasks(plan.getRootTasks(), new HashSet<>(), scans);
      FetchTask fetch = plan.getFetchTask();
      if (fetch != null && fetch.getWork().getSource() != null) {
        below(fetch.getWork().getSource(), new HashSet<>(), scans);
      }
      if (scans.isEmpty()) {
        return "empty";
      }
      ExprNodeGenericFuncDesc filter = scans.get(0).getConf().getFilterExpr();
      return filter == null
          ? "none"
          : "filter "
              + SerializationUtilities.serializeExpression(filter)
              + " "
              + encoded(filter.getExprString());
    } catch (Throwable error) {
      return "error " + encoded(String.valueOf(error));
    } finally {
      if (driver != null) {
        driver.close();
      }
    }
  }

  private static void ofTasks(
      Collection<?> tasks, Set<Object> seen, List<TableScanOperator> scans) {
    for (Object one : tasks == null ? new ArrayList<>() : tasks) {
      Task<?> task = (Task<?>) one;
      if (seen.add(task)) {
        if (task.getWork() instanceof MapredWork) {
          MapWork work = ((MapredWork) task.getWork()).getMapWork();
          for (Operator<?> root : work.getAliasToWork().values()) {
            below(root, new HashSet<>(), scans);
          }
        }
        ofTasks(task.getDependentTasks(), seen, scans);
      }
    }
  }

  private static void below(Operator<?> operator, Set<Object> seen, List<TableScanOperator> scans) {
    if (operator != null && seen.add(operator)) {
      if (operator instanceof TableScanOperator) {
        scans.add((TableScanOperator) operator);
      }
      if (operator.getChildOperators() != null) {
        for (Operator<?> child : operator.getChildOperators()) {
          below(child, seen, scans);
        }
      }
    }
  }

  private static String decoded(String line) {
    return new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
