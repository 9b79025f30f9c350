"""Apache Kafka: topics as sources, for predictions, and for dead letters.

Two clients stand behind one protocol (`client.py`): kafka-python, in Python, and confluent-kafka, over librdkafka.
"""

from connectors.kafka.sink import KafkaSink
from connectors.kafka.source import KafkaSource

__all__ = ["KafkaSink", "KafkaSource"]
