package io.sargo.client;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ServerSocketFactory;
import org.apache.hadoop.conf.Configuration;

/** A TCP server on the loopback address. A {@link Behavior} says what it does with a connection. */
public final class FakeSidecar implements AutoCloseable {
  /** Serves one connection, which is closed when it returns. */
  public interface Behavior {
    void serve(Connection connection) throws Exception;
  }

  private static final Set<Integer> USED_PORTS = ConcurrentHashMap.newKeySet();

  public final AtomicInteger connections = new AtomicInteger();
  public final AtomicInteger requests = new AtomicInteger();

  /** The message of the last request, without the length of its frame. */
  public volatile byte[] lastRequest;

  /** Counted down when a client closes a connection that {@link Connection#awaitClose} watches. */
  public final CountDownLatch closedByClient = new CountDownLatch(1);

  private final ServerSocket server;
  private final Behavior behavior;
  private final Thread acceptor;
  private final Queue<Socket> open = new ConcurrentLinkedQueue<>();

  public FakeSidecar(Behavior behavior) throws IOException {
    this(listen(ServerSocketFactory.getDefault()), behavior);
  }

  public FakeSidecar(ServerSocket server, Behavior behavior) {
    this.server = server;
    this.behavior = behavior;
    acceptor = start(this::accept);
  }

  /**
   * Listens on a port that no earlier test of this JVM used: {@link Sidecar} remembers the failures
   * of an address.
   */
  public static ServerSocket listen(ServerSocketFactory factory) throws IOException {
    while (true) {
      ServerSocket server = factory.createServerSocket(0, 128, InetAddress.getLoopbackAddress());
      if (USED_PORTS.add(server.getLocalPort())) {
        return server;
      }
      server.close();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        open.add(socket);
        connections.incrementAndGet();
        start(() -> serve(socket));
      }
    } catch (IOException e) {
      // The test is over.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      behavior.serve(new Connection(socket));
    } catch (Exception e) {
      // The client closed the connection, which a test sees by its own means.
    }
  }

  private static Thread start(Runnable work) {
    Thread thread = new Thread(work, "fake-sidecar");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  public String address() {
    return "127.0.0.1:" + server.getLocalPort();
  }

  /** Settings that call this server; keys and values in turn, {@code sargo.} left out. */
  public Settings settings(String... keysAndValues) throws IOException {
    return settings(server.getLocalPort(), keysAndValues);
  }

  public static Settings settings(int port, String... keysAndValues) throws IOException {
    return settingsFor("127.0.0.1:" + port, keysAndValues);
  }

  public static Settings settingsFor(String addresses, String... keysAndValues) throws IOException {
    Configuration conf = new Configuration(false);
    conf.set("sargo.sidecar.address", addresses);
    conf.set("sargo.sidecar.timeout.ms", "20000");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      conf.set("sargo." + keysAndValues[i], keysAndValues[i + 1]);
    }
    return new Settings(conf);
  }

  @Override
  public void close() throws IOException {
    stop();
  }

  /** Stops listening and closes every connection. */
  public void stop() throws IOException {
    server.close();
    try {
      acceptor.join(); // until then the socket may accept one more connection
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (Socket socket : open) {
      socket.close();
    }
  }

  /** The server's end of one connection. */
  public final class Connection {
    private final DataInputStream in;
    private final OutputStream out;

    Connection(Socket socket) throws IOException {
      in = new DataInputStream(socket.getInputStream());
      out = socket.getOutputStream();
    }

    /**
     * Reads one request, after a call that shows the secret, and returns how many calls there were.
     */
    int readRequest() throws IOException {
      int calls = readCall();
      while (lastMethod().equals("version")) {
        write(Messages.frame("version.reply"));
        calls = readCall();
      }
      return calls;
    }

    /** Reads one call and returns how many there were on all connections, from 1. */
    int readCall() throws IOException {
      byte[] request = new byte[in.readInt()];
      in.readFully(request);
      lastRequest = request;
      return requests.incrementAndGet();
    }

    /** The method of the last request. */
    String lastMethod() {
      byte[] message = lastRequest;
      return new String(message, 8, message[7], StandardCharsets.US_ASCII);
    }

    void write(byte[] bytes) throws IOException {
      out.write(bytes);
      out.flush();
    }

    /** Waits until the client closes the connection. */
    void awaitClose() throws IOException {
      if (in.read() == -1) {
        closedByClient.countDown();
      }
    }

    /** Writes one byte at a time, without end, until the client closes the connection. */
    void drip() throws InterruptedException {
      try {
        while (true) {
          write(new byte[] {0});
          TimeUnit.MILLISECONDS.sleep(20);
        }
      } catch (IOException e) {
        closedByClient.countDown();
      }
    }
  }

  // ---- behaviors

  /** Answers every request with the same bytes. */
  public static Behavior answering(byte[] bytes) {
    return connection -> {
      while (true) {
        connection.readRequest();
        connection.write(bytes);
      }
    };
  }

  /** Answers request i with bytes i, and every later one with the last bytes. */
  public static Behavior answeringInTurn(byte[]... bytes) {
    return connection -> {
      while (true) {
        int request = connection.readRequest();
        connection.write(bytes[Math.min(request, bytes.length) - 1]);
      }
    };
  }

  /** Answers one request of each connection and closes the connection. */
  public static Behavior answeringOnce(byte[] bytes) {
    return connection -> {
      connection.readRequest();
      connection.write(bytes);
    };
  }

  public static Behavior closing() {
    return Connection::readRequest;
  }

  public static Behavior hanging() {
    return connection -> {
      connection.readRequest();
      connection.awaitClose();
    };
  }

  /** Begins a long reply and never ends it. */
  public static Behavior dripping() {
    return connection -> {
      connection.readRequest();
      connection.write(new byte[] {0, 16, 0, 0});
      connection.drip();
    };
  }
}
