// Starts an OpenSearch node in this process and says where it listens.
import java.util.List;
import java.util.Map;
import org.opensearch.common.settings.Settings;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node in the given folder, on a port of its choice, until standard input ends. */
public class SearchNode extends Node {
  SearchNode(Settings settings) {
    super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "test"), List.of(Netty4Plugin.class), true);
  }

  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.builder()
        .put("path.home", arguments[0])
        .put("network.host", "127.0.0.1")
        .put("http.port", 0)
        .put("transport.port", 0)
        .put("discovery.type", "single-node")
        .put("cluster.routing.allocation.disk.threshold_enabled", false)
        .build();
    Node node = new SearchNode(settings).start();
    int port = node.injector().getInstance(HttpServerTransport.class).boundAddress().publishAddress().getPort();
    System.out.println("READY " + port);
    while (System.in.read() >= 0) {}
    // Everything is in a folder that is thrown away.
    Runtime.getRuntime().halt(0);
  }
}
