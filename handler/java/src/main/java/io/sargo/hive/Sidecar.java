package io.sargo.hive;

import io.sargo.hive.Wire.Reply;
import io.sargo.hive.Wire.Request;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;

/**
 * A client of the sidecar at one address: pooled connections and a circuit breaker.
 *
 * <p><b>Deadline.</b> A call runs on a thread of its own. One deadline covers connecting, the TLS
 * handshake, writing and reading. When it passes, the connection is closed and the thread ends.
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
  private static final int MAX_CALLS = 64;
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

  private final ConcurrentLinkedDeque<TTransport> idle = new ConcurrentLinkedDeque<>();
  private int consecutiveFailures;
  private long openUntil;

  static Sidecar at(Settings settings) {
    return BY_ADDRESS.computeIfAbsent(
        settings.address + " " + settings.tlsCa, key -> new Sidecar());
  }

  /** The reply to a request, after its checks. Throws KeepAll with the reason if there is none. */
  Reply ask(Request request, Settings settings) throws KeepAll {
    checkBreaker(settings);
    Call call = new Call(request, settings);
    boolean answered = false;
    try {
      Reply reply = THREADS.submit(call::run).get(settings.timeoutMs, TimeUnit.MILLISECONDS);
      reply.check(request);
      answered = true;
      return reply;
    } catch (TimeoutException e) {
      call.abandon();
      throw new KeepAll(KeepAll.Reason.SIDECAR_SLOW, "no answer in " + settings.timeoutMs + " ms");
    } catch (RejectedExecutionException e) {
      throw new KeepAll(KeepAll.Reason.SIDECAR_SLOW, MAX_CALLS + " calls are under way");
    } catch (InterruptedException e) {
      call.abandon();
      Thread.currentThread().interrupt();
      throw new KeepAll(KeepAll.Reason.FAILURE, "the query was interrupted");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof KeepAll) {
        answered = true; // a refusal is an answer
        throw (KeepAll) e.getCause();
      }
      throw new KeepAll(
          call.connected ? KeepAll.Reason.WRONG_ANSWER : KeepAll.Reason.SIDECAR_DOWN,
          String.valueOf(e.getCause()));
    } finally {
      recordResult(answered, settings);
    }
  }

  /** Throws KeepAll while the breaker is open. */
  private synchronized void checkBreaker(Settings settings) throws KeepAll {
    if (consecutiveFailures >= FAILURES_TO_OPEN) {
      if (System.nanoTime() - openUntil < 0) {
        throw new KeepAll(
            KeepAll.Reason.BREAKER_OPEN,
            "the sidecar failed "
                + consecutiveFailures
                + " times in a row and is not called for a while");
      }
      // Half open: this call passes, the others are rejected until it ends.
      openUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.breakerMs);
    }
  }

  /** Closes the breaker after an answer. Counts a failure, and starts a new pause. */
  private synchronized void recordResult(boolean answered, Settings settings) {
    consecutiveFailures = answered ? 0 : consecutiveFailures + 1;
    openUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.breakerMs);
  }

  /** One call: its request, its connection, and whether the caller has given it up. */
  private final class Call {
    private final Request request;
    private final Settings settings;
    private Closeable connection;
    private boolean abandoned;
    volatile boolean connected;

    Call(Request request, Settings settings) {
      this.request = request;
      this.settings = settings;
    }

    Reply run() throws IOException, TException, GeneralSecurityException, KeepAll {
      TTransport pooled = idle.pollFirst();
      if (pooled != null) {
        try {
          return exchange(pooled, false);
        } catch (TException e) {
          // The sidecar may have restarted and closed this connection. Retry once, on a new one.
        }
      }
      return exchange(connect(), true);
    }

    private Reply exchange(TTransport transport, boolean isNew) throws TException, KeepAll {
      use(transport);
      boolean complete = false;
      try {
        TProtocol protocol = Wire.protocol(transport);
        if (isNew && request.secret != null) {
          connected = true;
          Wire.showSecret(protocol, request.secret);
        }
        request.write(protocol, 1);
        connected = true;
        Reply reply = Reply.read(protocol, 1);
        complete = true;
        return reply;
      } finally {
        if (complete && idle.size() < MAX_IDLE) {
          idle.addFirst(transport);
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
      plain.connect(new InetSocketAddress(settings.host, settings.port), settings.timeoutMs);
      // Longer than the deadline, so that ask() ends a slow call and reports it as SIDECAR_SLOW.
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
              context.getSocketFactory().createSocket(plain, settings.host, settings.port, true);
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
