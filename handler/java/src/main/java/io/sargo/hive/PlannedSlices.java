package io.sargo.hive;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file slices of a plan, by the names and lengths of their files.
 *
 * <p>{@link #of} refuses a plan that Hudi could not have listed. A plan that passes may still lack
 * a file, or name one that is gone: the sidecar is believed in that, as it is in what it skips.
 *
 * <pre>
 *   name                          slice   {@link #of}
 *   dt=1/f1_0-1-2_20250101.parquet    0
 *   dt=1/.f1_20250102.log.1_0-1-2     0   of a merged view only; of the same folder and file id
 *   dt=1/f2_0-1-2_20250101.parquet    1
 *   ../dt=1/f3_0-1-2_20250101.parquet     refused: no folder that was asked for
 *   dt=1/f4_0-1-2_20250103.parquet        refused at the instant 20250102: it was written later
 *   dt=1/f1_0-7-8_20250102.parquet    2   refused: two slices of one file group
 * </pre>
 */
final class PlannedSlices {
  /** As Hudi's FSUtils, with the end of the name. */
  private static final Pattern BASE_FILE =
      Pattern.compile("([a-zA-Z0-9-]+)_[a-zA-Z0-9-]+_([0-9]+)\\.(?:parquet|orc|hfile)");

  private static final Pattern LOG_FILE =
      Pattern.compile("\\.(.+)_([^_]*)\\.log\\.\\d{1,9}(?:_\\d+-\\d+-\\d+(?:\\.cdc)?)?");

  /** Bytes of the longest file. A longer one would be cut into millions of splits. */
  static final long MAX_LENGTH = 1L << 44;

  /** Names relative to the base path. The files of a slice stand together, its base file first. */
  final String[] names;

  final long[] lengths;

  /** Slice i has the files {@code firstFile[i]} to {@code firstFile[i + 1] - 1}. */
  final int[] firstFile;

  private PlannedSlices(String[] names, long[] lengths, int[] firstFile) {
    this.names = names;
    this.lengths = lengths;
    this.firstFile = firstFile;
  }

  /**
   * The slices of these files. Throws IllegalArgumentException unless they can be the answer to
   * this request. {@code unknown}: folders in which no file can be.
   */
  static PlannedSlices of(
      ByteBuffer joined,
      long[] lengths,
      int[] sliceOf,
      int sliceCount,
      PlanRequest request,
      String instant,
      Set<String> unknown) {
    String[] names = split(joined, lengths.length);
    int[] firstFile = starts(sliceOf, sliceCount);
    Set<String> files = new HashSet<>();
    Set<String> groups = new HashSet<>();
    for (int slice = 0; slice < sliceCount; slice++) {
      String group = null;
      for (int i = firstFile[slice]; i < firstFile[slice + 1]; i++) {
        refuseIf(lengths[i] < 0 || lengths[i] > MAX_LENGTH, "length " + lengths[i], names[i]);
        refuseIf(!files.add(names[i]), "two files", names[i]);
        boolean isFirst = i == firstFile[slice];
        String one = fileGroup(names[i], isFirst, request, instant, unknown);
        refuseIf(isFirst ? !groups.add(one) : !one.equals(group), "two file groups", names[i]);
        group = one;
      }
    }
    return new PlannedSlices(names, lengths, firstFile);
  }

  int count() {
    return firstFile.length - 1;
  }

  static boolean isLogFile(String name) {
    return name.charAt(name.lastIndexOf('/') + 1) == '.';
  }

  private static String[] split(ByteBuffer joined, int count) {
    byte[] bytes = joined.array();
    int end = joined.arrayOffset() + joined.limit();
    int found = count == 0 ? 0 : 1;
    for (int i = joined.arrayOffset(); i < end; i++) {
      found += bytes[i] == '\n' ? 1 : 0;
    }
    if (found != count || count == 0 && joined.hasRemaining()) {
      throw new IllegalArgumentException("it counts " + count + " files and names " + found);
    }
    String[] names = new String[count];
    CharsetDecoder utf8 = StandardCharsets.UTF_8.newDecoder(); // refuses what is no UTF-8
    int from = joined.arrayOffset();
    for (int n = 0; n < count; n++) {
      int to = from;
      while (to < end && bytes[to] != '\n') {
        to++;
      }
      try {
        names[n] = utf8.decode(ByteBuffer.wrap(bytes, from, to - from)).toString();
      } catch (CharacterCodingException e) {
        throw new IllegalArgumentException("name " + n + " is no UTF-8", e);
      }
      from = to + 1;
    }
    return names;
  }

  /** The first file of each slice, and the number of files. */
  private static int[] starts(int[] sliceOf, int sliceCount) {
    int[] starts = new int[sliceCount + 1];
    int before = -1;
    for (int i = 0; i < sliceOf.length; i++) {
      boolean isNext = sliceOf[i] == before + 1 || sliceOf[i] == before && before >= 0;
      if (!isNext || sliceOf[i] >= sliceCount) {
        throw new IllegalArgumentException("slice " + sliceOf[i] + " follows slice " + before);
      }
      if (sliceOf[i] != before) {
        starts[sliceOf[i]] = i;
      }
      before = sliceOf[i];
    }
    if (before != sliceCount - 1) {
      throw new IllegalArgumentException(
          "it counts " + sliceCount + " slices, the last is " + before);
    }
    starts[sliceCount] = sliceOf.length;
    return starts;
  }

  /** The folder and the file id of a file, after the checks of its name. */
  private static String fileGroup(
      String name, boolean isFirst, PlanRequest request, String instant, Set<String> unknown) {
    int slash = name.lastIndexOf('/');
    String folder = slash < 0 ? "" : name.substring(0, slash);
    refuseIf(slash == 0 || !isRelative(name), "no relative name", name);
    refuseIf(
        request.partitions() == null
            ? name.startsWith(".hoodie/")
            : !request.partitions().contains(folder),
        "no folder that was asked for",
        name);
    refuseIf(unknown.contains(folder), "a folder that the sidecar does not know", name);
    String file = name.substring(slash + 1);
    Matcher log = LOG_FILE.matcher(file);
    if (log.matches()) {
      refuseIf(!request.merged, "a log file in a view of base files", name);
      return folder + "/" + log.group(1);
    }
    Matcher base = BASE_FILE.matcher(file);
    refuseIf(!base.matches(), "no name of a base file or log file", name);
    refuseIf(!isFirst, "a base file that is not the first of its slice", name);
    refuseIf(base.group(2).compareTo(instant) > 0, "later than " + instant, name);
    return folder + "/" + base.group(1);
  }

  /**
   * Whether every segment of the name is one, and none of its characters is a control character.
   */
  static boolean isRelative(String name) {
    for (int i = 0; i < name.length(); i++) {
      if (Character.isISOControl(name.charAt(i)) || name.charAt(i) == '\\') {
        return false;
      }
    }
    for (String segment : name.split("/", -1)) {
      if (segment.isEmpty() || segment.equals(".") || segment.equals("..")) {
        return false;
      }
    }
    return true;
  }

  private static void refuseIf(boolean condition, String why, String name) {
    if (condition) {
      throw new IllegalArgumentException(why + ": " + name);
    }
  }
}
