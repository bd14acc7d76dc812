package io.sargo.spark;

import java.util.Collections;
import java.util.List;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/** Scala's sequences, as this version of Scala has them in Spark's signatures, and Java's lists. */
final class Seqs {
  private Seqs() {}

  /** A view. */
  static <T> List<T> list(scala.collection.Seq<T> seq) {
    return JavaConverters.seqAsJavaListConverter(seq).asJava();
  }

  /** A copy. */
  static <T> Seq<T> of(List<T> list) {
    return JavaConverters.asScalaBufferConverter(list).asScala().toList();
  }

  static <T> Seq<T> empty() {
    return of(Collections.<T>emptyList());
  }
}
