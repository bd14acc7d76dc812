package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.LimitedKeys;
import io.sargo.spark.plans.Nodes;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.ListStrategy;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.PlanLater;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;
import org.apache.spark.sql.internal.SQLConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Plans a scan with the condition of {@link DynamicKeys}, or with {@link ScalarValues}, as a {@link
 * DynamicScan}: what Spark's own strategy plans for files, with the former condition taken from the
 * filter over the scan, and a copy of the latter.
 *
 * <p>All of them narrow the scan, one after the other. They are left out, for they change no row of
 * the query, where the scan has subqueries of its own, of a partition column. None may stay a
 * filter of rows: with more keys than are taken to the driver it would lose some. Where rows
 * without a key are lost before an exchange, the scan does it, and takes the filter's conditions.
 */
public final class DynamicScanStrategy extends ListStrategy {
  private static final long serialVersionUID = 1;
  private static final Logger LOG = LoggerFactory.getLogger(DynamicScanStrategy.class);

  private final SparkSession session;

  public DynamicScanStrategy(SparkSession session) {
    this.session = session;
  }

  @Override
  protected List<SparkPlan> plans(LogicalPlan plan) {
    if (plan instanceof Exchanged) {
      Exchanged rows = (Exchanged) plan;
      SparkPlan below = new PlanLater(plan.children().head());
      return Collections.singletonList(new ExchangedExec(rows.keys(), rows.most(), below));
    }
    if (!hasCondition(plan)) {
      return withoutLimited(plan);
    }
    List<SparkPlan> plans = new ArrayList<>();
    for (SparkPlan one : Seqs.list(FileSourceStrategy$.MODULE$.apply(plan))) {
      plans.add(one.transformUp(Rewrite.by(this::scanned)));
    }
    return plans;
  }

  /**
   * A filter that some rule has moved away from its scan, planned without the conditions whose keys
   * may not be all; nothing for any other plan.
   */
  private static List<SparkPlan> withoutLimited(LogicalPlan plan) {
    return plan instanceof Filter && LimitedKeys.areIn((Filter) plan)
        ? Collections.singletonList(new PlanLater(LimitedKeys.without(plan)))
        : Collections.emptyList();
  }

  /** Whether one of the filters and projects that begin a plan has such a condition. */
  private boolean hasCondition(LogicalPlan plan) {
    LogicalPlan node = plan;
    boolean has = false;
    while (node.children().size() == 1) {
      has |= node instanceof Filter && mayNarrow(((Filter) node).condition());
      node = node.children().head();
    }
    return has && NarrowedIndex.of(node) != null;
  }

  private boolean mayNarrow(Expression condition) {
    return isDynamic(condition) || !Conditions.later(condition).isEmpty() && hasValues();
  }

  /** Whether Spark reuses the scalar subqueries of a filter for the scan below. */
  private boolean hasValues() {
    try {
      SQLConf conf = session.sessionState().conf();
      return conf.adaptiveExecutionEnabled()
          && conf.subqueryReuseEnabled()
          && DynamicSettings.of(session) != DynamicSettings.FALSE;
    } catch (Exception | LinkageError e) {
      LOG.warn("sargo: not narrowed by scalar subqueries, because of {}", e.toString(), e);
      return false;
    }
  }

  private static boolean isDynamic(Expression condition) {
    return Conditions.conjuncts(condition).stream()
        .anyMatch(one -> one instanceof DynamicPruningSubquery);
  }

  /** A filter by keys or values as a scan that waits for them; null for any other node. */
  private SparkPlan scanned(SparkPlan node) {
    if (!(node instanceof FilterExec) || !mayNarrow(((FilterExec) node).condition())) {
      return null;
    }
    FilterExec filter = (FilterExec) node;
    List<Expression> rest = new ArrayList<>();
    List<Expression> dynamic = new ArrayList<>();
    for (Expression one : Conditions.conjuncts(filter.condition())) {
      (one instanceof DynamicPruningSubquery ? dynamic : rest).add(one);
    }
    SparkPlan left = filter.child();
    if (left instanceof FileSourceScanExec) {
      FileSourceScanExec scan = withoutSubqueries((FileSourceScanExec) left);
      if (isOwn(scan)) {
        Expression rows = null;
        boolean losesRows = dynamic.stream().anyMatch(KeySubquery::losesRows);
        dynamic.addAll(ofValues(scan, rest));
        if (losesRows) {
          List<Expression> known = known(rest);
          rest.removeAll(known);
          rows = and(known);
        }
        left = dynamic.isEmpty() ? left : new DynamicScan(scan, and(dynamic), rows);
      }
    }
    return rest.isEmpty() ? left : new FilterExec(and(rest), left);
  }

  /** The conditions that need nothing of the running query. */
  private static List<Expression> known(List<Expression> conditions) {
    return conditions.stream().filter(Conditions::isUsable).collect(Collectors.toList());
  }

  /** The conditions by scalar subqueries, with the names that the scan gives to its columns. */
  private List<Expression> ofValues(FileSourceScanExec scan, List<Expression> conditions) {
    try {
      return hasValues() ? usefulValues(scan, conditions) : Collections.emptyList();
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: not narrowed by scalar subqueries, because of {}", e.toString(), e);
      return Collections.emptyList();
    }
  }

  private static List<Expression> usefulValues(
      FileSourceScanExec scan, List<Expression> conditions) {
    NarrowedIndex index = (NarrowedIndex) scan.relation().location();
    List<String> partitions = Arrays.asList(scan.relation().partitionSchema().fieldNames());
    return Conditions.namedAs(Seqs.list(scan.output()), conditions).stream()
        .filter(one -> ScalarValues.canNarrow(one, column -> partitions.contains(column.name())))
        .filter(one -> UselessKeys.of(index, ScalarValues.template(one)).mayAsk())
        .collect(Collectors.toList());
  }

  private static Expression and(List<Expression> conditions) {
    return conditions.stream().reduce(And::new).orElse(Literal.TrueLiteral());
  }

  /**
   * A scan without filters of data that hold subqueries, which Spark 4 gives to it, too. They
   * filter the rows over the scan.
   */
  private static FileSourceScanExec withoutSubqueries(FileSourceScanExec scan) {
    List<Expression> filters = Seqs.list(scan.dataFilters());
    List<Expression> usable =
        filters.stream().filter(Conditions::isUsable).collect(Collectors.toList());
    return usable.size() == filters.size()
        ? scan
        : (FileSourceScanExec) Nodes.withPart(scan, scan.dataFilters(), Seqs.of(usable));
  }

  /** Whether a scan is of a narrowed table, and has no subquery of its own. */
  private static boolean isOwn(FileSourceScanExec scan) {
    return scan.relation().location() instanceof NarrowedIndex
        && Seqs.list(scan.expressions()).stream().allMatch(Conditions::isUsable);
  }
}
