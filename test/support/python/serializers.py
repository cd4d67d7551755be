"""Writes events with Confluent's serializers of Avro and Protobuf, and reads them again as their users do.

    serializers.py write BROKER REGISTRY AVRO_TOPIC PROTOBUF_TOPIC JSON_TOPIC   events as JSON lines on standard input
    serializers.py read  BROKER REGISTRY TOPIC avro|protobuf|json COUNT         one JSON object a line: key, value, hex
"""
import json
import sys

from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

AVRO = json.dumps({
    "type": "record", "name": "Flow", "namespace": "com.example", "fields": [
        {"name": "src_ip", "type": "string"},
        {"name": "dst", "type": ["null", {"type": "record", "name": "Host", "fields": [{"name": "ip", "type": "string"}]}]},
        {"name": "labels", "type": {"type": "map", "values": "string"}},
        {"name": "action", "type": {"type": "enum", "name": "Action", "symbols": ["allowed", "blocked"]}},
        {"name": "n", "type": "long"},
    ],
})
JSON = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": "Flow", "type": "object"})


def flow_class():
    """The messages of a .proto file, without a compiler: one before it, so that its index is not 0, and one inside it."""
    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="flow.proto", package="com.example", syntax="proto3")
    file.message_type.add(name="Unused").field.add(name="x", number=1, type=kind.TYPE_STRING, label=1)
    flow = file.message_type.add(name="Flow")
    entry = flow.nested_type.add(name="LabelsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=kind.TYPE_STRING, label=1)
    entry.field.add(name="value", number=2, type=kind.TYPE_STRING, label=1)
    flow.nested_type.add(name="Host").field.add(name="ip", number=1, type=kind.TYPE_STRING, label=1)
    action = flow.enum_type.add(name="Action")
    for number, name in enumerate(["unset", "allowed", "blocked"]):
        action.value.add(name=name, number=number)
    flow.field.add(name="src_ip", number=1, type=kind.TYPE_STRING, label=1)
    flow.field.add(name="dst", number=2, type=kind.TYPE_MESSAGE, label=1, type_name=".com.example.Flow.Host")
    flow.field.add(name="labels", number=3, type=kind.TYPE_MESSAGE, label=3, type_name=".com.example.Flow.LabelsEntry")
    flow.field.add(name="action", number=4, type=kind.TYPE_ENUM, label=1, type_name=".com.example.Flow.Action")
    flow.field.add(name="n", number=5, type=kind.TYPE_INT64, label=1)
    pool = descriptor_pool.Default()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("com.example.Flow"))


def write(broker, registry, avro_topic, protobuf_topic, json_topic):
    client = SchemaRegistryClient({"url": registry})
    flow = flow_class()
    forms = {
        avro_topic: (AvroSerializer(client, AVRO), lambda event: event),
        protobuf_topic: (
            ProtobufSerializer(flow, client, {"use.deprecated.format": False}),
            lambda event: json_format.ParseDict(event, flow()),
        ),
        json_topic: (JSONSerializer(JSON, client), lambda event: event),
    }
    producer = Producer({"bootstrap.servers": broker})
    for nth, line in enumerate(sys.stdin):
        event = json.loads(line)
        for topic, (serialize, form) in forms.items():
            value = serialize(form(event), SerializationContext(topic, MessageField.VALUE))
            producer.produce(topic, key=str(nth), value=value, partition=0)
    producer.flush()


def read(broker, registry, topic, form, count):
    client = SchemaRegistryClient({"url": registry})
    deserialize = {
        "avro": lambda: AvroDeserializer(client),
        "protobuf": lambda: ProtobufDeserializer(flow_class(), {"use.deprecated.format": False}, client),
        "json": lambda: JSONDeserializer(JSON),
    }[form]()
    consumer = Consumer({"bootstrap.servers": broker, "group.id": f"{topic}-python", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    seen = 0
    while seen < int(count):
        message = consumer.poll(1.0)
        if message is None or message.error():
            continue
        value = deserialize(message.value(), SerializationContext(topic, MessageField.VALUE))
        if form == "protobuf":
            value = json_format.MessageToDict(value, preserving_proto_field_name=True)
        print(json.dumps({"key": message.key().decode(), "value": value, "hex": message.value().hex()}), flush=True)
        seen += 1
    consumer.close()


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
