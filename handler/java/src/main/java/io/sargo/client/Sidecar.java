package io.sargo.client;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;

/**
 * A client of the sidecar at one address: pooled connections and a circuit breaker. {@link
 * Sidecars} chooses the address and holds the deadline.
 *
 * <p>A {@link Call} runs on a thread of its own: connecting, the TLS handshake, writing and
 * reading. When it is abandoned, the connection is closed and the thread ends.
 *
 * <p><b>Circuit breaker.</b> Calls pass while it is closed.
 *
 * <pre>
 *   closed     -- two failures in a row --&gt;  open
 *   open       -- breakerMs have passed --&gt;  half open: one call passes, others are rejected
 *   half open  -- the call is answered  --&gt;  closed
 *   half open  -- the call fails        --&gt;  open
 * </pre>
 *
 * <p>A refusal is an answer. An answer that fails its checks is a failure.
 *
 * <p>Answers are not cached. Hive lists nothing twice in a query (a FetchTask lists each partition
 * once), and the sidecar caches its plans.
 */
final class Sidecar {
  static final int MAX_CALLS = 64;
  private static final int MAX_IDLE = 16;
  private static final int FAILURES_TO_OPEN = 2;
  private static final Map<String, Sidecar> BY_ADDRESS = new ConcurrentHashMap<>();
  private static final ThreadPoolExecutor THREADS =
      new ThreadPoolExecutor(
          0,
          MAX_CALLS,
          30,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            Thread thread = new Thread(task, "sargo-ask");
            thread.setDaemon(true);
            thread.setContextClassLoader(Sidecar.class.getClassLoader());
            return thread;
          });

  private final Address address;
  private final ConcurrentLinkedDeque<TTransport> idle = new ConcurrentLinkedDeque<>();
  private int consecutiveFailures;
  private long openUntil;

  private Sidecar(Address address) {
    this.address = address;
  }

  static Sidecar at(Address address, Settings settings) {
    return BY_ADDRESS.computeIfAbsent(
        address.text + " " + settings.tlsCa, key -> new Sidecar(address));
  }

  /**
   * Begins a call, which is put into the queue when it has ended. Throws KeepAll while the breaker
   * is open, and RejectedExecutionException when MAX_CALLS calls are under way.
   */
  <R> Call<R> begin(Question<R> question, Settings settings, Queue<Call<R>> ended) throws KeepAll {
    checkBreaker(settings);
    Call<R> call = new Call<>(this, question, settings, ended);
    THREADS.execute(call::run);
    return call;
  }

  /** Throws KeepAll while the breaker is open. */
  private synchronized void checkBreaker(Settings settings) throws KeepAll {
    if (consecutiveFailures >= FAILURES_TO_OPEN) {
      if (System.nanoTime() - openUntil < 0) {
        throw new KeepAll(
            KeepAll.Reason.BREAKER_OPEN,
            "the sidecar failed "
                + consecutiveFailures
                + " times in a row and is not called for a while",
            true);
      }
      // Half open: this call passes, the others are rejected until it ends.
      openUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.breakerMs);
    }
  }

  /** Closes the breaker after an answer. Counts a failure, and starts a new pause. */
  synchronized void recordResult(boolean answered, Settings settings) {
    consecutiveFailures = answered ? 0 : consecutiveFailures + 1;
    openUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.breakerMs);
  }

  /** One call: its question, its connection, its result, and whether it was given up. */
  static final class Call<R> {
    final Sidecar sidecar;
    private final Question<R> question;
    private final Settings settings;
    private final Queue<Call<R>> ended;
    private Closeable connection;
    private boolean abandoned;
    private volatile boolean connected;
    private R reply;
    private Throwable failure;

    private Call(Sidecar sidecar, Question<R> question, Settings settings, Queue<Call<R>> ended) {
      this.sidecar = sidecar;
      this.question = question;
      this.settings = settings;
      this.ended = ended;
    }

    Address address() {
      return sidecar.address;
    }

    private void run() {
      try {
        reply = call();
      } catch (Throwable e) { // also StackOverflowError, of a reply that nests deeply
        failure = e;
      }
      ended.add(this);
    }

    /** The checked reply of a call that has ended, which the breaker is told of, or KeepAll. */
    R result() throws KeepAll {
      boolean answered = failure instanceof KeepAll; // a refusal is an answer
      try {
        if (answered) {
          throw (KeepAll) failure;
        }
        if (failure != null) {
          throw new KeepAll(
              connected ? KeepAll.Reason.WRONG_ANSWER : KeepAll.Reason.SIDECAR_DOWN,
              String.valueOf(failure),
              true);
        }
        question.check(reply);
        answered = true;
        return reply;
      } finally {
        sidecar.recordResult(answered, settings);
      }
    }

    private R call() throws IOException, TException, GeneralSecurityException, KeepAll {
      String secret;
      try {
        secret = settings.secret(sidecar.address);
      } catch (IOException e) {
        throw new KeepAll(KeepAll.Reason.FAILURE, String.valueOf(e), true);
      }
      TTransport pooled = sidecar.idle.pollFirst();
      if (pooled != null) {
        try {
          return exchange(pooled, secret, false);
        } catch (TException e) {
          // The sidecar may have restarted and closed this connection. Retry once, on a new one.
        }
      }
      return exchange(connect(), secret, true);
    }

    private R exchange(TTransport transport, String secret, boolean isNew)
        throws TException, KeepAll {
      use(transport);
      boolean complete = false;
      try {
        TProtocol protocol = Wire.protocol(transport);
        if (isNew && secret != null) {
          connected = true;
          Wire.showSecret(protocol, secret);
        }
        question.write(protocol, 1, secret);
        connected = true;
        R reply = question.read(protocol, 1);
        complete = true;
        return reply;
      } finally {
        if (complete && sidecar.idle.size() < MAX_IDLE) {
          sidecar.idle.addFirst(transport);
        } else {
          transport.close();
        }
      }
    }

    private TTransport connect() throws IOException, TException, GeneralSecurityException {
      connected = false;
      Socket plain = new Socket(Proxy.NO_PROXY);
      use(plain);
      plain.setTcpNoDelay(true);
      plain.connect(new InetSocketAddress(address().host, address().port), settings.timeoutMs);
      // Longer than the deadline, so that Sidecars ends a slow call and reports SIDECAR_SLOW.
      plain.setSoTimeout(settings.timeoutMs + 1000);
      Socket ready = settings.tlsCa.isEmpty() ? plain : encrypt(plain);
      return Wire.framed(new TSocket(ready));
    }

    private Socket encrypt(Socket plain) throws IOException, GeneralSecurityException {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      try (InputStream in = Files.newInputStream(Paths.get(settings.tlsCa))) {
        for (Certificate certificate :
            CertificateFactory.getInstance("X.509").generateCertificates(in)) {
          trusted.setCertificateEntry("ca" + trusted.size(), certificate);
        }
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      SSLSocket socket =
          (SSLSocket)
              context.getSocketFactory().createSocket(plain, address().host, address().port, true);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      return socket;
    }

    /** Sets the connection that {@link #abandon} closes. */
    private synchronized void use(Closeable opened) {
      connection = opened;
      if (abandoned) {
        abandon();
      }
    }

    /** Closes the connection, and any that the call opens later. */
    synchronized void abandon() {
      abandoned = true;
      try {
        if (connection != null) {
          connection.close();
        }
      } catch (IOException e) {
        // The connection is not used again.
      }
    }
  }
}
