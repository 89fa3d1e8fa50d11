import java.util.*;
import java.util.concurrent.*;
import java.lang.ref.*;

public class Leaky {
    static final Map<String, Session> sessions = new HashMap<>();
    static final List<Object> log = new ArrayList<>();
    static final ConcurrentHashMap<Integer, String> names = new ConcurrentHashMap<>();
    static final ArrayDeque<Order> queue = new ArrayDeque<>();
    static final Set<Order> seen = new HashSet<>();
    static WeakReference<Session> weak;
    static SoftReference<byte[]> soft;
    static final ThreadLocal<byte[]> local = new ThreadLocal<>();
    static int[] ints = {1, 2, 3};
    static long[][] longs = new long[3][4];

    static class Base { long id; byte kind; }
    static class Order extends Base { int amount; String customer; double price; boolean paid; char mark = 'x'; }
    static class Session { final String user; final Order[] orders = new Order[4]; Session next; Session(String u) { user = u; } }

    /** Each line of the input opens 20 more sessions, which nothing closes. */
    public static void main(String[] args) throws Exception {
        open(0, 60);
        weak = new WeakReference<>(new Session("weakly"));
        soft = new SoftReference<>(new byte[1000]);
        Session onStack = new Session("on-stack");
        Thread worker = new Thread(() -> hold(new Session("in-worker")), "worker-1");
        worker.setDaemon(true);
        worker.start();
        Thread.sleep(200);
        System.out.println("ready " + ProcessHandle.current().pid());
        for (int count = 60; System.in.read() >= 0; count += 20) {
            open(count, count + 20);
            System.out.println("opened " + (count + 20));
        }
        System.out.println(onStack.user);
    }

    static void open(int from, int to) {
        for (int i = from; i < to; i++) {
            Session s = new Session("user-" + i);
            for (int j = 0; j < 3; j++) {
                Order o = new Order();
                o.id = i;
                o.amount = j;
                o.customer = s.user;
                s.orders[j] = o;
                queue.add(o);
                seen.add(o);
            }
            sessions.put(s.user, s);
            names.put(i, "name\u4e00-" + i);
            log.add(new int[i % 7]);
        }
        while (queue.size() > 100) queue.remove();
    }

    static void hold(Session s) {
        local.set(new byte[5000]);
        try { Thread.sleep(1000000); } catch (InterruptedException e) { System.out.println(s); }
    }
}
