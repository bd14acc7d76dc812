package io.sargo.spark.shims;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import scala.Option;

/** Calls of what this jar is not compiled against, or what differs between lines of Spark. */
public final class Reflection {
  private Reflection() {}

  /** Calls a public method without arguments. */
  public static Object call(Object object, String method) throws ReflectiveOperationException {
    return call(object, method, new Class<?>[0]);
  }

  public static Object call(Object object, String method, Class<?>[] types, Object... arguments)
      throws ReflectiveOperationException {
    try {
      return object.getClass().getMethod(method, types).invoke(object, arguments);
    } catch (InvocationTargetException e) {
      throw new ReflectiveOperationException(method + ": " + e.getCause());
    }
  }

  /**
   * An instance by the first constructor of a class, whose further parameters, which later lines of
   * Spark have, are options: without values.
   */
  @SuppressWarnings("unchecked")
  public static <T> T made(Class<T> type, Object... arguments) {
    Constructor<?> constructor = type.getConstructors()[0];
    Object[] all = Arrays.copyOf(arguments, constructor.getParameterCount());
    Arrays.fill(all, arguments.length, all.length, Option.empty());
    try {
      return (T) constructor.newInstance(all);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The types of the parameters of the first constructor of a class. */
  public static Class<?>[] parameters(Class<?> type) {
    return type.getConstructors()[0].getParameterTypes();
  }
}
