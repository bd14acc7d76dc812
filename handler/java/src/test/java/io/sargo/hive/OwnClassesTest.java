package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classes of a jar whose loader is closed, as Hive closes that of a session. */
class OwnClassesTest {
  private static final Path CLASSES = Path.of("target", "classes");

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"PruningInputFormat", "PruningRealtimeInputFormat", "HudiInputFormat"})
  void everyClassIsThereAfterTheLoaderIsClosed(String format) throws Exception {
    SessionLoader loader = new SessionLoader(jar());
    Class.forName("io.sargo.hive." + format, true, loader);
    loader.close();
    for (String name : names()) {
      assertEquals(loader, Class.forName(name, true, loader).getClassLoader());
    }
  }

  @Test
  void aClassThatWasNotLoadedIsNotThere() throws Exception {
    SessionLoader loader = new SessionLoader(jar());
    loader.close();
    assertThrows(
        ClassNotFoundException.class, () -> Class.forName("io.sargo.hive.ByHudi", true, loader));
  }

  private static List<String> names() throws IOException {
    try (Stream<Path> files = Files.walk(CLASSES)) {
      return files
          .map(file -> CLASSES.relativize(file).toString())
          .filter(name -> name.endsWith(".class") && !name.endsWith("package-info.class"))
          .map(name -> name.replace(".class", "").replace('/', '.'))
          .collect(Collectors.toList());
    }
  }

  private URL jar() throws IOException {
    Path file = folder.resolve("sargo hive.jar");
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out)) {
      for (String name : names()) {
        String entry = name.replace('.', '/') + ".class";
        jar.putNextEntry(new JarEntry(entry));
        Files.copy(CLASSES.resolve(entry), jar);
      }
    }
    return file.toUri().toURL();
  }

  /** Takes Hive and Hudi from the tests' class path, and nothing of this jar. */
  private static final class SessionLoader extends URLClassLoader {
    SessionLoader(URL jar) {
      super(new URL[] {jar}, OwnClassesTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("io.sargo.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
    }
  }
}
