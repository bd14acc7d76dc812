import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads the classes below io.sargo.hive of a jar with all types of their members; prints how many
 * there are.
 */
public final class LoadClasses {
  public static void main(String[] arguments) throws Exception {
    int count = 0;
    try (JarFile jar = new JarFile(arguments[0])) {
      for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
        String name = entries.nextElement().getName();
        if (!name.startsWith("io/sargo/hive/")
            || name.contains("/thrift/")
            || !name.endsWith(".class")) {
          continue;
        }
        Class<?> found = Class.forName(name.substring(0, name.length() - 6).replace('/', '.'));
        found.getDeclaredMethods();
        found.getDeclaredConstructors();
        found.getDeclaredFields();
        count++;
      }
    }
    System.out.println(count);
  }
}
