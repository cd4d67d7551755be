// Prints topics as Java's consumer sees it with read_committed: topic, partition, offset, time, key, value and headers, bytes in Base64.
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class ReadTopic {
  public static void main(String[] args) {
    var config = Map.<String, Object>of("bootstrap.servers", args[0], "isolation.level", "read_committed");
    var out = new StringBuilder();
    try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      var partitions = Stream.of(args).skip(1).flatMap(topic -> consumer.partitionsFor(topic).stream())
          .map(info -> new TopicPartition(info.topic(), info.partition())).toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      var ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition)))
        for (var record : consumer.poll(Duration.ofMillis(500))) {
          out.append(record.topic()).append(' ').append(record.partition()).append(' ').append(record.offset()).append(' ').append(record.timestamp())
              .append(' ').append(text(record.key())).append(' ').append(text(record.value()));
          for (var header : record.headers()) out.append(' ').append(header.key()).append(text(header.value()));
          out.append('\n');
        }
    }
    System.out.print(out);
  }

  static String text(byte[] bytes) {
    return bytes == null ? "-" : "=" + Base64.getEncoder().encodeToString(bytes);
  }
}
