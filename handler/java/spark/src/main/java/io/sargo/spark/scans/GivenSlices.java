package io.sargo.spark.scans;

import io.sargo.client.KeepAll;
import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.Seqs;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;

/**
 * Hudi's index, of whose listing exactly the slices are left whose files are given, for a frame
 * that Hudi's reader reads.
 *
 * <pre>
 *   Hudi lists                     given                    left
 *   a slice                        all of its files         the slice
 *   a slice                        none of its files        nothing
 *   a slice                        some of its files        an error: the listing is another
 *   no slice with the file         a file                   an error: the listing is another
 * </pre>
 *
 * <p>Conditions that a frame gets later narrow the partitions alone. Hudi is not given the others,
 * because its data skipping loses rows.
 */
public final class GivenSlices extends FixedListing {
  private final HudiTable table;
  private final Set<String> names;
  private final Narrowing left;

  GivenSlices(FileIndex hudi, HudiTable table, Set<String> names, int slices)
      throws KeepAll, ReflectiveOperationException {
    super(hudi);
    this.table = table;
    this.names = names;
    left = leftOf(listedByHudi(Collections.<Expression>emptyList()));
    ListedSlices found = new ListedSlices(table, left.directories);
    KeepAll.when(
        found.count != slices || !names.equals(new HashSet<>(namesOf(found))),
        KeepAll.Reason.WRONG_ANSWER,
        "Hudi lists other files of these slices");
  }

  /** The scan with this index, below the projects that Hudi puts on it: {@code NarrowedReads}. */
  public static LogicalPlan of(LogicalPlan plan, String names, int slices) {
    if (plan instanceof Project) {
      LogicalPlan child = of(((Project) plan).child(), names, slices);
      return new Project(((Project) plan).projectList(), child);
    }
    try {
      HadoopFsRelation relation = HudiTable.relation(plan);
      Untouched.when(relation == null, "no scan of a snapshot by Hudi: " + plan.nodeName());
      FileIndex hudi = relation.location();
      Set<String> wanted = new HashSet<>(Arrays.asList(names.split("\n")));
      GivenSlices index = new GivenSlices(hudi, HudiTable.of(hudi), wanted, slices);
      return NarrowedRelation.scan((LogicalRelation) plan, index, index.left.summary());
    } catch (Untouched | KeepAll | ReflectiveOperationException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private List<PartitionDirectory> listedByHudi(List<Expression> partitionFilters) {
    return Seqs.list(hudi.listFiles(Seqs.of(partitionFilters), Seqs.<Expression>empty()));
  }

  private Narrowing leftOf(List<PartitionDirectory> directories)
      throws KeepAll, ReflectiveOperationException {
    ListedSlices listed = new ListedSlices(table, directories);
    List<String> all = namesOf(listed);
    BitSet others = new BitSet();
    for (int i = 0; i < all.size(); i++) {
      others.set(i, !names.contains(all.get(i)));
    }
    return listed.without(others);
  }

  private static List<String> namesOf(ListedSlices listed) {
    return Arrays.asList(new String(listed.names, StandardCharsets.UTF_8).split("\n"));
  }

  @Override
  Narrowing left() {
    return left;
  }

  @Override
  public List<PartitionDirectory> list(
      List<Expression> partitionFilters, List<Expression> dataFilters) {
    if (partitionFilters.isEmpty()) {
      return left.directories;
    }
    List<PartitionDirectory> listed = listedByHudi(partitionFilters);
    if (listed.stream().allMatch(directory -> directory.files().isEmpty())) {
      return Collections.emptyList();
    }
    try {
      return leftOf(listed).directories;
    } catch (KeepAll | ReflectiveOperationException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GivenSlices
        && hudi.equals(((GivenSlices) other).hudi)
        && names.equals(((GivenSlices) other).names);
  }

  @Override
  public int hashCode() {
    return Objects.hash(hudi, names);
  }
}
