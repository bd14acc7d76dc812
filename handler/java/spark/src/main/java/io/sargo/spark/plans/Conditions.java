package io.sargo.spark.plans;

import io.sargo.spark.shims.Seqs;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/** The parts of a filter that must all hold, and which of them are known before the query runs. */
public final class Conditions {
  private static final ExprId ANY = new ExprId(0, new UUID(0, 0));

  private Conditions() {}

  public static List<Expression> conjuncts(Expression condition) {
    List<Expression> conjuncts = new ArrayList<>();
    Deque<Expression> waiting = new ArrayDeque<>(Collections.singletonList(condition));
    while (!waiting.isEmpty()) {
      Expression one = waiting.removeFirst();
      if (one instanceof And) {
        waiting.addFirst(((And) one).right());
        waiting.addFirst(((And) one).left());
      } else {
        conjuncts.add(one);
      }
    }
    return conjuncts;
  }

  /** A plan whose filters have no condition that a test holds for. */
  public static LogicalPlan without(LogicalPlan plan, Predicate<Expression> test) {
    return plan.transformUp(
        Rewrite.by(
            node -> {
              Filter filter = node instanceof Filter ? (Filter) node : null;
              return filter != null && conjuncts(filter.condition()).stream().anyMatch(test)
                  ? without(filter, test)
                  : null;
            }));
  }

  private static LogicalPlan without(Filter filter, Predicate<Expression> test) {
    return conjuncts(filter.condition()).stream()
        .filter(test.negate())
        .reduce(And::new)
        .map(rest -> (LogicalPlan) new Filter(rest, filter.child()))
        .orElse(filter.child());
  }

  /**
   * Whether a condition is deterministic, and without subqueries and what else only a running query
   * has. Throws StackOverflowError for one that nests too deeply for Spark.
   */
  public static boolean isUsable(Expression condition) {
    return condition.deterministic() && later(condition).isEmpty();
  }

  /** The subqueries of a condition, and what else in it only a running query has. */
  public static List<Expression> later(Expression condition) {
    List<Expression> found = new ArrayList<>();
    Deque<Expression> waiting = new ArrayDeque<>(Collections.singletonList(condition));
    while (!waiting.isEmpty()) {
      Expression one = waiting.removeFirst();
      if (isLater(one)) {
        found.add(one);
      } else {
        waiting.addAll(Seqs.list(one.children()));
      }
    }
    return found;
  }

  /** A condition with constants in the place of what {@link #later} finds. */
  public static Expression withValues(Expression condition, Function<Expression, Object> values) {
    return condition.transform(
        Rewrite.by(one -> isLater(one) ? new Literal(values.apply(one), one.dataType()) : null));
  }

  private static boolean isLater(Expression one) {
    return one instanceof PlanExpression || one instanceof DynamicPruning;
  }

  /**
   * The same conditions with the names that a scan gives to its columns. In a query they have those
   * that its author wrote, in letters of any case. Spark renames them when it plans the scan.
   */
  public static List<Expression> namedAs(LogicalRelation scan, List<Expression> conditions) {
    return namedAs(Seqs.list(scan.output()), conditions);
  }

  public static List<Expression> namedAs(
      List<? extends Attribute> columns, List<Expression> conditions) {
    Map<ExprId, String> names =
        columns.stream()
            .collect(Collectors.toMap(Attribute::exprId, Attribute::name, (one, other) -> one));
    return conditions.stream().map(one -> named(one, names)).collect(Collectors.toList());
  }

  public static Expression namedAs(LogicalRelation scan, Expression condition) {
    return namedAs(scan, Collections.singletonList(condition)).get(0);
  }

  private static Expression named(Expression condition, Map<ExprId, String> names) {
    return condition.transform(
        Rewrite.by(
            one -> {
              Attribute column = one instanceof AttributeReference ? (Attribute) one : null;
              String name = column == null ? null : names.get(column.exprId());
              return name == null ? null : (Expression) column.withName(name);
            }));
  }

  /** The same condition over columns that only their names tell apart. */
  public static Expression byName(Expression condition) {
    return condition.transform(
        Rewrite.by(
            one ->
                one instanceof AttributeReference
                    ? ((AttributeReference) one).withQualifier(Seqs.empty()).withExprId(ANY)
                    : null));
  }
}
