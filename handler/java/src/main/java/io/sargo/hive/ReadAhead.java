package io.sargo.hive;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A file system of which some small files and folders were read ahead. Each of them is given once:
 * whoever reads it again reads the file system, as for everything else.
 */
final class ReadAhead extends FilterFileSystem {
  private static final byte[] MISSING = new byte[0];
  private static final int MAX_BYTES = 16 << 20;

  private final Configuration job;
  private final ConcurrentMap<Path, byte[]> files = new ConcurrentHashMap<>();
  private final ConcurrentMap<Path, FileStatus[]> folders = new ConcurrentHashMap<>();

  ReadAhead(FileSystem fs, Configuration job) {
    super(fs);
    this.job = job;
  }

  /** Reads a file ahead, and returns its bytes, or null if it is missing or very long. */
  byte[] readFile(Path path) throws IOException {
    try (FSDataInputStream in = fs.open(path)) {
      byte[] bytes = new byte[4096];
      int length = 0;
      for (int n = in.read(bytes); n >= 0; n = in.read(bytes, length, bytes.length - length)) {
        length += n;
        if (length > MAX_BYTES) {
          return null;
        }
        if (length == bytes.length) {
          bytes = Arrays.copyOf(bytes, 2 * length);
        }
      }
      byte[] read = Arrays.copyOf(bytes, length);
      files.put(path, read);
      return read;
    } catch (FileNotFoundException e) {
      files.put(path, MISSING);
      return null;
    }
  }

  /** Lists a folder ahead, if it is there. */
  void list(Path folder) throws IOException {
    try {
      folders.put(folder, fs.listStatus(folder));
    } catch (FileNotFoundException e) {
      // whoever asks for it hears the same
    }
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    byte[] bytes = files.remove(path);
    if (bytes == MISSING) {
      throw new FileNotFoundException(path + " is not there");
    }
    return bytes == null
        ? super.open(path, bufferSize)
        : new FSDataInputStream(new BytesInput(bytes));
  }

  @Override
  public FileStatus[] listStatus(Path folder) throws IOException {
    FileStatus[] listed = folders.remove(folder);
    return listed == null ? super.listStatus(folder) : listed;
  }

  @Override
  public Configuration getConf() {
    return job;
  }

  @Override
  public String getScheme() {
    return fs.getScheme();
  }

  /** The file system below is shared. */
  @Override
  public void close() {}

  private static final class BytesInput extends FSInputStream {
    private final byte[] bytes;
    private int at;

    BytesInput(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public void seek(long position) throws IOException {
      if (position < 0 || position > bytes.length) {
        throw new EOFException("no byte " + position);
      }
      at = (int) position;
    }

    @Override
    public long getPos() {
      return at;
    }

    @Override
    public boolean seekToNewSource(long position) {
      return false;
    }

    @Override
    public int read() {
      return at < bytes.length ? bytes[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      if (length == 0) {
        return 0;
      }
      int n = Math.min(length, bytes.length - at);
      if (n <= 0) {
        return -1;
      }
      System.arraycopy(bytes, at, into, offset, n);
      at += n;
      return n;
    }
  }
}
