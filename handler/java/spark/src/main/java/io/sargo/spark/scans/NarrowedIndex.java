package io.sargo.spark.scans;

import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.plans.Conditions;
import io.sargo.spark.question.FilterDocument;
import io.sargo.spark.shims.ListIndex;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

/**
 * Hudi's index, of whose listing the slices are left that may hold a matching row.
 *
 * <pre>
 *   conditions of the scan that can be written   listed by Hudi with       skipped by
 *   -------------------------------------------  ------------------------  ---------------------------
 *   none                                         all filters of the scan   Hudi
 *   some, and the answer can be used             partition filters alone   the answer
 *   some, and there is no such answer            all filters of the scan   Hudi, as without this class
 * </pre>
 *
 * <p>Only what Spark hands to {@link #list}, and the conditions of {@link #under} and {@link
 * #narrowedBy}, narrow a listing: rows that fail them are rows that the scan may lose. Conditions
 * on partition columns alone are Hudi's, which prunes partitions by their paths.
 */
public final class NarrowedIndex extends ListIndex {
  private final FileIndex hudi;
  private final Scan scan;

  /** Conditions on partition columns and others at once, of which Spark hands on a part or none. */
  private final List<Expression> mixed;

  /** Conditions that are known only while the query runs: a join's keys. */
  private final List<Expression> more;

  private final Map<List<Object>, Narrowing> narrowings;
  private Narrowing foreseen;

  NarrowedIndex(FileIndex hudi, Scan scan) {
    this(hudi, scan, Collections.emptyList(), Collections.emptyList(), new HashMap<>());
  }

  private NarrowedIndex(
      FileIndex hudi,
      Scan scan,
      List<Expression> mixed,
      List<Expression> more,
      Map<List<Object>, Narrowing> narrowings) {
    this.hudi = hudi;
    this.scan = scan;
    this.mixed = mixed;
    this.more = more;
    this.narrowings = narrowings;
  }

  /** Hudi's index, or the one that is narrowed; null for another. */
  public static FileIndex hudiIndex(FileIndex index) {
    FileIndex inner = index instanceof NarrowedIndex ? ((NarrowedIndex) index).hudi : index;
    return HudiTable.isIndex(inner) ? inner : null;
  }

  /** The index of a scan of a narrowed table; null for any other node. */
  public static NarrowedIndex of(LogicalPlan node) {
    if (node instanceof LogicalRelation
        && ((LogicalRelation) node).relation() instanceof HadoopFsRelation) {
      HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) node).relation();
      if (relation.location() instanceof NarrowedIndex) {
        return (NarrowedIndex) relation.location();
      }
    }
    return null;
  }

  /** A copy of a scan with this index, whose node shows {@link #summary}. */
  public LogicalPlan scannedBy(LogicalRelation scan) {
    return NarrowedRelation.scan(scan, this, summary());
  }

  /** The same, read by another format. */
  LogicalPlan scannedBy(LogicalRelation scan, FileFormat format) {
    return NarrowedRelation.scan(scan, this, format, summary());
  }

  /**
   * An index for a scan that loses every row that fails one of these conditions. It remembers those
   * of which Spark does not hand the whole to {@link #list}.
   */
  NarrowedIndex under(List<Expression> conditions) {
    List<Expression> found = new ArrayList<>();
    for (Expression condition : conditions) {
      if (isMixed(condition) && Conditions.isUsable(condition)) {
        found.add(Conditions.byName(condition));
      }
    }
    return found.isEmpty() ? this : new NarrowedIndex(hudi, scan, found, more, narrowings);
  }

  /**
   * An index that lists only slices that may hold a row that satisfies these conditions, too: this
   * one if it does so already.
   */
  public NarrowedIndex narrowedBy(List<Expression> conditions) {
    List<Expression> all = new ArrayList<>(more);
    conditions.stream().filter(one -> !more.contains(one)).forEach(all::add);
    return all.size() == more.size()
        ? this
        : new NarrowedIndex(hudi, scan, mixed, Collections.unmodifiableList(all), narrowings);
  }

  /** This index without the conditions of {@link #narrowedBy}; itself if it has none. */
  public NarrowedIndex withoutMore() {
    return more.isEmpty()
        ? this
        : new NarrowedIndex(hudi, scan, mixed, Collections.emptyList(), narrowings);
  }

  /**
   * Asks with the conditions that the scan is going to have: from then on the size, the input files
   * and the summary of this index are those of what is left.
   */
  public void foresee(List<Expression> conditions) {
    List<Expression> ofPartitions = new ArrayList<>();
    List<Expression> ofData = new ArrayList<>();
    for (Expression condition : conditions) {
      if (isOfPartitions(condition)) {
        ofPartitions.add(condition);
      } else if (!isMixed(condition)) {
        ofData.add(condition);
      }
    }
    ofPartitions.removeIf(condition -> !Conditions.isUsable(condition));
    foreseen = narrowing(ofPartitions, ofData);
  }

  private boolean isOfPartitions(Expression condition) {
    List<Attribute> columns = Seqs.list(condition.references().toSeq());
    return !columns.isEmpty() && columns.stream().allMatch(this::isPartition);
  }

  private boolean isMixed(Expression condition) {
    List<Attribute> columns = Seqs.list(condition.references().toSeq());
    return columns.stream().anyMatch(this::isPartition) && !isOfPartitions(condition);
  }

  private boolean isPartition(Attribute column) {
    return Arrays.asList(partitionSchema().fieldNames()).contains(column.name());
  }

  /** What is left by the last {@link #foresee}; null without one, and without any condition. */
  public Narrowing foreseen() {
    return foreseen;
  }

  /** How many slices are left, as one phrase; null if that is not known. */
  String summary() {
    return foreseen == null ? null : foreseen.summary();
  }

  @Override
  public List<PartitionDirectory> list(
      List<Expression> partitionFilters, List<Expression> dataFilters) {
    Narrowing narrowing = narrowing(partitionFilters, dataFilters);
    return narrowing == null ? listedByHudi(partitionFilters, dataFilters) : narrowing.directories;
  }

  private List<PartitionDirectory> listedByHudi(
      List<Expression> partitionFilters, List<Expression> dataFilters) {
    return Seqs.list(hudi.listFiles(Seqs.of(partitionFilters), Seqs.of(dataFilters)));
  }

  /** What is left: without the join's keys if they cannot be answered, null without conditions. */
  public Narrowing narrowing(List<Expression> partitionFilters, List<Expression> dataFilters) {
    Narrowing narrowing = narrowing(partitionFilters, dataFilters, more);
    return narrowing == null || narrowing.isAnswer() || more.isEmpty()
        ? narrowing
        : narrowing(partitionFilters, dataFilters, Collections.<Expression>emptyList());
  }

  private Narrowing narrowing(
      List<Expression> partitionFilters, List<Expression> dataFilters, List<Expression> more) {
    List<Expression> conditions = new ArrayList<>(dataFilters);
    conditions.addAll(mixed);
    conditions.addAll(more);
    FilterDocument document = FilterDocument.of(conditions);
    if (document.isEmpty()) {
      return null;
    }
    List<Object> key =
        Arrays.asList(new HashSet<>(partitionFilters), new HashSet<>(document.conditions()));
    synchronized (narrowings) {
      return narrowings.computeIfAbsent(
          key,
          absent ->
              scan.narrow(
                  document,
                  () -> listedByHudi(partitionFilters, Collections.<Expression>emptyList()),
                  () -> listedByHudi(partitionFilters, dataFilters)));
    }
  }

  /**
   * What footers answer of the slices that are left, of whose rows a scan shows those that satisfy
   * these conditions; null if they answer none. Asks once more.
   */
  public FooterAnswer byFooters(List<Expression> conditions, List<String> aggregates) {
    FilterDocument document = FilterDocument.of(conditions);
    if (document.conditions().size() < conditions.size()
        || foreseen != null && !foreseen.isAnswer()
        || !more.isEmpty()) {
      return null; // one that is not sent may be false of a row
    }
    List<Expression> ofPartitions = new ArrayList<>(conditions);
    ofPartitions.removeIf(condition -> !isOfPartitions(condition));
    List<PartitionDirectory> left =
        foreseen == null
            ? listedByHudi(ofPartitions, Collections.<Expression>emptyList())
            : foreseen.directories;
    return scan.byFooters(document, left, hudi, aggregates);
  }

  @Override
  public List<Path> roots() {
    return Seqs.list(hudi.rootPaths());
  }

  /** The files of the kept slices that Hudi lists, where they are known, else of all slices. */
  @Override
  public String[] inputFiles() {
    return foreseen == null ? hudi.inputFiles() : foreseen.paths();
  }

  @Override
  public void refresh() {
    synchronized (narrowings) {
      narrowings.clear();
    }
    foreseen = null;
    hudi.refresh();
  }

  @Override
  public long sizeInBytes() {
    return foreseen == null || foreseen.bytes < 0 ? hudi.sizeInBytes() : foreseen.bytes;
  }

  @Override
  public StructType partitionSchema() {
    return hudi.partitionSchema();
  }

  /** Spark reuses an exchange for scans that are equal: they list the same for the same filters. */
  @Override
  public boolean equals(Object other) {
    return other instanceof NarrowedIndex
        && hudi.equals(((NarrowedIndex) other).hudi)
        && mixed.equals(((NarrowedIndex) other).mixed)
        && more.equals(((NarrowedIndex) other).more);
  }

  @Override
  public int hashCode() {
    return Objects.hash(hudi, mixed, more);
  }
}
