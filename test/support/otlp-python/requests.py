# Reads and writes OpenTelemetry requests with the classes that OpenTelemetry generates for Python: one line of JSON in, one out.
import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData


def encode(logs):
    return base64.b64encode(ParseDict(logs, ExportLogsServiceRequest()).SerializeToString()).decode()


def compare(line):
    given = ExportLogsServiceRequest.FromString(base64.b64decode(line["given"]))
    written = ExportLogsServiceRequest.FromString(base64.b64decode(line["written"]))
    as_json = ParseDict(line["json"], ExportLogsServiceRequest())
    data = LogsData.FromString(base64.b64decode(line["written"]))
    same_as_json = written == as_json
    annotated = 0
    records = 0
    for resource in written.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                records += 1
                kept = [one for one in record.attributes if not one.key.startswith("threatweave.")]
                annotated += any(one.key == "threatweave.verdict" for one in record.attributes)
                del record.attributes[:]
                record.attributes.extend(kept)
    return {
        "sameAsJson": same_as_json,
        "sameWithoutAnnotation": written.SerializeToString(deterministic=True) == given.SerializeToString(deterministic=True),
        "isLogsData": len(data.resource_logs) == len(given.resource_logs),
        "records": records,
        "annotated": annotated,
    }


for line in sys.stdin:
    value = json.loads(line)
    print(json.dumps(compare(value) if "given" in value else encode(value)))
