package io.sargo.spark.aggregates;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.scans.FooterAnswer;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Takes count, min, max and sum of a scan from the footers of the files whose rows all satisfy its
 * conditions, where the session says {@code spark.sargo.aggregates=footers}.
 *
 * <pre>
 *   Aggregate [max(ts)]                 Aggregate [max(part)]
 *   +- Filter (p = 'x')          -->    +- Union
 *      +- scan of 14 slices                :- Aggregate [max(ts) AS part]
 *                                          :  +- Filter (p = 'x')
 *                                          :     +- scan of 2 slices
 *                                          +- Project [1764547200000000]
 * </pre>
 *
 * <p>Where footers answer all slices there is no scan. A query stays as it is where one of its
 * aggregates is another ({@link AskedAggregate}), where it groups, and where one of the conditions
 * cannot be sent.
 */
public final class AggregatesByFooters extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(AggregatesByFooters.class);
  private static final String KEY = "spark.sargo.aggregates";

  private final SparkSession session;

  public AggregatesByFooters(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    try {
      return isWanted() && !plan.isStreaming()
          ? plan.transform(Rewrite.by(AggregatesByFooters::answered))
          : plan;
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: no aggregates by footers, because of {}", e.toString(), e);
      return plan;
    }
  }

  private boolean isWanted() {
    String text = session.conf().get(KEY, "false").trim();
    if (!text.equalsIgnoreCase("footers") && !text.equalsIgnoreCase("false")) {
      Untouched.log(KEY + " is neither footers nor false: " + text, "any");
    }
    return text.equalsIgnoreCase("footers");
  }

  /** The aggregates of a scan with what footers say; null for any other node. */
  private static LogicalPlan answered(LogicalPlan node) {
    if (!(node instanceof Aggregate) || ((Aggregate) node).groupingExpressions().nonEmpty()) {
      return null;
    }
    Aggregate aggregate = (Aggregate) node;
    List<Expression> conditions = new ArrayList<>();
    LogicalPlan below = aggregate.child();
    while (below instanceof Filter || isOfColumns(below)) {
      if (below instanceof Filter) {
        conditions.addAll(Conditions.conjuncts(((Filter) below).condition()));
      }
      below = below.children().head();
    }
    NarrowedIndex index = NarrowedIndex.of(below);
    if (index == null) {
      return null;
    }
    LogicalRelation scan = (LogicalRelation) below;
    List<AskedAggregate> asked = asked(aggregate, scan);
    if (asked.isEmpty()) {
      return null;
    }
    List<String> texts =
        asked.stream().map(one -> one.text).distinct().collect(Collectors.toList());
    FooterAnswer answer = index.byFooters(Conditions.namedAs(scan, conditions), texts);
    if (answer == null) {
      return null;
    }
    try {
      List<Literal> values = new ArrayList<>();
      for (AskedAggregate one : asked) {
        int i = texts.indexOf(one.text);
        values.add(
            AnsweredValue.of(answer.values.get(i), answer.types.get(i), one.whole.dataType()));
      }
      return answered(aggregate, scan, asked, values, answer);
    } catch (IllegalArgumentException | ArithmeticException e) {
      LOG.info("sargo: values of footers are not used, because of {}", e.toString());
      return null;
    }
  }

  private static boolean isOfColumns(LogicalPlan node) {
    return node instanceof Project
        && Seqs.list(((Project) node).projectList()).stream()
            .allMatch(column -> column instanceof Attribute);
  }

  /** The aggregates of a node; none if one of them cannot be asked. */
  private static List<AskedAggregate> asked(Aggregate aggregate, LogicalRelation scan) {
    List<AskedAggregate> asked = new ArrayList<>();
    Deque<Expression> waiting = new ArrayDeque<>();
    Seqs.list(aggregate.aggregateExpressions()).forEach(one -> waiting.add((Expression) one));
    while (!waiting.isEmpty()) {
      Expression one = waiting.removeFirst();
      if (one instanceof AggregateExpression) {
        AskedAggregate found = AskedAggregate.of((AggregateExpression) one, scan);
        if (found == null) {
          return new ArrayList<>();
        }
        asked.add(found);
      } else if (!one.deterministic() || !Conditions.later(one).isEmpty()) {
        return new ArrayList<>();
      } else {
        waiting.addAll(Seqs.list(one.children()));
      }
    }
    return asked;
  }

  private static LogicalPlan answered(
      Aggregate aggregate,
      LogicalRelation scan,
      List<AskedAggregate> asked,
      List<Literal> values,
      FooterAnswer answer) {
    if (answer.isWhole()) {
      return new Project(
          Seqs.of(replaced(aggregate, asked, new ArrayList<Expression>(values))),
          new OneRowRelation());
    }
    List<NamedExpression> read = new ArrayList<>();
    List<NamedExpression> known = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      asked.get(i).ofRest().forEach(one -> read.add(named(one)));
      asked.get(i).ofAnswer(values.get(i)).forEach(one -> known.add(named(one)));
    }
    LogicalPlan rest =
        aggregate.child().transform(Rewrite.by(one -> one == scan ? answer.rest(scan) : null));
    LogicalPlan parts =
        new Union(
            Seqs.of(
                Arrays.<LogicalPlan>asList(
                    made(read, rest), new Project(Seqs.of(known), new OneRowRelation()))),
            false,
            false);
    List<Attribute> columns = Seqs.list(parts.output());
    List<Expression> together = new ArrayList<>();
    int at = 0;
    for (AskedAggregate one : asked) {
      int end = at + one.ofRest().size();
      together.add(one.together(columns.subList(at, end)));
      at = end;
    }
    return made(replaced(aggregate, asked, together), parts);
  }

  private static Aggregate made(List<NamedExpression> columns, LogicalPlan child) {
    return Reflection.made(Aggregate.class, Seqs.<Expression>empty(), Seqs.of(columns), child);
  }

  private static NamedExpression named(Expression of) {
    return new Alias(
        of, "part", NamedExpression.newExprId(), Seqs.empty(), Option.empty(), Seqs.empty());
  }

  /** The columns of an aggregate with other expressions in the place of what was asked. */
  private static List<NamedExpression> replaced(
      Aggregate aggregate, List<AskedAggregate> asked, List<Expression> others) {
    List<NamedExpression> columns = new ArrayList<>();
    for (NamedExpression column : Seqs.list(aggregate.aggregateExpressions())) {
      Expression other =
          ((Expression) column)
              .transform(
                  Rewrite.by(
                      one -> {
                        for (int i = 0; i < asked.size(); i++) {
                          if (asked.get(i).whole == one) {
                            return others.get(i);
                          }
                        }
                        return null;
                      }));
      columns.add((NamedExpression) other);
    }
    return columns;
  }
}
