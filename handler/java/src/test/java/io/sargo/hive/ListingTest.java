package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll;
import io.sargo.client.KeepAll.Reason;
import io.sargo.client.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.hadoop.FileStatusWithBootstrapBaseFile;
import org.apache.hudi.hadoop.LocatedFileStatusWithBootstrapBaseFile;
import org.apache.hudi.hadoop.PathWithBootstrapFileStatus;
import org.apache.hudi.hadoop.RealtimeFileStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The names of the listed files, and the files that are left of them, for a table in {@code t}. */
class ListingTest {
  private static final String INSTANT = "20250101000000000";

  private final Configuration conf = new Configuration(false);
  private @TempDir java.nio.file.Path folder;

  @BeforeEach
  void makeTables() throws IOException {
    makeTable("t");
    makeTable("t/nested");
    makeTable("a b%20ü");
    Files.createDirectories(folder.resolve("no_table"));
  }

  private void makeTable(String path) throws IOException {
    Files.createDirectories(folder.resolve(path).resolve(".hoodie"));
    Files.writeString(
        folder.resolve(path).resolve(".hoodie/hoodie.properties"),
        "hoodie.table.name=" + path.replace('/', '.') + "\nhoodie.table.type=MERGE_ON_READ\n");
  }

  private FileStatus file(String path) {
    return new FileStatus(1, false, 1, 1, 0, new Path("file:" + folder + "/" + path));
  }

  private LocatedFileStatus located(String path) {
    return new LocatedFileStatus(file(path), null);
  }

  /** A slice of the merged view; the log files are in the folder of the base file. */
  private FileStatus slice(String instant, String path, String... logs) throws IOException {
    return slice(instant, false, file(path), logs);
  }

  private RealtimeFileStatus slice(
      String instant, boolean incremental, FileStatus base, String... logs) throws IOException {
    List<HoodieLogFile> logFiles =
        Arrays.stream(logs)
            .map(log -> new HoodieLogFile(new Path(base.getPath().getParent(), log).toString()))
            .toList();
    RealtimeFileStatus slice =
        new RealtimeFileStatus(
            base, "file:" + folder + "/t", logFiles, incremental, Option.empty());
    slice.setMaxCommitTime(instant);
    return slice;
  }

  private Listing listing(FileStatus... files) throws IOException, KeepAll {
    return new Listing(conf, files);
  }

  private static String names(Listing listing) {
    return new String(listing.names, StandardCharsets.UTF_8);
  }

  private Reason whyNot(FileStatus... files) {
    return assertThrows(KeepAll.class, () -> listing(files)).reason;
  }

  // ---- names

  @ParameterizedTest
  @CsvSource({
    "t/a.parquet, a.parquet",
    "t/dt=1/a.parquet, dt=1/a.parquet",
    "t/dt=1/hour=2/a.parquet, dt=1/hour=2/a.parquet",
    "t/dt=a%2Fb/a.parquet, dt=a%2Fb/a.parquet",
    "t/dt=a b/a.parquet, dt=a b/a.parquet",
    "t/dt=größe 表/a.parquet, dt=größe 表/a.parquet",
    "t/nested/a.parquet, a.parquet",
    "a b%20ü/a.parquet, a.parquet",
  })
  void aNameIsThePathBelowTheNearestTable(String path, String name) throws IOException, KeepAll {
    Listing listing = listing(file(path));
    assertEquals(name, names(listing));
    assertEquals(1, listing.nameCount);
  }

  @Test
  void namesAreInTheOrderOfTheListing() throws IOException, KeepAll {
    Listing listing = listing(file("t/b.parquet"), file("t/a.parquet"), file("t/c.parquet"));
    assertEquals("b.parquet\na.parquet\nc.parquet", names(listing));
    assertEquals(3, listing.nameCount);
    assertEquals(new Path("file:" + folder + "/t"), listing.base);
  }

  @Test
  void aSliceHasTheNamesOfItsBaseFileAndItsLogFiles() throws IOException, KeepAll {
    Listing listing =
        listing(
            slice(INSTANT, "t/dt=1/a.parquet", ".a_1.log.1_0-1-1", ".a_1.log.2_0-1-1"),
            slice(INSTANT, "t/dt=2/b.parquet"));
    assertEquals(
        "dt=1/a.parquet\ndt=1/.a_1.log.1_0-1-1\ndt=1/.a_1.log.2_0-1-1\ndt=2/b.parquet",
        names(listing));
    assertEquals(4, listing.nameCount);
    assertEquals(INSTANT, listing.instant);
  }

  @Test
  void onlyAMergedListingHasAnInstant() throws IOException, KeepAll {
    assertNull(listing(file("t/a.parquet")).instant);
  }

  // ---- files that are left

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "          | a b outside c",
        "0         | b outside c",
        "1         | a b outside c",
        "1 2       | a b outside c",
        "2 3       | a b outside c",
        "1 2 3     | a outside c",
        "4         | a b outside",
        "0 1 2 4   | b outside",
        "0 1 2 3 4 | outside",
      })
  void aFileIsSkippedIfEachOfItsNamesIs(String bits, String kept) throws IOException, KeepAll {
    Listing listing =
        listing(
            file("t/a"), slice(INSTANT, "t/b", ".b_1.log.1_0-1-1", ".b_1.log.2_0-1-1"),
            file("no_table/outside"), file("t/c"));
    BitSet skip = new BitSet();
    if (bits != null) {
      Arrays.stream(bits.split(" ")).mapToInt(Integer::parseInt).forEach(skip::set);
    }
    List<String> names =
        Arrays.stream(listing.without(skip)).map(file -> file.getPath().getName()).toList();
    assertEquals(kept, String.join(" ", names));
  }

  interface Named {
    FileStatus in(ListingTest test) throws IOException;
  }

  static Stream<Arguments> unnameable() {
    return Stream.of(
        file("in another folder", test -> test.file("no_table/b")),
        file("in a folder whose name the table's name begins", test -> test.file("t2/b")),
        file("in the folder above", test -> test.file("b")),
        file("with a line feed in its name", test -> test.file("t/b\nc")),
        file(
            "with a bootstrap base file",
            test -> new FileStatusWithBootstrapBaseFile(test.file("t/b"), test.file("no_table/b"))),
        file(
            "located, with a bootstrap base file",
            test ->
                new LocatedFileStatusWithBootstrapBaseFile(
                    test.located("t/b"), test.file("no_table/b"))),
        file(
            "merged, with a bootstrap base file",
            test -> {
              FileStatus original = test.file("no_table/b");
              original.setPath(new PathWithBootstrapFileStatus(original.getPath(), original));
              RealtimeFileStatus slice = test.slice(INSTANT, false, test.file("t/b"));
              slice.setBootStrapFileStatus(original);
              return slice;
            }),
        file("merged, with a log file elsewhere", test -> test.slice(INSTANT, "t/b", "../../x")));
  }

  private static Arguments file(String name, Named file) {
    return arguments(name, file);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("unnameable")
  void aFileThatCannotBeNamedIsAlwaysKept(String name, Named unnameable)
      throws IOException, KeepAll {
    FileStatus file = unnameable.in(this);
    Listing listing = listing(file("t/a"), file, file("t/c"));
    assertEquals("a\nc", names(listing));
    BitSet all = new BitSet();
    all.set(0, 100);
    assertEquals(List.of(file), List.of(listing.without(all)));
  }

  // ---- listings that keep every file

  @Test
  void anEmptyListingKeepsEveryFile() {
    assertEquals(Reason.NO_FILES, whyNot());
  }

  @Test
  void filesOfNoTableAreKept() {
    assertEquals(Reason.UNKNOWN_TABLE, whyNot(file("no_table/a")));
  }

  @Test
  void filesWithoutAnyNameAreKept() {
    assertEquals(Reason.UNKNOWN_TABLE, whyNot(file("t/a\nb")));
  }

  @Test
  void slicesOfTwoInstantsAreKept() throws IOException {
    assertEquals(
        Reason.UNKNOWN_TABLE, whyNot(slice(INSTANT, "t/a"), slice("20250202000000000", "t/b")));
  }

  @Test
  void moreNamesThanARequestMayHoldAreKept() {
    FileStatus[] files = new FileStatus[Settings.MAX_NAMES + 1];
    Arrays.fill(files, file("t/a"));
    assertEquals(Reason.TOO_MANY_FILES, whyNot(files));
  }

  // ---- what kind of query it is

  @ParameterizedTest
  @CsvSource({
    "hoodie.trips.consume.mode, INCREMENTAL, true",
    "hoodie.trips.consume.mode, incremental, true",
    "hoodie.trips.consume.mode, SNAPSHOT, false",
    "hoodie.database.trips.consume.mode, INCREMENTAL, true",
    "hoodie.other.consume.mode, INCREMENTAL, false",
    "hoodie.othertrips.consume.mode, INCREMENTAL, false",
    "hoodie.trips.consume.modes, INCREMENTAL, false",
    "hoodie.tripsXconsume.mode, INCREMENTAL, false",
    "hoodies.trips.consume.mode, INCREMENTAL, false",
    "my.hoodie.trips.consume.mode, INCREMENTAL, false",
  })
  void aQueryIsIncrementalByTheSettingOfItsTable(String key, String value, boolean incremental) {
    Properties table = new Properties();
    table.setProperty("hoodie.table.name", "trips");
    conf.set(key, value);
    assertEquals(incremental, Listing.isIncremental(conf, table));
  }

  @Test
  void aTableNameIsNoPattern() {
    Properties table = new Properties();
    table.setProperty("hoodie.table.name", "a.c");
    conf.set("hoodie.abc.consume.mode", "INCREMENTAL");
    assertNull(Listing.consumeSetting(conf, table, "mode"));
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void aMergedListingSaysWhetherItIsIncremental(boolean incremental) throws IOException, KeepAll {
    Listing listing =
        listing(slice(INSTANT, false, file("t/a")), slice(INSTANT, incremental, file("t/b")));
    assertEquals(incremental, listing.isIncremental(conf));
  }

  @Test
  void theListingHasThePropertiesOfItsTable() throws IOException, KeepAll {
    Properties table = listing(file("t/nested/a")).table;
    assertEquals("t.nested", table.getProperty("hoodie.table.name"));
    assertEquals(true, Listing.isMergeOnRead(table));
    table.setProperty("hoodie.table.type", "COPY_ON_WRITE");
    assertEquals(false, Listing.isMergeOnRead(table));
  }
}
