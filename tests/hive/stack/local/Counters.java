import com.sun.tools.attach.VirtualMachine;
import java.util.Map;
import java.util.TreeMap;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Prints what the jar counted in a running JVM, by the JVM's process id: {@code java Counters.java
 * 4711}.
 */
public class Counters {
  public static void main(String[] arguments) throws Exception {
    VirtualMachine machine = VirtualMachine.attach(arguments[0]);
    JMXServiceURL address = new JMXServiceURL(machine.startLocalManagementAgent());
    machine.detach();
    try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
      MBeanServerConnection beans = connector.getMBeanServerConnection();
      TabularData counts =
          (TabularData) beans.getAttribute(new ObjectName("io.sargo.hive:type=Counters"), "Counts");
      Map<String, Object> sorted = new TreeMap<>();
      for (Object row : counts.values()) {
        sorted.put((String) ((CompositeData) row).get("key"), ((CompositeData) row).get("value"));
      }
      sorted.forEach((name, count) -> System.out.println(name + "=" + count));
    }
  }
}
