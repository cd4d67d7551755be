// Writes every kind of record that is hard to take to partition 0 of a topic, with the Java client, among good ones.
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class WritePoison {
  static String brokers, topic;

  public static void main(String[] args) throws Exception {
    brokers = args[0];
    topic = args[1];
    int good = Integer.parseInt(args[2]);
    try (var plain = producer("none", null)) {
      for (int n = 0; n < good / 2; n++) send(plain, "good-" + n, json("good", n), List.of(), null);
      send(plain, "tombstone", null, List.of(new RecordHeader("h", bytes("1"))), null);
      send(plain, null, json("null-key", 0), List.of(), null);
      send(plain, "empty", new byte[0], List.of(), null);
      send(plain, "binary", new byte[] {(byte) 0xff, 0, 1, (byte) 0xfe, 0x7b}, List.of(), null);
      send(plain, "headers", json("headers", 0), List.of(new RecordHeader("b", bytes("2")), new RecordHeader("none", null),
          new RecordHeader("b", bytes("1")), new RecordHeader("empty", new byte[0])), null);
      send(plain, "grows", bytes("\"".repeat(700_000)), List.of(), null);
      send(plain, "near", large(1_048_200), List.of(), null);
      send(plain, "above", large(1_500_000), List.of(), null);
      send(plain, "far-above", large(2_500_000), List.of(), null);
      send(plain, "future", json("future", 0), List.of(), System.currentTimeMillis() + 864_000_000L);
      plain.flush();
    }
    for (String codec : new String[] {"gzip", "snappy", "lz4", "zstd"})
      try (var packed = producer(codec, null)) {
        for (int n = 0; n < 200; n++) send(packed, codec + "-" + n, json(codec, n), List.of(), null);
      }
    try (var one = producer("none", topic + "-one"); var two = producer("lz4", topic + "-two"); var three = producer("none", topic + "-three")) {
      one.initTransactions();
      two.initTransactions();
      three.initTransactions();
      for (int round = 0; round < 5; round++) {
        one.beginTransaction();
        two.beginTransaction();
        three.beginTransaction();
        for (int n = 0; n < 6; n++) {
          send(one, "aborted-one-" + round, json("aborted", n), List.of(), null);
          send(two, "committed-" + (round * 6 + n), json("committed", n), List.of(), null);
          // a data key that looks like an abort marker
          three.send(new ProducerRecord<>(topic, 0, new byte[4], json("aborted", n))).get();
          one.flush();
          two.flush();
        }
        three.abortTransaction();
        one.abortTransaction();
        two.commitTransaction();
      }
    }
    try (var plain = producer("none", null)) {
      for (int n = good / 2; n < good; n++) send(plain, "good-" + n, json("good", n), List.of(), null);
    }
  }

  static KafkaProducer<byte[], byte[]> producer(String codec, String transactionalId) {
    var config = new java.util.HashMap<String, Object>(Map.of("bootstrap.servers", brokers, "compression.type", codec, "linger.ms", "20",
        "max.request.size", "4000000", "acks", "all"));
    if (transactionalId != null) config.put("transactional.id", transactionalId);
    return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
  }

  static void send(KafkaProducer<byte[], byte[]> producer, String key, byte[] value, List<? extends Header> headers, Long time) {
    producer.send(new ProducerRecord<>(topic, 0, time, key == null ? null : bytes(key), value, new ArrayList<Header>(headers)));
  }

  static byte[] json(String kind, int n) {
    return bytes("{\"kind\":\"" + kind + "\",\"n\":" + n + ",\"text\":\"" + "from 192.0.2.1 to 198.51.100.7 ".repeat(6) + "\"}");
  }

  static byte[] large(int size) {
    return bytes("{\"kind\":\"large\",\"pad\":\"" + "x".repeat(size - 26) + "\"}");
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
