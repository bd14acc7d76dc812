/**
 * The client of the sidecar ({@code sargo serve}), which the jars for Hive and for Spark are both
 * built with. It knows neither engine.
 *
 * <ol>
 *   <li>{@link io.sargo.client.Settings} reads the keys {@code sargo.*}.
 *   <li>{@link io.sargo.client.Wire} writes a request, reads the reply and checks that the reply
 *       answers this request. Another call of the IDL is another {@link io.sargo.client.Question}.
 *   <li>{@link io.sargo.client.Sidecars} asks one sidecar of several within one deadline, each
 *       behind a circuit breaker.
 * </ol>
 *
 * <p><b>Whatever goes wrong is a {@link io.sargo.client.KeepAll}</b>, with its reason: the caller
 * skips no file.
 */
package io.sargo.client;
