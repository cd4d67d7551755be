// Prints partition 0 of a topic as Java's consumer sees it with read_committed: offset, time, key and value in Base64.
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class ReadTopic {
  public static void main(String[] args) {
    var config = Map.<String, Object>of("bootstrap.servers", args[0], "isolation.level", "read_committed");
    var out = new StringBuilder();
    try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      var partition = new TopicPartition(args[1], 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long end = consumer.endOffsets(List.of(partition)).get(partition);
      while (consumer.position(partition) < end)
        for (var record : consumer.poll(Duration.ofMillis(500)))
          out.append(record.offset()).append(' ').append(record.timestamp()).append(' ').append(text(record.key())).append(' ')
              .append(text(record.value())).append('\n');
    }
    System.out.print(out);
  }

  static String text(byte[] bytes) {
    return bytes == null ? "-" : "=" + Base64.getEncoder().encodeToString(bytes);
  }
}
