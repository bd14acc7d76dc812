package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.exception.TableNotFoundException;
import org.apache.hudi.hadoop.utils.HoodieInputFormatUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hudi's client from requests that are sent side by side: it is the one that Hudi makes. */
class TableClientTest {
  /** Says what the thread of the caller reads. */
  public static final class Watched extends LocalFileSystem {
    static final Set<String> READ = ConcurrentHashMap.newKeySet();
    static Thread caller;

    private static void note(Path path) {
      if (Thread.currentThread() == caller) {
        READ.add(path.getName());
      }
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      note(path);
      return super.open(path, bufferSize);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      note(path);
      return super.listStatus(path);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      note(path);
      return super.getFileStatus(path);
    }
  }

  private @TempDir java.nio.file.Path folder;
  private final JobConf job = new JobConf(false);
  private TableFolder table;

  @BeforeEach
  void makeTable() throws IOException {
    job.set("fs.file.impl", Watched.class.getName());
    job.setBoolean("fs.file.impl.disable.cache", true);
    table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    table.property("hoodie.table.index.defs.path", ".hoodie/.index_defs/index.json");
    Watched.caller = Thread.currentThread();
  }

  private void marker(String partition, int depth) throws IOException {
    String text = "commitTime=20250101000000000\npartitionDepth=" + depth + "\n";
    table.write(
        partition + "/.hoodie_partition_metadata", text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static List<String> instants(HoodieTableMetaClient client) {
    return client
        .reloadActiveTimeline()
        .getInstantsAsStream()
        .map(HoodieInstant::toString)
        .toList();
  }

  /** What the caller's thread reads while the client and its timeline are made. */
  private Set<String> readForClientOf(String partition) throws IOException {
    Path input = new Path(table.uri() + (partition.isEmpty() ? "" : "/" + partition));
    HoodieTableMetaClient expected =
        HoodieInputFormatUtils.getTableMetaClientForBasePathUnchecked(job, input);
    Watched.READ.clear();
    HoodieTableMetaClient client = TableClient.of(job, input);
    assertEquals(3, client.getActiveTimeline().countInstants());
    Set<String> read = new TreeSet<>(Watched.READ);
    assertEquals(expected.getBasePath(), client.getBasePath());
    assertEquals(expected.getTableConfig().getProps(), client.getTableConfig().getProps());
    assertEquals(expected.getTableType(), client.getTableType());
    assertEquals(instants(expected), instants(client));
    return read;
  }

  @ParameterizedTest
  @CsvSource({"dt=1, 1", "dt=1/hour=2, 2", "'', 0"})
  void theCallersThreadReadsNothingWhereThePartitionSaysItsDepth(String partition, int depth)
      throws IOException {
    marker(partition.isEmpty() ? "." : partition, depth);
    assertEquals(Set.of(), readForClientOf(partition));
  }

  @Test
  void aBasePathNeedsNoFileThatSaysItsDepth() throws IOException {
    assertEquals(Set.of(), readForClientOf(""));
    table.property("hoodie.partition.metafile.use.base.format", "true");
    assertTrue(readForClientOf("").contains("hoodie.properties"));
  }

  @Test
  void aBasePathIsRemembered() throws IOException {
    marker("2024/01", 2);
    assertTrue(readForClientOf("2024/01").contains("hoodie.properties"));
    marker("2024/02", 2);
    assertEquals(Set.of(), readForClientOf("2024/02"));
  }

  @Test
  void hudiLooksForTheTableOfAPartitionThatDoesNotSayItsDepth() throws IOException {
    Files.createDirectories(folder.resolve("dt=1"));
    assertTrue(readForClientOf("dt=1").contains("hoodie.properties"));
    assertTrue(readForClientOf("dt=missing").contains("hoodie.properties"));
  }

  @Test
  void anotherDepthIsHudis() throws IOException {
    marker("dt=1", 2);
    Path input = new Path(table.uri() + "/dt=1");
    assertThrows(TableNotFoundException.class, () -> TableClient.of(job, input));
    TableFolder inner = new TableFolder(folder.resolve("dt=2"), "MERGE_ON_READ", "h");
    marker("dt=2/h=1", 1);
    Path below = new Path(inner.uri() + "/h=1");
    assertEquals("file:" + inner.path, TableClient.of(job, below).getBasePath().toString());
    marker("dt=2/h=1", 2); // of the outer table
    assertEquals("file:" + folder, TableClient.of(job, below).getBasePath().toString());
  }

  @Test
  void aTableThatIsGoneIsNotFound() throws IOException {
    marker("2024", 1);
    Path input = new Path(table.uri() + "/2024");
    TableClient.of(job, input);
    Files.delete(folder.resolve(".hoodie/hoodie.properties"));
    Files.move(folder.resolve(".hoodie"), folder.resolve("moved"));
    assertThrows(TableNotFoundException.class, () -> TableClient.of(job, input));
  }

  // ---- what was read ahead

  @Test
  void aFileIsGivenOnceAndThenReadAgain() throws IOException {
    table.write("a", new byte[] {1, 2, 3});
    Path path = new Path(table.uri() + "/a");
    ReadAhead fs = new ReadAhead(path.getFileSystem(job), job);
    assertArrayEquals(new byte[] {1, 2, 3}, fs.readFile(path));
    table.write("a", new byte[10_000]);
    try (FSDataInputStream in = fs.open(path)) {
      in.seek(1);
      assertEquals(1, in.getPos());
      assertArrayEquals(new byte[] {2, 3}, in.readAllBytes());
      assertEquals(-1, in.read());
      assertThrows(IOException.class, () -> in.seek(4));
    }
    try (FSDataInputStream in = fs.open(path)) {
      assertEquals(10_000, in.readAllBytes().length);
    }
    assertEquals(10_000, fs.readFile(path).length);
  }

  @Test
  void aMissingFileIsMissingOnce() throws IOException {
    Path path = new Path(table.uri() + "/b");
    ReadAhead fs = new ReadAhead(path.getFileSystem(job), job);
    assertNull(fs.readFile(path));
    table.write("b", new byte[1]);
    assertThrows(FileNotFoundException.class, () -> fs.open(path));
    try (FSDataInputStream in = fs.open(path)) {
      assertEquals(1, in.readAllBytes().length);
    }
  }

  @Test
  void aFolderIsGivenOnceAndThenListedAgain() throws IOException {
    Path timeline = new Path(table.uri() + "/.hoodie/timeline");
    ReadAhead fs = new ReadAhead(timeline.getFileSystem(job), job);
    fs.list(timeline);
    table.instant("20250104000000000_20250104000000500.commit");
    assertEquals(3, fs.listStatus(timeline).length);
    assertEquals(4, fs.listStatus(timeline).length);
    fs.list(new Path(table.uri() + "/none"));
    assertThrows(FileNotFoundException.class, () -> fs.listStatus(new Path(table.uri() + "/none")));
  }
}
