package io.sargo.spark.plans;

import java.util.function.UnaryOperator;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/** A rule for the nodes of a tree, as Spark's {@code transform} takes it. */
public final class Rewrite<T> extends AbstractPartialFunction<T, T> {
  private static final long serialVersionUID = 1;
  private final transient UnaryOperator<T> rule;

  private Rewrite(UnaryOperator<T> rule) {
    this.rule = rule;
  }

  /** Of a rule that gives null for a node that stays as it is. It is asked once for each node. */
  public static <T> Rewrite<T> by(UnaryOperator<T> rule) {
    return new Rewrite<>(rule);
  }

  @Override
  public boolean isDefinedAt(T node) {
    return rule.apply(node) != null;
  }

  @Override
  public <A extends T, B> B applyOrElse(A node, Function1<A, B> otherwise) {
    T other = rule.apply(node);
    @SuppressWarnings("unchecked")
    B result = other == null ? otherwise.apply(node) : (B) other;
    return result;
  }
}
