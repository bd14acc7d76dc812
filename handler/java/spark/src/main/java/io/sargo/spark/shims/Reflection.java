package io.sargo.spark.shims;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import scala.Option;

/** Calls of what this jar is not compiled against, or what differs between lines of Spark. */
public final class Reflection {
  /** The public methods that were looked up, by name and types: a scan calls some for each file. */
  private static final ClassValue<Map<List<Object>, Optional<Method>>> METHODS =
      new ClassValue<Map<List<Object>, Optional<Method>>>() {
        @Override
        protected Map<List<Object>, Optional<Method>> computeValue(Class<?> type) {
          return new ConcurrentHashMap<>();
        }
      };

  private Reflection() {}

  /** Calls a public method without arguments. */
  public static Object call(Object object, String method) throws ReflectiveOperationException {
    return call(object, method, new Class<?>[0]);
  }

  public static Object call(Object object, String method, Class<?>[] types, Object... arguments)
      throws ReflectiveOperationException {
    Method found =
        method(object, method, types).orElseThrow(() -> new NoSuchMethodException(method));
    try {
      return found.invoke(object, arguments);
    } catch (InvocationTargetException e) {
      throw new ReflectiveOperationException(method + ": " + e.getCause());
    }
  }

  /** Whether the class of an object has a public method. */
  public static boolean has(Object object, String method, Class<?>... types) {
    return method(object, method, types).isPresent();
  }

  private static Optional<Method> method(Object object, String name, Class<?>[] types) {
    Class<?> type = object.getClass();
    return METHODS
        .get(type)
        .computeIfAbsent(
            Arrays.asList(name, Arrays.asList(types)),
            absent -> {
              try {
                return Optional.of(type.getMethod(name, types));
              } catch (NoSuchMethodException e) {
                return Optional.empty();
              }
            });
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
