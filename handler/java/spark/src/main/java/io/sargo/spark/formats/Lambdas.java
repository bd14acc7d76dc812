package io.sargo.spark.formats;

import io.sargo.spark.plans.Untouched;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;

/**
 * Functions that a compiler of Scala or Java made of an expression, and what they have captured.
 */
final class Lambdas {
  private Lambdas() {}

  /** What a function has captured, in order. */
  static Object[] captured(Object function) throws Untouched {
    SerializedLambda lambda = serialized(function);
    Object[] captured = new Object[lambda.getCapturedArgCount()];
    for (int i = 0; i < captured.length; i++) {
      captured[i] = lambda.getCapturedArg(i);
    }
    return captured;
  }

  /** The same function, with other things captured. */
  @SuppressWarnings("unchecked")
  static <T> T capturing(T function, Object[] captured) throws Untouched {
    SerializedLambda of = serialized(function);
    try {
      Class<?> capturing =
          Class.forName(
              of.getCapturingClass().replace('/', '.'),
              false,
              function.getClass().getClassLoader());
      Method made = capturing.getDeclaredMethod("$deserializeLambda$", SerializedLambda.class);
      made.setAccessible(true);
      return (T)
          made.invoke(
              null,
              new SerializedLambda(
                  capturing,
                  of.getFunctionalInterfaceClass(),
                  of.getFunctionalInterfaceMethodName(),
                  of.getFunctionalInterfaceMethodSignature(),
                  of.getImplMethodKind(),
                  of.getImplClass(),
                  of.getImplMethodName(),
                  of.getImplMethodSignature(),
                  of.getInstantiatedMethodType(),
                  captured));
    } catch (ReflectiveOperationException e) {
      throw new Untouched("a function is made in another way: " + e);
    }
  }

  /** Java's serialization asks a function alike. */
  private static SerializedLambda serialized(Object function) throws Untouched {
    try {
      Method method = function.getClass().getDeclaredMethod("writeReplace");
      method.setAccessible(true);
      return (SerializedLambda) method.invoke(function);
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new Untouched("a function is made in another way: " + e);
    }
  }
}
