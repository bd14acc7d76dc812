package io.sargo.spark.shims;

import java.util.Collections;
import java.util.List;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/** Scala's sequences, as this version of Scala has them in Spark's signatures, and Java's lists. */
public final class Seqs {
  private Seqs() {}

  /** A view. */
  public static <T> List<T> list(scala.collection.Seq<T> seq) {
    return JavaConverters.seqAsJavaListConverter(seq).asJava();
  }

  /** A copy. */
  public static <T> Seq<T> of(List<T> list) {
    return JavaConverters.asScalaBufferConverter(list).asScala().toList();
  }

  public static <T> Seq<T> empty() {
    return of(Collections.<T>emptyList());
  }
}
