/**
 * What Hudi says of a table that Spark reads: its base path, the kind of query, and whether its
 * options may give other rows. Classes of Hudi are reached by the names of their methods. Uses
 * {@code plans}.
 */
package io.sargo.spark.hudi;
