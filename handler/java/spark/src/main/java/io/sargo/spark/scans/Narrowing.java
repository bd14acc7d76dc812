package io.sargo.spark.scans;

import io.sargo.spark.shims.Seqs;
import java.util.List;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;

/** What is left of a listing. */
public final class Narrowing {
  final List<PartitionDirectory> directories;

  /** Of so many slices. */
  final int listed;

  final int kept;

  /** The bytes of the kept slices, with their log files; -1 if they are not known. */
  final long bytes;

  /** Why nothing is skipped, or null. */
  private final String why;

  Narrowing(List<PartitionDirectory> directories, int listed, int kept, long bytes) {
    this(directories, listed, kept, bytes, null);
  }

  private Narrowing(
      List<PartitionDirectory> directories, int listed, int kept, long bytes, String why) {
    this.directories = directories;
    this.listed = listed;
    this.kept = kept;
    this.bytes = bytes;
    this.why = why;
  }

  /** What Hudi lists by its own rules, because no answer can be used. */
  static Narrowing byHudi(List<PartitionDirectory> directories, String why) {
    int count = directories.stream().mapToInt(directory -> directory.files().size()).sum();
    return new Narrowing(directories, count, count, -1, why);
  }

  /** Whether an answer was used: the slices are not those that Hudi keeps by its own rules. */
  public boolean isAnswer() {
    return why == null;
  }

  /** Whether fewer slices are left than by another narrowing of the listing; null: than listed. */
  public boolean isLessThan(Narrowing other) {
    return kept < (other == null ? listed : other.kept);
  }

  /** One phrase for the node of the plan. */
  String summary() {
    return why == null
        ? "Sargo: " + kept + " of " + listed + " file slices"
        : "Sargo: nothing skipped (" + why + ")";
  }

  String[] paths() {
    return directories.stream()
        .flatMap(directory -> Seqs.list(directory.files()).stream())
        .map(FileStatusWithMetadata::getPath)
        .map(path -> path.toUri().toString())
        .toArray(String[]::new);
  }
}
