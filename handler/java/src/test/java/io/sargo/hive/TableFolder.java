package io.sargo.hive;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A Hudi table of version 8 in a folder: properties, empty instants, and files of any length. */
final class TableFolder {
  static final String COMMIT = "20250101000000000", LAST = PlanAnswer.INSTANT;

  final Path path;
  private String properties =
      "hoodie.table.version=8\n"
          + "hoodie.timeline.layout.version=2\n"
          + "hoodie.timeline.path=timeline\n"
          + "hoodie.table.name=trips\n"
          + "hoodie.table.metadata.partitions=column_stats,files\n";

  TableFolder(Path path, String type, String partitionFields) throws IOException {
    this.path = path;
    properties += "hoodie.table.type=" + type + "\n";
    if (!partitionFields.isEmpty()) {
      properties += "hoodie.table.partition.fields=" + partitionFields + "\n";
    }
    property("hoodie.table.base.file.format", "PARQUET");
    instant(COMMIT + "_20250101000000500.commit");
    instant(LAST + "_20250102000000500.commit");
    instant("20250103000000000.commit.requested");
  }

  void property(String key, String value) throws IOException {
    properties += key + "=" + value + "\n";
    write(".hoodie/hoodie.properties", properties.getBytes(StandardCharsets.UTF_8));
  }

  void instant(String name) throws IOException {
    write(".hoodie/timeline/" + name, new byte[0]);
  }

  void write(String name, byte[] bytes) throws IOException {
    Files.createDirectories(path.resolve(name).getParent());
    Files.write(path.resolve(name), bytes);
  }

  /** Writes the files of an answer with the lengths that it says. */
  void files(PlanAnswer answer) throws IOException {
    for (int i = 0; i < answer.names.size(); i++) {
      write(answer.names.get(i), new byte[answer.lengths.get(i).intValue()]);
    }
  }

  String uri() {
    return "file:" + path;
  }
}
