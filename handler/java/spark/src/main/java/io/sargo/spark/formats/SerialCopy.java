package io.sargo.spark.formats;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;

/** Copies of objects that Spark sends to executors, made as there: by Java's serialization. */
final class SerialCopy {
  private SerialCopy() {}

  /** A copy that has what is put in the place of objects in it. */
  @SuppressWarnings("unchecked")
  static <T> T of(T object, Replacement replacing) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new Replacing(bytes, replacing)) {
      out.writeObject(object);
    }
    try (ObjectInputStream in =
        new Loading(
            new ByteArrayInputStream(bytes.toByteArray()), object.getClass().getClassLoader())) {
      return (T) in.readObject();
    }
  }

  /** What is put in the place of an object. */
  interface Replacement {
    Object of(Object object) throws IOException, ClassNotFoundException;
  }

  private static final class Replacing extends ObjectOutputStream {
    private final Replacement replacing;

    Replacing(OutputStream out, Replacement replacing) throws IOException {
      super(out);
      this.replacing = replacing;
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object object) throws IOException {
      try {
        return replacing.of(object);
      } catch (ClassNotFoundException e) {
        throw new IOException(e);
      }
    }
  }

  private static final class Loading extends ObjectInputStream {
    private final ClassLoader loader;

    Loading(InputStream in, ClassLoader loader) throws IOException {
      super(in);
      this.loader = loader;
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass found)
        throws IOException, ClassNotFoundException {
      try {
        return Class.forName(found.getName(), false, loader);
      } catch (ClassNotFoundException e) {
        return super.resolveClass(found);
      }
    }
  }
}
