/**
 * What a session and its conditions become for the sidecar: the settings by which it is asked, and
 * a filter as Catalyst's JSON with the values that this JSON leaves out. Uses {@code plans}.
 */
package io.sargo.spark.question;
