import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sessions that log in and out, over HTTP: `/login?ann`, `/logout?ann`. */
public class Server {
  /** Hears of prices. */
  interface Listener {
    void priceChanged(int price);
  }

  /** What a user sees. */
  static class Session implements Listener {
    final String user;
    final List<Integer> prices = new ArrayList<>();

    Session(String user) {
      this.user = user;
    }

    @Override
    public void priceChanged(int price) {
      prices.add(price);
    }
  }

  /** Prices, and who hears of them. */
  static class PriceFeed {
    final List<Listener> listeners = new ArrayList<>();

    void publish(int price) {
      for (Listener listener : listeners) listener.priceChanged(price);
    }
  }

  static final PriceFeed feed = new PriceFeed();
  static final Map<String, Session> sessions = new HashMap<>();
  /** The mended program has one line more. */
  static final boolean MENDED = Boolean.getBoolean("mended");

  static synchronized String login(String user) {
    Session session = new Session(user);
    sessions.put(user, session);
    feed.listeners.add(session);
    feed.publish(sessions.size());
    return "hello " + user;
  }

  static synchronized String logout(String user) {
    Session session = sessions.remove(user);
    if (MENDED) feed.listeners.remove(session);
    return session == null ? "unknown" : "bye " + user;
  }

  public static void main(String[] args) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext("/", exchange -> {
      String user = exchange.getRequestURI().getQuery();
      boolean isLogin = exchange.getRequestURI().getPath().equals("/login");
      byte[] answer = (isLogin ? login(user) : logout(user)).getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
    System.out.println(ProcessHandle.current().pid() + " " + server.getAddress().getPort());
  }
}
