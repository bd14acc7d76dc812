/**
 * Spark's plans and conditions as such: taking them apart, copying their nodes, and the decision to
 * leave a scan as it was planned. Uses {@code shims} alone.
 */
package io.sargo.spark.plans;
