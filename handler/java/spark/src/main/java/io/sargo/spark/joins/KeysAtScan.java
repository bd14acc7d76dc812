package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Joins;
import io.sargo.spark.plans.Nodes;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * Takes a key of a join down to the scan that its columns come from: as Spark pushes down filters.
 *
 * <pre>
 *   between the join and the scan        the key goes on
 *   -----------------------------------  -----------------------------------------------------
 *   Filter, Project without randomness   with its aliases replaced
 *   inner join                           to the side that has its columns
 *   left outer, semi, anti, existence    to the left side alone
 *   right outer join                     to the right side alone
 *   UNION ALL                            to each part, as its columns in the same places
 *   aggregate, window                    on if it is of what they group or part their rows by:
 *                                        the others lose whole groups
 *   anything else                        no further: a limit would see less rows
 * </pre>
 */
abstract class KeysAtScan {
  private static final List<Expression> NONE = Collections.emptyList();

  /**
   * The plan in the place of a scan of a narrowed table, or the same one.
   *
   * @param filters the conditions that stand right over the scan
   * @param key over the scan's columns
   * @param passed the joins, aggregates and windows between this join and the scan
   */
  abstract LogicalPlan at(
      LogicalRelation scan,
      NarrowedIndex index,
      List<Expression> filters,
      Expression key,
      List<LogicalPlan> passed);

  /** The plan with other scans, or the same one if the key reaches none that is to change. */
  final LogicalPlan narrowed(LogicalPlan node, Expression key) {
    return below(node, key, NONE, Collections.<LogicalPlan>emptyList());
  }

  private LogicalPlan below(
      LogicalPlan node, Expression key, List<Expression> filters, List<LogicalPlan> passed) {
    if (!key.references().subsetOf(node.outputSet())) {
      return node;
    }
    if (node instanceof Join) {
      return belowJoin((Join) node, key, passed);
    }
    if (node instanceof Union) {
      return belowUnion(node, key, passed);
    }
    if (node instanceof LogicalRelation) {
      LogicalRelation scan = (LogicalRelation) node;
      NarrowedIndex index = NarrowedIndex.of(scan);
      return index == null
          ? node
          : at(
              scan,
              index,
              Conditions.namedAs(scan, filters),
              Conditions.namedAs(scan, key),
              passed);
    }
    Expression meant = keyBelow(node, key);
    if (meant == null) {
      return node;
    }
    List<Expression> all = NONE;
    if (node instanceof Filter) {
      all = new ArrayList<>(filters);
      all.addAll(Conditions.conjuncts(((Filter) node).condition()));
    }
    boolean isGroup = node instanceof Aggregate || node instanceof Window;
    return Nodes.withChildren(
        node, below(node.children().head(), meant, all, isGroup ? with(passed, node) : passed));
  }

  /** The key of a node over what is below it; null if it goes no further, and for joins. */
  static Expression keyBelow(LogicalPlan node, Expression key) {
    if (node instanceof Filter) {
      return ((Filter) node).condition().deterministic() ? key : null;
    }
    if (node instanceof Project) {
      List<NamedExpression> columns = Seqs.list(((Project) node).projectList());
      boolean isSame = columns.stream().allMatch(one -> ((Expression) one).deterministic());
      return isSame ? meaning(key, columns) : null;
    }
    return node instanceof Aggregate || node instanceof Window ? ofGroup(node, key) : null;
  }

  private LogicalPlan belowJoin(Join join, Expression key, List<LogicalPlan> passed) {
    if (join.condition().isDefined() && !join.condition().get().deterministic()) {
      return join;
    }
    boolean toLeft = Joins.keepsLeft(join);
    boolean toRight = Joins.keepsRight(join);
    List<LogicalPlan> all = with(passed, join);
    LogicalPlan left = toLeft ? below(join.left(), key, NONE, all) : join.left();
    LogicalPlan right = toRight ? below(join.right(), key, NONE, all) : join.right();
    return Nodes.withChildren(join, left, right);
  }

  private static List<LogicalPlan> with(List<LogicalPlan> passed, LogicalPlan node) {
    List<LogicalPlan> all = new ArrayList<>(passed);
    all.add(node);
    return all;
  }

  /**
   * The key over what is below an aggregate or a window, where all rows of a group have the same;
   * else null.
   */
  private static Expression ofGroup(LogicalPlan node, Expression key) {
    if (!Seqs.list(node.expressions()).stream().allMatch(Expression::deterministic)) {
      return null; // which random numbers a row gets depends on the rows before
    }
    List<Expression> groups;
    Expression meant = key;
    if (node instanceof Aggregate) {
      groups = Seqs.list(((Aggregate) node).groupingExpressions());
      meant = meaning(key, Seqs.list(((Aggregate) node).aggregateExpressions()));
    } else {
      groups = Seqs.list(((Window) node).partitionSpec());
    }
    Set<ExprId> columns = new HashSet<>();
    for (Expression group : groups) {
      if (group instanceof Attribute) {
        columns.add(((Attribute) group).exprId());
      }
    }
    List<Attribute> own = Seqs.list(meant.references().toSeq());
    return !own.isEmpty() && own.stream().allMatch(column -> columns.contains(column.exprId()))
        ? meant
        : null;
  }

  private LogicalPlan belowUnion(LogicalPlan union, Expression key, List<LogicalPlan> passed) {
    List<Attribute> columns = Seqs.list(union.output());
    List<LogicalPlan> parts = Seqs.list(union.children());
    if (columns.stream().map(Attribute::exprId).distinct().count() < columns.size()) {
      return union; // which of two columns a key means is Spark's secret
    }
    LogicalPlan[] others = new LogicalPlan[parts.size()];
    for (int i = 0; i < others.length; i++) {
      Map<ExprId, Expression> meanings = new HashMap<>();
      List<Attribute> own = Seqs.list(parts.get(i).output());
      for (int column = 0; column < own.size(); column++) {
        meanings.put(columns.get(column).exprId(), own.get(column));
      }
      others[i] = below(parts.get(i), replaced(key, meanings), NONE, passed);
    }
    return Nodes.withChildren(union, others);
  }

  /** Whether a key has a column of partitions, by which Spark filters those of a scan itself. */
  static boolean hasPartitions(LogicalRelation scan, NarrowedIndex index, Expression key) {
    List<String> partitions = new ArrayList<>(Arrays.asList(index.partitionSchema().fieldNames()));
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    partitions.addAll(Arrays.asList(relation.partitionSchema().fieldNames()));
    return Seqs.list(key.references().toSeq()).stream()
        .anyMatch(column -> partitions.stream().anyMatch(column.name()::equalsIgnoreCase));
  }

  /** The key with a project's names replaced by what they stand for. */
  static Expression meaning(Expression key, List<NamedExpression> columns) {
    Map<ExprId, Expression> meanings = new HashMap<>();
    for (NamedExpression column : columns) {
      if (column instanceof Alias) {
        meanings.put(column.exprId(), ((Alias) column).child());
      }
    }
    return replaced(key, meanings);
  }

  private static Expression replaced(Expression key, Map<ExprId, Expression> meanings) {
    return key.transform(
        Rewrite.by(
            one -> one instanceof Attribute ? meanings.get(((Attribute) one).exprId()) : null));
  }
}
