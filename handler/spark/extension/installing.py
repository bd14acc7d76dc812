"""Puts Sargo's extension into a session that runs: its jar on the class loader, its rules and its settings.

    what                           where                                              again
    -----------------------------  -------------------------------------------------  -----------------------------
    the shipped jar                the class loader that all sessions share, unless   it is there
                                   the class is on the class path already
    ``SargoExtensions``            the extensions of the session, which
                                   ``newSession`` passes on, unless
                                   ``spark.sql.extensions`` names it                  it is there
    ``spark.sargo.*``              this session, and the configuration from which     the same values
                                   later sessions of the application take theirs

An address that the user has set is kept: then another sidecar answers, and none is started here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from evaluator.language.errors import UnsupportedError
from handler.shipped.artefacts import MissingError, spark_jar

__all__ = ["CLASS", "call_own", "has_hudi", "install_extension"]

CLASS = "io.sargo.spark.SargoExtensions"
_HUDI = "org.apache.hudi.HoodieFileIndex"
_ADDRESS, _SECRET = "spark.sargo.sidecar.address", "spark.sargo.secret"
_TIMEOUT = "spark.sargo.sidecar.timeout.ms"
#: Beyond the time that the sidecar takes, so that it says itself that it was too late.
_MORE_SECONDS = 1.0
#: The extensions, by identity, that ``CLASS`` was applied to: those of a session live as long as its application.
_APPLIED = "spark.sargo.extension.applied"


def has_hudi(spark: SparkSession) -> bool:
    """Whether Hudi's bundle is on the session's class path."""
    return _loaded(spark, _HUDI) is not None


def install_extension(spark: SparkSession, storage_options: Mapping[str, str] | None = None) -> None:
    """Install the extension in a session with a JVM; nothing is done that was done before.

    Raises UnsupportedError with the reason when that is not possible.
    """
    own = "" if spark.conf.get(_APPLIED, "") == "" else spark.conf.get(_ADDRESS, "")
    if spark.conf.get(_ADDRESS, "") in ("", own):
        _ask_in_process(spark, storage_options)
    _apply(spark)


def _ask_in_process(spark: SparkSession, storage_options: Mapping[str, str] | None) -> None:
    """Start the sidecar of this process, and have the session's extension ask it."""
    try:
        from handler.spark.extension.in_process import ANSWER_SECONDS, sidecar_of_process
    except ModuleNotFoundError as error:
        raise UnsupportedError(f"{error.name} is missing: pip install 'sargo[spark]'") from error
    try:
        sidecar = sidecar_of_process(storage_options)
    except RuntimeError as error:
        raise UnsupportedError(str(error)) from error
    _set(spark, _SECRET, sidecar.secret)
    _set(spark, _TIMEOUT, str(round(1000 * (ANSWER_SECONDS + _MORE_SECONDS))))
    _set(spark, _ADDRESS, sidecar.address)


def _set(spark: SparkSession, name: str, value: str) -> None:
    """Set a setting of the session, and of the sessions that the application makes later."""
    session: Any = spark._jsparkSession
    spark.conf.set(name, value)
    session.sparkContext().conf().set(name, value)


def _apply(spark: SparkSession) -> None:
    session, jvm = _java(spark)
    if CLASS in str(spark.conf.get("spark.sql.extensions", "")).replace(" ", "").split(","):
        return
    identity = str(jvm.java.lang.System.identityHashCode(session.extensions()))
    if spark.conf.get(_APPLIED, "") == identity:
        return
    try:
        call_own(spark, CLASS, "apply", {"org.apache.spark.sql.SparkSessionExtensions": session.extensions()})
    except Py4JError as error:
        raise UnsupportedError(f"Spark {spark.version} does not take the extension: {_first_line(error)}") from error
    _set(spark, _APPLIED, identity)


def call_own(spark: SparkSession, name: str, method: str, arguments: Mapping[str, Any]) -> Any:
    """The answer of a new object of a class of Sargo's jar. ``arguments``: by the names of their classes, in order.

    The call goes through the JVM's reflection. Py4J keeps methods by the name of their class, and an application that
    is started anew in the same JVM has another class of that name. Raises UnsupportedError without a jar, and with the
    reason where the method throws.
    """
    _, jvm = _java(spark)
    found = _own_class(spark, name)
    classes, values = (_array(spark, of, len(arguments)) for of in ("Class", "Object"))
    for place, (class_name, value) in enumerate(arguments.items()):
        classes[place] = jvm.java.lang.Integer.TYPE if class_name == "int" else jvm.java.lang.Class.forName(class_name)
        values[place] = value
    made = found.getDeclaredConstructor(_array(spark, "Class", 0)).newInstance(_array(spark, "Object", 0))
    try:
        return found.getMethod(method, classes).invoke(made, values)
    except Py4JJavaError as error:
        cause = error.java_exception.getCause()
        raise UnsupportedError(_first_line(error) if cause is None else str(cause.getMessage())) from error


def _own_class(spark: SparkSession, name: str) -> Any:
    """A class of Sargo's jar, from the class path or else from the shipped jar, which executors get as well.

    They run code of it: scans by buckets, and rows in batches. Raises UnsupportedError without a jar.
    """
    found = _loaded(spark, name)
    if found is not None:
        return found
    try:
        jar: Path = spark_jar(spark.version)
    except MissingError as error:
        raise UnsupportedError(str(error)) from error
    session, jvm = _java(spark)
    loader = session.sharedState().jarClassLoader()
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
    session.sparkContext().addJar(str(jar))
    return loader.loadClass(name)


def _loaded(spark: SparkSession, name: str) -> Any:
    """A class by name, or None."""
    session, _ = _java(spark)
    try:
        return session.sharedState().jarClassLoader().loadClass(name)
    except Py4JJavaError:
        return None


def _array(spark: SparkSession, class_name: str, length: int) -> Any:
    """An array of a class of java.lang."""
    _, jvm = _java(spark)
    gateway: Any = spark.sparkContext._gateway
    return gateway.new_array(getattr(jvm.java.lang, class_name), length)


def _java(spark: SparkSession) -> tuple[Any, Any]:
    return spark._jsparkSession, spark._jvm


def _first_line(error: Py4JError) -> str:
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.toString())
    return text.strip().partition("\n")[0][:300]
