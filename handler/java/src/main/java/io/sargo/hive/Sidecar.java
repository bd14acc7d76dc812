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
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.layered.TFramedTransport;

/**
 * The sidecar at one address: connections that are kept, and a circuit breaker. Answers are not
 * kept: Hive lists nothing twice in a query (a FetchTask lists each partition once), and the
 * sidecar keeps what it worked out for a filter.
 *
 * <p>A question has one deadline for everything (connecting, the TLS handshake, writing, reading):
 * it is asked in a thread of its own, and when the time is over its connection is closed under it.
 * After two failures in a row nobody is asked for a while, then one question at a time until one is
 * answered.
 */
final class Sidecar {
  private static final int MOST_WAITING = 64;
  private static final int MOST_IDLE = 16;
  private static final int FAILURES_TO_OPEN = 2;
  private static final Map<String, Sidecar> KNOWN = new ConcurrentHashMap<>();
  private static final ThreadPoolExecutor ASKERS =
      new ThreadPoolExecutor(
          0,
          MOST_WAITING,
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
  private int failures;
  private long closedUntil;

  static Sidecar at(Settings settings) {
    return KNOWN.computeIfAbsent(settings.address + " " + settings.tlsCa, key -> new Sidecar());
  }

  /** The checked answer to a question; KeepAll says why there is none. */
  Reply ask(Request request, Settings settings) throws KeepAll {
    knock(settings);
    Question question = new Question(request, settings);
    boolean works = false;
    try {
      Reply reply = ASKERS.submit(question::answer).get(settings.timeoutMs, TimeUnit.MILLISECONDS);
      reply.check(request);
      works = true;
      return reply;
    } catch (TimeoutException e) {
      question.abandon();
      throw new KeepAll(KeepAll.Reason.SIDECAR_SLOW, "no answer in " + settings.timeoutMs + " ms");
    } catch (RejectedExecutionException e) {
      throw new KeepAll(
          KeepAll.Reason.SIDECAR_SLOW, MOST_WAITING + " questions wait for an answer");
    } catch (InterruptedException e) {
      question.abandon();
      Thread.currentThread().interrupt();
      throw new KeepAll(KeepAll.Reason.FAILURE, "the query was interrupted");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof KeepAll) {
        works = true; // it refused, which is an answer
        throw (KeepAll) e.getCause();
      }
      throw new KeepAll(
          question.connected ? KeepAll.Reason.WRONG_ANSWER : KeepAll.Reason.SIDECAR_DOWN,
          String.valueOf(e.getCause()));
    } finally {
      learn(works, settings);
    }
  }

  private synchronized void knock(Settings settings) throws KeepAll {
    if (failures >= FAILURES_TO_OPEN) {
      if (System.nanoTime() - closedUntil < 0) {
        throw new KeepAll(
            KeepAll.Reason.BREAKER_OPEN,
            "the sidecar failed " + failures + " times, it is left alone for a while");
      }
      closedUntil =
          System.nanoTime()
              + TimeUnit.MILLISECONDS.toNanos(
                  settings.breakerMs); // this one tries, the others wait
    }
  }

  private synchronized void learn(boolean works, Settings settings) {
    failures = works ? 0 : failures + 1;
    closedUntil = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(settings.breakerMs);
  }

  /** One question on its way. */
  private final class Question {
    private final Request request;
    private final Settings settings;
    private Closeable held;
    private boolean abandoned;
    volatile boolean connected;

    Question(Request request, Settings settings) {
      this.request = request;
      this.settings = settings;
    }

    Reply answer() throws IOException, TException, GeneralSecurityException, KeepAll {
      TTransport kept = idle.pollFirst();
      if (kept != null) {
        try {
          return exchange(kept);
        } catch (TException e) {
          // the sidecar may have been started anew: once more, on a new connection
        }
      }
      return exchange(connect());
    }

    private Reply exchange(TTransport on) throws TException, KeepAll {
      hold(on);
      boolean whole = false;
      try {
        TProtocol protocol = new TBinaryProtocol(on, Settings.LARGEST_FRAME, 10_000, true, true);
        request.write(protocol, 1);
        connected = true;
        Reply reply = Reply.read(protocol, 1);
        whole = true;
        return reply;
      } finally {
        if (whole && idle.size() < MOST_IDLE) {
          idle.addFirst(on);
        } else {
          on.close();
        }
      }
    }

    private TTransport connect() throws IOException, TException, GeneralSecurityException {
      connected = false;
      Socket plain = new Socket(Proxy.NO_PROXY);
      hold(plain);
      plain.setTcpNoDelay(true);
      plain.connect(new InetSocketAddress(settings.host, settings.port), settings.timeoutMs);
      plain.setSoTimeout(
          settings.timeoutMs
              + 1000); // the deadline is kept by ask(), which then says that it was slow
      Socket ready = settings.tlsCa.isEmpty() ? plain : encrypted(plain);
      return new TFramedTransport(new TSocket(ready), Settings.LARGEST_FRAME);
    }

    private Socket encrypted(Socket plain) throws IOException, GeneralSecurityException {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      try (InputStream in = Files.newInputStream(Paths.get(settings.tlsCa))) {
        for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
          trusted.setCertificateEntry("ca" + trusted.size(), one);
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

    private synchronized void hold(Closeable opened) {
      held = opened;
      if (abandoned) {
        abandon();
      }
    }

    /** Closes what the question waits on. */
    synchronized void abandon() {
      abandoned = true;
      try {
        if (held != null) {
          held.close();
        }
      } catch (IOException e) {
        // it is out of use either way
      }
    }
  }
}
