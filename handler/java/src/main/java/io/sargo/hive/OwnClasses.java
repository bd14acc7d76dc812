package io.sargo.hive;

import java.net.URL;
import java.nio.file.Paths;
import java.security.CodeSource;
import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads every class of the jar with the first one of them.
 *
 * <p>A jar of {@code hive.aux.jars.path} is loaded by a class loader of the session, which Hive
 * closes at the session's end. Fetch tasks of later sessions use the same input format all the same
 * ({@code FetchOperator} keeps one of each class for the life of HiveServer2), and a class that was
 * not needed before could not be loaded any more: {@code NoClassDefFoundError}, which failed the
 * query (Hive 4.0.1).
 */
final class OwnClasses {
  private static final Logger LOG = LoggerFactory.getLogger(OwnClasses.class);

  static {
    CodeSource source = OwnClasses.class.getProtectionDomain().getCodeSource();
    URL place = source == null ? null : source.getLocation();
    if (place != null && place.getPath().endsWith(".jar")) {
      try (JarFile jar = new JarFile(Paths.get(place.toURI()).toFile())) {
        loadAll(jar);
      } catch (Exception | LinkageError e) {
        LOG.warn("sargo: the classes of {} are loaded one by one, why={}", place, e.toString());
      }
    }
  }

  private OwnClasses() {}

  /** Loads all of them at the first call. */
  static void load() {}

  private static void loadAll(JarFile jar) {
    ClassLoader loader = OwnClasses.class.getClassLoader();
    for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
      String name = entries.nextElement().getName();
      if (name.startsWith("io/sargo/") && name.endsWith(".class")) {
        load(name.substring(0, name.length() - ".class".length()).replace('/', '.'), loader);
      }
    }
  }

  /**
   * The input formats call this class when they are initialised, each in a thread of its own: they
   * are loaded, and not initialised, so that no two threads wait for one another.
   */
  private static void load(String name, ClassLoader loader) {
    try {
      Class.forName(name, !name.endsWith("InputFormat"), loader);
    } catch (ClassNotFoundException | LinkageError e) {
      // Of another version of Hive or Hudi: it would fail where it is used, too.
      LOG.debug("sargo: {} is not loaded, why={}", name, e.toString());
    }
  }
}
