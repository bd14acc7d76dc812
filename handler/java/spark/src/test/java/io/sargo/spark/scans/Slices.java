package io.sargo.spark.scans;

import io.sargo.spark.hudi.HudiTables;
import io.sargo.spark.shims.ListIndex;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;

/** Listings as Hudi's index gives them, with classes that have the methods of Hudi's. */
public final class Slices {
  private Slices() {}

  /** Hudi's Option. */
  public static final class Maybe {
    private final Object value;

    Maybe(Object value) {
      this.value = value;
    }

    public boolean isPresent() {
      return value != null;
    }
  }

  /** Hudi's HoodieLogFile, of 7 bytes. */
  public static final class LogFile {
    private final String name;

    LogFile(String name) {
      this.name = name;
    }

    public String getFileName() {
      return name;
    }

    public long getFileSize() {
      return 7;
    }
  }

  /** Hudi's FileSlice. */
  public static final class Slice {
    private final boolean hasBase;
    private final String[] logs;

    Slice(boolean hasBase, String... logs) {
      this.hasBase = hasBase;
      this.logs = logs;
    }

    public Stream<LogFile> getLogFiles() {
      return Arrays.stream(logs).map(LogFile::new);
    }

    public Maybe getBaseFile() {
      return new Maybe(hasBase ? "base" : null);
    }
  }

  /** Hudi's HoodiePartitionFileSliceMapping. */
  public static final class Mapping extends GenericInternalRow {
    private static final long serialVersionUID = 1;
    private final transient Map<String, Slice> slices;

    Mapping(Map<String, Slice> slices) {
      super(0);
      this.slices = slices;
    }

    public Option<Slice> getSlice(String fileId) {
      return Option.apply(slices.get(fileId));
    }
  }

  static PartitionDirectory plain(String... files) {
    return directory(InternalRow.empty(), files);
  }

  static PartitionDirectory merged(Map<String, Slice> slices, String... files) {
    return directory(new Mapping(slices), files);
  }

  private static PartitionDirectory directory(InternalRow values, String... files) {
    scala.collection.immutable.Map<String, Object> none =
        scala.collection.immutable.Map$.MODULE$.empty();
    List<FileStatusWithMetadata> statuses =
        Arrays.stream(files)
            .map(file -> new FileStatus(100, false, 1, 1, 0, new Path("file:" + file)))
            .map(status -> new FileStatusWithMetadata(status, none))
            .collect(Collectors.toList());
    return new PartitionDirectory(values, Seqs.of(statuses));
  }

  /** The names of the files that are listed. */
  static List<String> files(List<PartitionDirectory> directories) {
    List<String> names = new ArrayList<>();
    for (PartitionDirectory directory : directories) {
      for (FileStatusWithMetadata file : Seqs.list(directory.files())) {
        names.add(file.getPath().getName());
      }
    }
    return names;
  }

  /** An index of these directories that notes the filters it is given. */
  static final class Index extends ListIndex {
    final List<PartitionDirectory> directories;
    final List<String> asked = new ArrayList<>();
    private final int id;

    Index(int id, PartitionDirectory... directories) {
      this.id = id;
      this.directories = Arrays.asList(directories);
    }

    @Override
    public List<Path> roots() {
      return List.of(HudiTables.BASE);
    }

    @Override
    public List<PartitionDirectory> list(
        List<Expression> partitionFilters, List<Expression> dataFilters) {
      asked.add(partitionFilters.size() + " " + dataFilters.size());
      return directories;
    }

    @Override
    public String[] inputFiles() {
      return new String[] {"all"};
    }

    @Override
    public void refresh() {
      asked.clear();
    }

    @Override
    public long sizeInBytes() {
      return 12345;
    }

    @Override
    public StructType partitionSchema() {
      return new StructType().add("p", DataTypes.StringType);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Index && ((Index) other).id == id;
    }

    @Override
    public int hashCode() {
      return id;
    }
  }
}
