/**
 * Spark as both of its lines are seen from Java: classes that turn Scala's sequences into lists,
 * once for Scala 2.12 and once for 2.13, and calls of what only one line has. Nothing here knows of
 * Hudi or of the sidecar.
 */
package io.sargo.spark.shims;
