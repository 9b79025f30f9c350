"""Kafka by confluent-kafka (librdkafka)."""
