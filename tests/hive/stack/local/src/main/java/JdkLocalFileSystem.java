import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system with owners and permissions from the JDK. Without Hadoop's native
 * library, which Maven Central does not have, Hadoop's own starts a process for each file ({@code
 * ls -ld}, {@code chmod}): listing 2,000 files took it ten seconds and more, which no cluster and
 * no real installation knows.
 */
public class JdkLocalFileSystem extends LocalFileSystem {
  public JdkLocalFileSystem() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      return complete(super.getFileStatus(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
      FileStatus[] found = super.listStatus(path);
      for (int i = 0; i < found.length; i++) {
        found[i] = complete(found[i]);
      }
      return found;
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      String bits =
          permission.getUserAction().SYMBOL
              + permission.getGroupAction().SYMBOL
              + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(
          pathToFile(path).toPath(), PosixFilePermissions.fromString(bits));
    }

    private FileStatus complete(FileStatus status) throws IOException {
      File file = pathToFile(status.getPath());
      PosixFileAttributes attributes =
          Files.readAttributes(file.toPath(), PosixFileAttributes.class);
      String bits = PosixFilePermissions.toString(attributes.permissions());
      return new FileStatus(
          status.getLen(),
          status.isDirectory(),
          status.getReplication(),
          status.getBlockSize(),
          status.getModificationTime(),
          status.getAccessTime(),
          FsPermission.valueOf((status.isDirectory() ? "d" : "-") + bits),
          attributes.owner().getName(),
          attributes.group().getName(),
          status.getPath());
    }
  }
}
