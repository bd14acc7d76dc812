package io.sargo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls over TLS. The JDK's keytool makes the certificates: each signs itself. */
@Timeout(120)
class SidecarTlsTest {
  private static final char[] PASSWORD = "password".toCharArray();
  private static @TempDir Path folder;

  @BeforeAll
  static void makeCertificates() throws Exception {
    makeCertificate("right", "ip:127.0.0.1");
    makeCertificate("other_host", "dns:sidecar.example.org");
    Files.writeString(folder.resolve("empty.pem"), "");
    Files.writeString(folder.resolve("broken.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n");
  }

  private static void makeCertificate(String name, String host) throws Exception {
    keytool("-genkeypair", name, "-keyalg EC -dname CN=sidecar -validity 30 -ext san=" + host);
    keytool("-exportcert", name, "-rfc -file " + folder.resolve(name + ".pem"));
  }

  private static void keytool(String command, String name, String options) throws Exception {
    String line =
        Path.of(System.getProperty("java.home"), "bin", "keytool")
            + (" " + command + " -alias a -storepass password -keystore ")
            + folder.resolve(name + ".p12")
            + (" " + options);
    Process keytool = new ProcessBuilder(line.split(" ")).redirectErrorStream(true).start();
    String output = new String(keytool.getInputStream().readAllBytes());
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException(line + ": " + output);
    }
  }

  private static ServerSocket listen(String certificate)
      throws IOException, GeneralSecurityException {
    if (certificate == null) {
      return FakeSidecar.listen(ServerSocketFactory.getDefault());
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve(certificate + ".p12"))) {
      keys.load(in, PASSWORD);
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return FakeSidecar.listen(context.getServerSocketFactory());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        // the server's certificate, the client's sargo.tls.ca.file -> the outcome
        "right, right.pem, '{0, 2}'",
        "other_host, other_host.pem, SIDECAR_DOWN",
        "right, other_host.pem, SIDECAR_DOWN",
        "right, empty.pem, SIDECAR_DOWN",
        "right, broken.pem, SIDECAR_DOWN",
        "right, missing.pem, SIDECAR_DOWN",
        "none, right.pem, SIDECAR_DOWN",
        "right, none, WRONG_ANSWER",
      })
  void onlyATrustedCertificateOfThisHostIsAsked(String server, String ca, String outcome)
      throws Exception {
    byte[] right = Messages.frame("reply.two_skipped");
    FakeSidecar.Behavior plain = connection -> connection.write("no TLS".getBytes());
    FakeSidecar.Behavior behavior = server == null ? plain : FakeSidecar.answering(right);
    try (FakeSidecar sidecar = new FakeSidecar(listen(server), behavior)) {
      Settings settings =
          ca == null
              ? sidecar.settings()
              : sidecar.settings("tls.ca.file", folder.resolve(ca).toString());
      assertEquals(outcome, Calls.outcome(settings));
      assertEquals(outcome.startsWith("{") ? 1 : 0, sidecar.requests.get(), "requests sent");
    }
  }
}
